extension PackageModel {
    /// An action that creates, changes or deletes objects of a type instead of the verbs of its set.
    public struct RoleAction: Hashable, Sendable {
        /// The element to which the action is bound.
        public enum Binding: String, Hashable, Sendable {
            /// Nothing: the action is called by its import.
            case none
            /// The entity set.
            case collection
            /// The object.
            case entity
        }

        /// The role with its mapping.
        public var role: Role
        /// The action.
        public var operation: ODataOperation
        /// The element to which it is bound.
        public var binding: Binding
        /// The name in the URL: that of the import, or the qualified name of a bound action.
        public var urlName: String

        /// The parameters without the binding parameter.
        public var parameters: [ODataOperation.Parameter] {
            Array(operation.parameters.dropFirst(operation.isBound ? 1 : 0))
        }

        /// The parameters that no attribute fills. The caller gives their values.
        public var unmapped: [ODataOperation.Parameter] { parameters.filter { role.mapping[$0.name] == nil } }
    }

    /// The entity type that an action with a role is about: the type of its result or of its binding parameter.
    ///
    /// - Returns: `nil` for the role `.other`, and if the action names no entity type.
    public static func roleType(of operation: ODataOperation) -> QualifiedName? {
        let bound: QualifiedName? =
            switch operation.isBound ? operation.parameters.first?.type.element : nil {
            case .entity(let name?): name
            default: nil
            }
        let returned: QualifiedName? =
            switch operation.returnType {
            case .entity(let name?)?: name
            default: nil
            }
        return switch role(of: operation).kind {
        case .other: nil
        case .create: returned ?? (operation.parameters.first?.type.isCollection == true ? bound : nil)
        case .update, .delete: operation.parameters.first?.type.isCollection == true ? nil : bound ?? returned
        }
    }

    /// The actions with a role for a type, in the order of their names.
    public func roleActions(_ kind: Role.Kind, of type: QualifiedName) -> [RoleAction] {
        (roleActions[type] ?? []).filter { $0.role.kind == kind }
    }

    /// Finds the actions with roles. An action that is bound to no element needs an import.
    static func roleActions(in model: EntityDataModel) -> [QualifiedName: [RoleAction]] {
        var result: [QualifiedName: [RoleAction]] = [:]
        let schemas = model.schemas + model.includedSchemas
        let types = schemas.flatMap(\.structuredTypes).filter { $0.kind == .entity }.map(\.name)
        for operation in schemas.flatMap(\.operations) where operation.kind == .action {
            guard let action = roleAction(operation, in: model), let type = roleType(of: operation) else { continue }
            // A derived type is created by its own action, and changed by those of its base.
            for own in types where own == type || action.role.kind != .create && model.isType(own, type) {
                result[own, default: []].append(action)
            }
        }
        return result.mapValues { actions in
            actions.sorted { $0.operation.name.description < $1.operation.name.description }
        }
    }

    private static func roleAction(_ operation: ODataOperation, in model: EntityDataModel) -> RoleAction? {
        let role = role(of: operation)
        guard !operation.isBound else {
            let isOfCollection = operation.parameters.first?.type.isCollection == true
            return RoleAction(
                role: role, operation: operation, binding: isOfCollection ? .collection : .entity,
                urlName: operation.name.description)
        }
        let imports = model.container.operationImports.filter {
            $0.kind == .action && $0.operation == operation.name
        }
        guard let name = imports.map(\.name).min() else { return nil }
        return RoleAction(role: role, operation: operation, binding: .none, urlName: name)
    }
}
