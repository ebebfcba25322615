import ODataModel
import ODataService
import OfflineOData
import Synchronization

/// A clone that is opened again once another process has brought it to a new model, so that what serves it goes on.
final class ReopeningProvider: ProviderWrapper {
    private struct State {
        var store: OfflineStore
        /// What opens the clone again, while it does.
        var opening: Task<OfflineStore, any Error>?
    }

    private let open: @Sendable () async throws -> OfflineStore
    private let state: Mutex<State>

    /// Opens a clone.
    init(_ open: @escaping @Sendable () async throws -> OfflineStore) async throws {
        self.open = open
        state = Mutex(State(store: try await open()))
    }

    private var store: OfflineStore { state.withLock { $0.store } }

    /// The clone as it is open now.
    var base: any ODataProvider { store }

    /// The model that the clone has now, whoever brought it there.
    var model: EntityDataModel {
        get async throws {
            let store = store
            do {
                try await store.maintenance.checkModel()
                return store.model
            } catch OfflineError.modelOutdated {
                return try await reopened(after: store).model
            }
        }
    }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        let store = store
        do {
            return try await store.execute(request)
        } catch OfflineError.modelOutdated {
            _ = try await reopened(after: store)
            // It was read by the model of before, and its answer would be written by that.
            throw ODataError(
                status: 503, code: "ModelChanged",
                message: "The service has a new model since the request came: send it again.")
        }
    }

    func close() throws { try store.close() }

    /// The clone with its new model: opened now, or by another request meanwhile.
    private func reopened(after old: OfflineStore) async throws -> OfflineStore {
        let opening = state.withLock { state -> Task<OfflineStore, any Error>? in
            guard state.store === old else { return nil }
            let opening = state.opening ?? Task { [open] in try await open() }
            state.opening = opening
            return opening
        }
        guard let opening else { return store }
        let result = await opening.result
        state.withLock { state in
            guard state.opening == opening else { return }
            state.opening = nil
            // Who still reads from the one before has it until that is done.
            if case .success(let store) = result { state.store = store }
        }
        return try result.get()
    }
}
