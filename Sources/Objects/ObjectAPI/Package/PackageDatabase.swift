import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import OfflineOData
import Secrets

/// The local database of a package: finds, changes, submits and synchronizes its objects.
///
/// Objects are values. Every verb takes a value and returns the new one, so that no object is shared between tasks.
///
/// ```swift
/// let crm = try await CrmDatabase.open(at: "Library/crm", DatabaseProfile(protection: .encrypted(key)))
/// if var customer = try await crm.customers.find(32) {
///     customer.city = "Dublin"
///     customer = try await crm.save(customer)
///     try await crm.submitPending(customer)
/// }
/// ```
public final class PackageDatabase<Package: ObjectPackage>: Sendable {
    /// The store below, with the model of the package.
    public let store: OfflineStore
    /// The meaning of the package model.
    public let package: PackageModel
    /// Reads and writes of the store, with the states of the objects.
    let service: DataService
    /// The exchanges and the subscription changes, one at a time.
    let queue: SynchronizationQueue
    /// The listeners of events.
    let hub: EventHub<Package>
    /// The observers of events.
    let observers = ObserverList<Package>()
    /// The change notifications.
    let listener: NotificationListener<Package>
    /// The subscriptions.
    let keeper: SubscriptionKeeper
    /// The writer of log records of the app.
    public let logger: PackageLogger

    private init(
        store: OfflineStore, package: PackageModel, synchronization: SynchronizationProfile?,
        connection: PackageConnection?
    ) {
        self.store = store
        self.package = package
        service = DataService(ObjectProvider(base: store))
        let hub = EventHub<Package>()
        self.hub = hub
        keeper = SubscriptionKeeper(store: store, package: package)
        let exchange = PackageExchange<Package>(
            store: store, package: package, keeper: keeper, connection: connection,
            conflictPolicy: synchronization?.conflictPolicy ?? .fail,
            retriesSignIn: synchronization?.asksForCredentials == false, hub: hub)
        queue = SynchronizationQueue(
            permits: synchronization?.permits ?? .process,
            listener: { status, context in hub.publish(.synchronization(status, context: context)) },
            exchange: { groups, report in try await exchange.run(groups, report) })
        listener = NotificationListener(queue: queue, sleep: store.options.runtime.environment.sleep)
        logger = PackageLogger(LogRecordKeeper(store: store, package: package))
    }

    deinit {
        listener.listen(to: nil)
        hub.finish()
    }

    /// Returns whether there is a database in a directory.
    public static func exists(at directory: String) -> Bool { OfflineStore.exists(at: directory) }

    /// Deletes a closed database with all changes that wait in it.
    ///
    /// - Throws: `OfflineError.stillOpen(path:)` while the database is open in this process or another one;
    ///   `OfflineError.busy(processID:)` while another process synchronizes it;
    ///   `OfflineError.fileAccess(path:reason:)`.
    public static func delete(at directory: String) throws { try OfflineStore.remove(at: directory) }

    /// Replaces the key of a closed database.
    ///
    /// - Throws: `EncryptedDatabaseError` for a wrong key; the former key opens the database then.
    public static func rekey(at directory: String, from old: KeySource, to new: KeySource) throws {
        try OfflineStore.rekey(at: directory, from: old, to: new)
    }

    /// Opens the database, and creates it if there is none. No network is needed.
    ///
    /// - Parameters:
    ///   - directory: the directory of the files.
    ///   - profile: the encryption and the caches.
    ///   - synchronization: the way to the service; without it, all local verbs work.
    /// - Throws: ``ObjectError/invalidPackage(_:)`` if the package in the code was edited; `StoreError` for a wrong key
    ///   or a damaged file; `OfflineError`.
    public static func open(
        at directory: String, _ profile: DatabaseProfile, synchronization: SynchronizationProfile? = nil
    ) async throws -> PackageDatabase {
        let model = Package.metadata.model
        let package = PackageModel(model)
        if let problem = package.problems.first { throw ObjectError.invalidPackage(problem.description) }
        var options = profile.storeOptions
        options.runtime.database.readerCount = max(1, profile.readers)
        options.runtime.database.readerCacheBytes = profile.cacheBytes
        options.runtime.database.writerCacheBytes = profile.cacheBytes
        let connection = synchronization.map { profile in
            PackageConnection(
                model, check: { try PackageDifference.check(package: model, service: $0) }, connect: profile.connect)
        }
        let remote = connection.map(ConnectingProvider.init)
        let store: OfflineStore
        if exists(at: directory) {
            store = try await OfflineStore.open(at: directory, protection: profile.protection, options: options) {
                _, _ in
                remote
            }
        } else {
            store = try await OfflineStore.create(
                at: directory, protection: profile.protection, serviceRoot: synchronization?.serviceRoot ?? "",
                model: model, remote: remote,
                queries: try SubscriptionKeeper.defaultQueries(package), options: options)
        }
        try await PersonalizationStore(store: store, package: package).applyDefaults()
        return PackageDatabase(
            store: store, package: package, synchronization: synchronization, connection: connection)
    }

    /// Closes the files. Waiting synchronizations are cancelled, and the streams of events end. No verb is valid
    /// afterwards.
    public func close() throws {
        listener.listen(to: nil)
        queue.cancelAll()
        hub.finish()
        try store.close()
    }
}

/// The store as a provider. Its reads include the states of the objects.
struct ObjectProvider: ProviderWrapper {
    let base: any ODataProvider

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        var request = request
        if request.method == .read { request.context.readsReplayState = true }
        return try await base.execute(request)
    }
}
