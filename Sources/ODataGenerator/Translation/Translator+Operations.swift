import ODataModel

extension Translator {
    /// What an operation is called on.
    private enum Receiver {
        case service, entity, collection

        /// How the generated method makes the call.
        var argument: String { self == .service ? "odataService" : "on: self" }
    }

    /// Extensions of the requests of a type with the operations bound to it.
    mutating func operations(boundTo type: StructuredType) -> [SwiftDeclaration] {
        guard type.kind == .entity else { return [] }
        let bound = boundOperations(of: type.name)
        var result: [SwiftDeclaration] = []
        for receiver in [Receiver.entity, .collection] {
            var signatures: Set<String> = []
            var members: [SwiftDeclaration] = []
            for operation in bound where Self.isCollection(operation) == (receiver == .collection) {
                guard
                    let method = method(
                        operation, path: operation.name.description, name: operation.name.name, receiver)
                else { continue }
                guard signatures.insert(method.signature).inserted else {
                    subset.omit("\(operation.name)", "another overload looks the same in Swift")
                    continue
                }
                members.append(.function(method))
            }
            guard !members.isEmpty else { continue }
            result.append(
                .type(
                    SwiftType(
                        kind: .extension, name: receiver == .entity ? "EntityRequest" : "EntityCollection",
                        constraint: constraint(type.name), members: members)))
        }
        return result
    }

    private static func isCollection(_ operation: Operation) -> Bool {
        operation.parameters.first?.type.isCollection == true
    }

    private func boundOperations(of type: QualifiedName) -> [Operation] {
        var found: [Operation] = []
        for name in operationNames {
            for operation in subset.overloads(of: name) where operation.isBound {
                if case .entity(type)? = operation.parameters.first?.type.element { found.append(operation) }
            }
        }
        return found
    }

    /// Notes the operations that no request of the typed layer calls.
    mutating func omitOperations() {
        guard configuration.operations == .all else { return }
        for name in operationNames {
            for operation in model.operations(name) where operation.isBound {
                if case .entity(_?)? = operation.parameters.first?.type.element { continue }
                subset.omit(name.description, "it is bound to something that is no entity")
            }
        }
    }

    /// The methods of the service for its action and function imports.
    mutating func importMethods() -> [SwiftDeclaration] {
        var signatures: Set<String> = []
        var members: [SwiftDeclaration] = []
        let imports = model.container.operationImports.filter { subset.isWanted($0.name) }
        for operationImport in imports.sorted(by: { $0.name < $1.name }) {
            for operation in subset.overloads(of: operationImport.operation) where !operation.isBound {
                guard var method = method(operation, path: operationImport.name, name: operationImport.name, .service)
                else { continue }
                let override = configuration.names["\(model.container.name)/\(operationImport.name)"]
                if let override { method.name = override }
                // Sets are properties of the service.
                if setNames.contains(method.name ?? "") { method.name = (method.name ?? "") + "_" }
                guard signatures.insert(method.signature).inserted else {
                    subset.omit(operationImport.name, "another overload looks the same in Swift")
                    continue
                }
                members.append(.function(method))
            }
        }
        return members
    }

    private var setNames: Set<String> {
        Set((model.container.entitySets.map(\.name) + model.container.singletons.map(\.name)).map(names.set))
    }

    // MARK: Methods

    private mutating func method(
        _ operation: Operation, path: String, name: String, _ receiver: Receiver
    ) -> SwiftFunction? {
        let types = operation.parameters.map(\.type) + (operation.returnType.map { [$0] } ?? [])
        guard types.allSatisfy({ subset.contains($0) }) else {
            subset.omit(operation.name.description, "a type that it needs is not among those wanted")
            return nil
        }
        let kind = operation.kind == .action ? ".action" : ".function"
        var body = ["var odataCall = OperationCall(\(receiver.argument), \(Self.literal(path)), \(kind))"]
        var parameters: [SwiftFunction.Parameter] = []
        let swiftNames = names.parameters(operation)
        for (index, parameter) in operation.parameters.enumerated() {
            if operation.isBound, index == 0 { continue }
            let isOptional = parameter.annotation("Org.OData.Core.V1.OptionalParameter") != nil
            let element = swiftType(parameter.type.element)
            let hasNullMembers =
                parameter.type.isCollection && parameter.isNullable && !parameter.facets.isNullabilityUnstated
            var type = parameter.type.isCollection ? "[\(element)\(hasNullMembers ? "?" : "")]" : element
            if isOptional || parameter.isNullable && !parameter.type.isCollection { type += "?" }
            parameters.append(.init(name: swiftNames[index], type: type, defaultValue: isOptional ? "nil" : nil))
            let setter = hasNullMembers && !isOptional ? "setMembers" : isOptional ? "setOptional" : "set"
            guard !(hasNullMembers && isOptional) else {
                subset.omit("\(operation.name)/\(parameter.name)", "it may be left out, and its members may be null")
                parameters.removeLast()
                continue
            }
            body.append(
                "odataCall.\(setter)(\(Self.literal(parameter.name)), \(SwiftName.quoted(swiftNames[index])))")
        }
        if body.count == 1 { body[0] = "let" + body[0].dropFirst(3) }
        let result = result(operation)
        body.append(result.statement)
        return SwiftFunction(
            documentation: Self.documentation(operation, "\(Self.code(operation.name))."),
            name: names.operation(name, operation.name), parameters: parameters, effects: result.effects,
            returns: result.type, body: body)
    }

    /// What a method gives back, and how it gets it.
    private func result(_ operation: Operation) -> (type: String?, effects: String?, statement: String) {
        guard let type = operation.returnType else { return (nil, "async throws", "try await odataCall.run()") }
        let isFunction = operation.kind == .function
        let element = swiftType(type.element)
        if case .entity(_?) = type.element {
            switch (isFunction, type.isCollection) {
            case (true, true): return ("EntityCollection<\(element)>", nil, "return odataCall.collection()")
            case (true, false): return ("EntityRequest<\(element)>", nil, "return odataCall.one()")
            case (false, true): return ("[\(element)]", "async throws", "return try await odataCall.entities()")
            case (false, false): return ("\(element)?", "async throws", "return try await odataCall.entity()")
            }
        }
        return type.isCollection
            ? ("[\(element)]", "async throws", "return try await odataCall.values()")
            : ("\(element)?", "async throws", "return try await odataCall.value()")
    }
}
