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
            guard PackageModel.role(of: operation).kind == .other else {
                subset.omit(operation.name.description, "its role is not supported yet")
                return nil
            }
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
                guard PackageModel.role(of: operation).kind == .other else {
                    subset.omit(operation.name.description, "its role is not supported yet")
                    continue
                }
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
        guard parameters.allSatisfy({ subset.contains($0.type) && $0.type.element != .primitive(.stream) }) else {
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
            let isOptional = parameter.mayBeLeftOut
            var swift = swiftType(parameter.type.element)
            let hasNulls =
                parameter.type.isCollection && parameter.isNullable && !parameter.facets.isNullabilityUnstated
                && model.version >= .v4
            // Without a separate setter, an array of bytes would be a binary value.
            let hasMembers = hasNulls || parameter.type.isCollection && swift == "UInt8"
            if parameter.type.isCollection { swift = "[\(swift)\(hasNulls ? "?" : "")]" }
            if isOptional || parameter.isNullable && !parameter.type.isCollection { swift += "?" }
            var facts = "\(Self.code(parameter.name)), \(parameter.type)"
            if !parameter.isNullable { facts += ", not null" }
            fields.append(
                .property(
                    SwiftProperty(
                        documentation: Self.documentation(parameter, facts + "."), name: name, type: swift,
                        body: .variable)))
            arguments.append(.init(name: name, type: swift, defaultValue: isOptional ? "nil" : nil))
            assignments.append("self.\(name) = \(SwiftName.quoted(name))")
            let setter = "set\(isOptional ? "Optional" : "")\(hasMembers ? "Members" : "")"
            writes.append("parameters.\(setter)(\(Self.literal(parameter.name)), self.\(name))")
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
}
