import ODataModel

extension Translator {
    /// The kinds of objects on which operations are called.
    private enum Receiver: CaseIterable {
        case service, entity, entities, value, values

        /// The argument with which the generated method creates the call.
        var argument: String { self == .service ? "odataService" : "on: self" }

        /// Creates the receiver for a binding type, or `nil` if the typed layer has no request for it.
        init?(_ type: TypeReference) {
            switch type.element {
            case .entity(nil), .complex(nil), .untyped, .collection, .primitive(.stream): return nil
            case .entity: self = type.isCollection ? .entities : .entity
            default: self = type.isCollection ? .values : .value
            }
        }

        /// The library type that is extended, and the name of its generic parameter.
        var request: (type: String, parameter: String) {
            switch self {
            case .service: ("", "")
            case .entity: ("EntityRequest", "Element")
            case .entities: ("TypedCollection", "Element")
            case .value: ("ValueRequest", "Value")
            case .values: ("ValueCollectionRequest", "Member")
            }
        }
    }

    /// Returns extensions of a type's requests with the operations bound to it.
    mutating func operations(boundTo type: StructuredType) -> [SwiftDeclaration] {
        let binding = type.kind == .entity ? TypeReference.entity(type.name) : .complex(type.name)
        let names = names
        return extensions(operationsByBinding[binding] ?? []) { names.constraint(type.name, on: $0) }
    }

    /// Returns extensions of requests with the operations bound to unstructured values.
    mutating func operationsBoundToValues() -> [SwiftDeclaration] {
        // Type definitions have the Swift type of their underlying type, and share its requests.
        var byType: [String: [ODataOperation]] = [:]
        for (type, operations) in operationsByBinding {
            switch type {
            case .entity, .complex: continue
            default: byType[swiftType(type), default: []] += operations
            }
        }
        return byType.sorted { $0.key < $1.key }.flatMap { type, operations in
            let sorted = operations.sorted { ($0.name.description, "\($0)") < ($1.name.description, "\($1)") }
            return extensions(sorted) { "\($0) == \(type)" }
        }
    }

    private mutating func extensions(
        _ bound: [ODataOperation], _ constraint: (_ parameter: String) -> String
    ) -> [SwiftDeclaration] {
        var result: [SwiftDeclaration] = []
        for receiver in Receiver.allCases where receiver != .service {
            var signatures: Set<String> = []
            var members: [SwiftDeclaration] = []
            for operation in bound where operation.parameters.first.flatMap({ Receiver($0.type) }) == receiver {
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
            let request = receiver.request
            result.append(
                .type(
                    SwiftType(
                        kind: .extension, name: request.type, constraint: constraint(request.parameter),
                        members: members)))
        }
        return result
    }

    /// Returns the generated bound operations by the element type of their binding parameter.
    func bindings() -> [TypeReference: [ODataOperation]] {
        var found: [TypeReference: [ODataOperation]] = [:]
        for name in operationNames {
            for operation in subset.overloads(of: name) where operation.isBound {
                guard let type = operation.parameters.first?.type, Receiver(type) != nil else { continue }
                found[type.element, default: []].append(operation)
            }
        }
        return found
    }

    /// Records the operations that no request of the typed layer can call.
    mutating func omitOperations() {
        guard configuration.operations == .all else { return }
        for name in operationNames {
            for operation in model.operations(name) where operation.isBound {
                guard let type = operation.parameters.first?.type else {
                    subset.omit(name.description, "it is bound, but has no parameter for that")
                    continue
                }
                if Receiver(type) == nil { subset.omit(name.description, "it is bound to \(type)") }
            }
        }
    }

    /// Returns the methods of the service for its action and function imports.
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
                // Sets are properties of the service and take precedence.
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
        _ operation: ODataOperation, path: String, name: String, _ receiver: Receiver
    ) -> SwiftFunction? {
        let types = operation.parameters.map(\.type) + (operation.returnType.map { [$0] } ?? [])
        guard types.allSatisfy({ subset.contains($0) }) else {
            subset.omit(operation.name.description, "a type that it needs is not among those wanted")
            return nil
        }
        // A stream may be a result, but not a parameter or a member of a collection (OData CSDL 4.01, 4.4).
        guard types.allSatisfy({ $0.element != .primitive(.stream) || $0 == operation.returnType && !$0.isCollection })
        else {
            subset.omit(operation.name.description, "it has a stream where none can be")
            return nil
        }
        let kind = operation.kind == .action ? ".action" : ".function"
        var body = ["var odataCall = OperationCall(\(receiver.argument), \(Self.literal(path)), \(kind))"]
        var parameters: [SwiftFunction.Parameter] = []
        let swiftNames = names.parameters(operation)
        for (index, parameter) in operation.parameters.enumerated() {
            if operation.isBound, index == 0 { continue }
            let isOptional = parameter.mayBeLeftOut
            let hasNullMembers = hasNullMembers(parameter.type, parameter.isNullable, facets: parameter.facets)
            var type = swiftType(parameter.type.element)
            // Without a separate setter, an array of bytes would be a binary value.
            let hasMembers = hasNullMembers || parameter.type.isCollection && type == "UInt8"
            if parameter.type.isCollection { type = "[\(type)\(hasNullMembers ? "?" : "")]" }
            if isOptional || parameter.isNullable && !parameter.type.isCollection { type += "?" }
            parameters.append(.init(name: swiftNames[index], type: type, defaultValue: isOptional ? "nil" : nil))
            let setter = "set\(isOptional ? "Optional" : "")\(hasMembers ? "Members" : "")"
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

    /// Returns the result type of a method, its effects and the statement that returns the result.
    private func result(_ operation: ODataOperation) -> (type: String?, effects: String?, statement: String) {
        guard let type = operation.returnType else { return (nil, "async throws", "try await odataCall.run()") }
        let isFunction = operation.kind == .function
        let element = swiftType(type.element)
        if case .entity(_?) = type.element {
            switch (isFunction, type.isCollection) {
            case (true, true): return ("TypedCollection<\(element)>", nil, "return odataCall.collection()")
            case (true, false): return ("EntityRequest<\(element)>", nil, "return odataCall.one()")
            case (false, true): return ("[\(element)]", "async throws", "return try await odataCall.entities()")
            case (false, false): return ("\(element)?", "async throws", "return try await odataCall.entity()")
            }
        }
        if type == .primitive(.stream) {
            return ("(ByteStream, contentType: String)?", "async throws", "return try await odataCall.stream()")
        }
        guard type.isCollection else {
            return ("\(element)?", "async throws", "return try await odataCall.value()")
        }
        return hasNullMembers(type, operation.isReturnNullable, facets: operation.returnFacets)
            ? ("[\(element)?]", "async throws", "return try await odataCall.members()")
            : ("[\(element)]", "async throws", "return try await odataCall.values()")
    }

    /// Returns whether the members of a collection may be null. If the document does not say so, null is not
    /// expected; V2 and V3 cannot state it.
    private func hasNullMembers(_ type: TypeReference, _ isNullable: Bool, facets: Facets) -> Bool {
        type.isCollection && isNullable && !facets.isNullabilityUnstated && model.version >= .v4
    }
}
