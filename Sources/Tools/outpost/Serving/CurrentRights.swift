import ODataModel
import ODataService
import Synchronization

/// The rights of the callers of a running service, which can be replaced.
final class CurrentRights: Sendable {
    private struct State {
        var rights: AccessRights
        /// The names of operations, which a permission for all sets does not include.
        var operations: Set<String> = []
    }

    private let state: Mutex<State>

    init(_ file: RightsFile) { state = Mutex(State(rights: file.rights)) }

    /// Returns the access of a caller by the rights of this moment.
    var rule: Access.Rule {
        { [self] principal, name in
            let state = state.withLock { $0 }
            return state.rights.access(of: principal, to: name, isOperation: state.operations.contains(name))
        }
    }

    /// Uses the rights of a file, which fit the model.
    func replace(by file: RightsFile, in model: EntityDataModel) {
        let operations = Set(model.container.operationImports.flatMap { [$0.name, $0.operation.name] })
        state.withLock { $0 = State(rights: file.rights, operations: operations) }
    }
}
