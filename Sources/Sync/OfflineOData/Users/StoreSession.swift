import EncryptedSQLite
import ODataSQL
import Secrets

/// A store over the lifecycle of an app: open, in the background, locked, in the foreground again.
///
/// ```swift
/// let session = StoreSession { key in
///     try await OfflineStore.open(at: directory, protection: key) { root, model in
///         try ODataClient(serviceRoot: root, transport: transport, model: model)
///     }
/// }
/// try await session.enterForeground(.encrypted(.key(try await vault.key(named: "orders"))))
/// try await session.sync()
/// await session.enterBackground()  // the screen was locked
/// ```
///
/// In the background, nothing is open and no key is in memory. A running synchronisation ends at the next page or
/// request. Complete pages are kept, and it resumes when the app comes back.
public actor StoreSession {
    private let open: @Sendable (StoreProtection) async throws -> OfflineStore
    private var opened: OfflineStore?
    private var syncing: Task<Void, any Error>?
    private var opening: Task<Void, any Error>?
    private var closing: Task<Void, Never>?
    private var isForeground = false
    /// Whether a synchronisation was ended by going into the background.
    public private(set) var wasInterrupted = false

    /// - Parameter open: Opens the store, each time the app comes to the foreground.
    public init(open: @escaping @Sendable (StoreProtection) async throws -> OfflineStore) {
        self.open = open
    }

    /// The store, while the app is in the foreground. Do not keep it: it is closed when the app leaves.
    public var store: OfflineStore? { opened }

    /// Opens the store, and resumes an interrupted synchronisation.
    ///
    /// - Parameter protection: Its key, as the vault gives it after the person was recognised.
    /// - Throws: The errors of opening; nothing is open then.
    public func enterForeground(_ protection: StoreProtection) async throws {
        isForeground = true
        // The app may come back before it has completely left, or twice.
        await closing?.value
        _ = await opening?.result
        guard isForeground, opened == nil else { return }
        let task = Task { try await finishOpening(protection) }
        opening = task
        try await task.value
    }

    private func finishOpening(_ protection: StoreProtection) async throws {
        defer { opening = nil }
        let store = try await open(protection)
        guard isForeground else {
            // It left again meanwhile.
            close(store)
            return
        }
        opened = store
        if wasInterrupted {
            wasInterrupted = false
            startSync(store)
        }
    }

    /// Uploads and downloads. Concurrent calls wait for each other.
    ///
    /// - Throws: The errors of `sync`; `CancellationError` if the app went into the background;
    ///   ``OfflineError/notConnected`` while it is there.
    public func sync() async throws {
        guard let store = opened else { throw OfflineError.notConnected }
        try await (syncing ?? startSync(store)).value
    }

    /// Ends a synchronisation, closes the store and removes its key from memory. It returns afterwards, which may
    /// take as long as the current request.
    public func enterBackground() async {
        isForeground = false
        guard let store = opened else {
            _ = await opening?.result
            await closing?.value
            return
        }
        opened = nil
        let running = syncing
        syncing = nil
        wasInterrupted = running != nil
        running?.cancel()
        let task = Task {
            _ = await running?.result
            close(store)
        }
        closing = task
        await task.value
    }

    private func close(_ store: OfflineStore) {
        try? store.close()
        if opened == nil { try? EncryptedDatabase.lock(at: StoreFiles.database(in: store.directory)) }
        PassphraseDeriver.shared.forgetAll()
    }

    @discardableResult
    private func startSync(_ store: OfflineStore) -> Task<Void, any Error> {
        let task = Task {
            defer { if opened === store { syncing = nil } }
            _ = try await store.sync()
        }
        syncing = task
        return task
    }
}
