import ODataModel
import OfflineOData

/// The action that a caller chose for a creation, a change or a deletion.
struct RoleCall {
    /// The qualified or unqualified name of the action.
    let name: String
    /// The values of the parameters that no attribute fills.
    let arguments: OperationParameters
}

/// Chooses the actions that the service is asked for in place of the verbs of a set.
struct RoleCalls {
    private let package: PackageModel
    private let model: EntityDataModel

    init(_ package: PackageModel, _ model: EntityDataModel) {
        self.package = package
        self.model = model
    }

    /// The action for a change of an object.
    ///
    /// - Parameter call: the action that the caller chose; `nil` for the one whose parameters are all attributes.
    /// - Returns: `nil` for the verb of the set.
    /// - Throws: ``ObjectError/missingArgument(name:of:)``, ``ObjectError/noSuchOperation(name:of:)``,
    ///   ``ObjectError/noSuchParameter(name:of:)``, ``ObjectError/invalidType(name:expected:)``.
    func action(
        _ kind: PackageModel.Role.Kind, of type: QualifiedName, by call: RoleCall?
    ) throws(ObjectError) -> ChangeAction? {
        let actions = package.roleActions(kind, of: type)
        guard let call else {
            if let complete = actions.first(where: { $0.unmapped.allSatisfy(\.mayBeLeftOut) }) {
                return change(complete, [:])
            }
            guard let first = actions.first else { return nil }
            throw .missingArgument(
                name: first.unmapped.first { !$0.mayBeLeftOut }?.name ?? "", of: first.operation.name.description)
        }
        let found = actions.first { action in
            [action.operation.name.description, action.operation.name.name, action.urlName].contains(call.name)
        }
        guard let found else { throw .noSuchOperation(name: call.name, of: type.description) }
        try Self.check(call.arguments.values, found.unmapped, of: found.operation.name.description, model: model)
        return change(found, call.arguments.values)
    }

    private func change(_ action: PackageModel.RoleAction, _ arguments: [String: ODataValue]) -> ChangeAction {
        let binding: ChangeAction.Binding =
            switch action.binding {
            case .none: .none
            case .collection: .collection
            case .entity: .entity
            }
        return ChangeAction(
            action.operation, urlName: action.urlName, binding: binding, mapping: action.role.mapping,
            arguments: arguments, model: model)
    }

    /// Checks the arguments of a call by the parameters.
    static func check(
        _ arguments: [String: ODataValue], _ parameters: [ODataOperation.Parameter], of operation: String,
        model: EntityDataModel
    ) throws(ObjectError) {
        for name in arguments.keys.sorted() where !parameters.contains(where: { $0.name == name }) {
            throw .noSuchParameter(name: name, of: operation)
        }
        let validator = ValueValidator(model: model, checks: [.types])
        for parameter in parameters {
            guard let value = arguments[parameter.name] else {
                if parameter.mayBeLeftOut { continue }
                throw .missingArgument(name: parameter.name, of: operation)
            }
            if value.isNull {
                guard !parameter.isNullable else { continue }
                throw .missingArgument(name: parameter.name, of: operation)
            }
            let property = Property(name: parameter.name, type: parameter.type, isNullable: parameter.isNullable)
            do throws(InvalidValueError) {
                try validator.validate(value, for: property)
            } catch {
                throw .invalidType(name: parameter.name, expected: parameter.type.description)
            }
        }
    }
}
