import ODataModel

/// The translation of actions into operations of business objects.
extension Translator {
    /// Returns the operations of an entity type, nested in its structure.
    mutating func operations(of type: StructuredType) -> [SwiftDeclaration] {
        let bound = (operationsByBinding[.entity(type.name)] ?? []).filter { operation in
            operation.kind == .action && operation.parameters.first?.type == .entity(type.name)
        }
        var scope = NameScope(reserved: names.typeNames)
        return bound.compactMap { operation in
            guard PackageModel.role(of: operation).kind == .other else { return nil }
            return self.operation(operation, of: type, importName: nil, in: &scope)
        }
    }

    /// Returns the operations that are bound to no object, nested in the package.
    mutating func unboundOperations() -> [SwiftDeclaration] {
        var scope = NameScope(reserved: names.typeNames.union(["Personalization"]))
        var result: [SwiftDeclaration] = []
        let imports = model.container.operationImports.filter { subset.isWanted($0.name) && $0.kind == .action }
        for operationImport in imports.sorted(by: { $0.name < $1.name }) {
            for operation in subset.overloads(of: operationImport.operation) where !operation.isBound {
                guard PackageModel.role(of: operation).kind == .other else { continue }
                if let declaration = self.operation(operation, of: nil, importName: operationImport.name, in: &scope) {
                    result.append(declaration)
                }
            }
        }
        return result
    }

    private mutating func operation(
        _ operation: ODataOperation, of type: StructuredType?, importName: String?, in scope: inout NameScope
    ) -> SwiftDeclaration? {
        let parameters = Array(operation.parameters.dropFirst(operation.isBound ? 1 : 0))
        guard parameters.allSatisfy(isUsable) else {
            subset.omit(operation.name.description, "a type that it needs cannot be a parameter")
            return nil
        }
        let swiftNames = Array(names.parameters(operation).dropFirst(operation.isBound ? 1 : 0))
        var own = NameScope(reserved: ["importName", "operationName", "target", "write"])
        var fields: [SwiftDeclaration] = []
        var arguments: [SwiftFunction.Parameter] = []
        var assignments: [String] = []
        var writes: [String] = []
        if let type {
            arguments.append(.init(label: "of", name: own.name("object"), type: names.type(type.name)))
            assignments.append("target = ObjectReference(object)")
        }
        for (parameter, swiftName) in zip(parameters, swiftNames) {
            let name = own.name(swiftName)
            let code = self.code(of: parameter)
            fields.append(
                .property(
                    SwiftProperty(
                        documentation: Self.documentation(parameter, "\(Self.facts(parameter))."), name: name,
                        type: code.type, body: .variable)))
            arguments.append(.init(name: name, type: code.type, defaultValue: code.defaultValue))
            assignments.append("self.\(name) = \(SwiftName.quoted(name))")
            writes.append("parameters.\(code.setter)(\(Self.literal(parameter.name)), self.\(name))")
        }
        let override = configuration.names[operation.name.description]
        let wanted = override ?? SwiftName.type(operation.name.name)
        let reserved = ReservedNames.swiftTypes.union(ReservedNames.libraryTypes).union(ReservedNames.nestedTypes)
            .union(ReservedNames.objectLibraryTypes)
        let name = scope.name(wanted, "\(wanted)Operation", reserved: reserved)
        var members: [SwiftDeclaration] = [
            .alias(documentation: [], name: "Package", type: names.package),
            .property(
                SwiftProperty(
                    isStatic: true, name: "operationName", type: "QualifiedName",
                    body: .constant(Self.literal(operation.name)))),
        ]
        if let importName {
            members.append(
                .property(
                    SwiftProperty(
                        isStatic: true, name: "importName", type: "String", body: .constant(Self.literal(importName)))))
        }
        members.append(
            .property(
                SwiftProperty(
                    name: "target", type: "ObjectReference?", body: type == nil ? .computed("nil") : .variable)))
        members += fields
        members.append(.function(SwiftFunction(parameters: arguments, body: assignments)))
        members.append(
            .function(
                SwiftFunction(
                    name: "write",
                    parameters: [.init(label: "to", name: "parameters", type: "inout OperationParameters")],
                    body: writes)))
        let receiver = type == nil ? "an operation of the service" : "an operation of an object"
        return .type(
            SwiftType(
                kind: .struct,
                documentation: Self.documentation(operation, "\(Self.code(operation.name)): \(receiver)."), name: name,
                inherits: ["ObjectOperation"], members: members))
    }

    // MARK: Parameters

    /// The code of a parameter.
    private struct ParameterCode {
        var type: String
        /// The method of `OperationParameters` that sets the value.
        var setter: String
        var defaultValue: String?
    }

    private func code(of parameter: ODataOperation.Parameter) -> ParameterCode {
        let isOptional = parameter.mayBeLeftOut
        var swift = swiftType(parameter.type.element)
        let hasNulls =
            parameter.type.isCollection && parameter.isNullable && !parameter.facets.isNullabilityUnstated
            && model.version >= .v4
        // Without a separate setter, an array of bytes would be a binary value.
        let hasMembers = hasNulls || parameter.type.isCollection && swift == "UInt8"
        if parameter.type.isCollection { swift = "[\(swift)\(hasNulls ? "?" : "")]" }
        if isOptional || parameter.isNullable && !parameter.type.isCollection { swift += "?" }
        return ParameterCode(
            type: swift, setter: "set\(isOptional ? "Optional" : "")\(hasMembers ? "Members" : "")",
            defaultValue: isOptional ? "nil" : nil)
    }

    private static func facts(_ parameter: ODataOperation.Parameter) -> String {
        "\(code(parameter.name)), \(parameter.type)\(parameter.isNullable ? "" : ", not null")"
    }

    private func isUsable(_ parameter: ODataOperation.Parameter) -> Bool {
        subset.contains(parameter.type) && parameter.type.element != .primitive(.stream)
    }

    // MARK: Roles

    /// The actions with a role for a type, as far as the code is generated for them.
    func roleActions(
        _ kind: PackageModel.Role.Kind, of type: QualifiedName, in package: PackageModel
    ) -> [PackageModel.RoleAction] {
        package.roleActions(kind, of: type).filter { action in
            subset.overloads(of: action.operation.name).contains(action.operation)
                && (action.binding != .none || subset.isWanted(action.urlName))
        }
    }

    /// Returns the verbs of the database for a type whose actions have parameters of their own. Of several actions with
    /// one role, each has a verb with its name.
    mutating func roleVerbs(of type: StructuredType, _ package: PackageModel) -> SwiftDeclaration? {
        var members: [SwiftDeclaration] = []
        for kind in [PackageModel.Role.Kind.create, .update, .delete] {
            let actions = roleActions(kind, of: type.name, in: package)
            guard !type.isAbstract || kind != .create else { continue }
            if actions.count == 1, actions[0].unmapped.isEmpty { continue }
            for action in actions {
                guard action.unmapped.allSatisfy(isUsable) else {
                    subset.omit(action.operation.name.description, "a type that it needs cannot be a parameter")
                    continue
                }
                members.append(.function(roleVerb(action, of: type, isOnly: actions.count == 1)))
            }
        }
        guard !members.isEmpty else { return nil }
        return .type(
            SwiftType(
                kind: .extension, name: "PackageDatabase", constraint: "Package == \(names.package)", members: members))
    }

    private func roleVerb(
        _ action: PackageModel.RoleAction, of type: StructuredType, isOnly: Bool
    ) -> SwiftFunction {
        let operation = action.operation
        let verb = action.role.kind.rawValue.lowercased()
        let own = configuration.names[operation.name.description] ?? SwiftName.member(operation.name.name)
        let isReserved = ReservedNames.packageDatabase.contains(own)
        let swiftNames = Array(names.parameters(operation).dropFirst(operation.isBound ? 1 : 0))
        let object = names.type(type.name)
        var scope = NameScope(reserved: ["object", "arguments", "by"])
        var parameters: [SwiftFunction.Parameter] = [.init(label: "_", name: "object", type: object)]
        var body: [String] = []
        var facts: [String] = []
        for (parameter, swiftName) in zip(action.parameters, swiftNames)
        where action.role.mapping[parameter.name] == nil {
            let name = scope.name(swiftName)
            let code = self.code(of: parameter)
            parameters.append(.init(name: name, type: code.type, defaultValue: code.defaultValue))
            body.append("arguments.\(code.setter)(\(Self.literal(parameter.name)), \(SwiftName.quoted(name)))")
            facts.append("- `\(name)`: \(Self.facts(parameter)).")
        }
        let call = "try await \(verb)(object, by: \(Self.literal(operation.name))"
        if body.isEmpty {
            body = ["\(call))"]
        } else {
            body = ["var arguments = OperationParameters()"] + body + ["return \(call), arguments)"]
        }
        let does = ["create": "Creates", "update": "Changes", "delete": "Deletes"][verb] ?? "Changes"
        var documentation = Self.documentation(
            operation, "\(does) an object of \(Self.code(type.name)) by \(Self.code(operation.name)).")
        if !facts.isEmpty { documentation += ["", "Parameters that no attribute fills:"] + facts }
        return SwiftFunction(
            documentation: documentation, isDiscardable: true, name: isOnly ? verb : isReserved ? own + "_" : own,
            parameters: parameters,
            effects: "async throws", returns: object, body: body)
    }
}
