import ODataModel
import ODataService
import OfflineOData
import Synchronization
import ToolLanguage

/// A clone that is reopened after another process has changed its model, so that serving continues.
final class ReopeningProvider: ProviderWrapper {
    private struct State {
        var store: OfflineStore
        /// The task that reopens the clone, while it runs.
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

    /// The open clone.
    var base: any ODataProvider { store }

    /// The current model of the clone, also if another process changed it.
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
            // The response was read with the previous model, which would also write it.
            throw ODataError(
                status: 503, code: "ModelChanged",
                message: "The service has a new model since the request came: send it again.")
        }
    }

    func close() throws { try store.close() }

    /// Returns the clone with its new model, opened here or by another request meanwhile.
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
            // Requests that still read from the previous clone keep it until they are done.
            if case .success(let store) = result { state.store = store }
        }
        return try result.get()
    }
}
