import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import OfflineOData

/// How the local database of a package is opened. It is fixed when the database is opened.
public struct DatabaseProfile: Sendable {
    /// The encryption of the file.
    public var protection: StoreProtection
    /// The memory for the cache of each connection in bytes; 10 MB by default.
    public var cacheBytes = 10 << 20
    /// The number of connections that read at the same time, 1 or more, beside the one that writes; 2 by default.
    public var readers = 2
    /// The remaining options of the store: clock, observers, indexes.
    public var storeOptions = OfflineStore.Options()

    /// Creates a profile with the defaults.
    public init(protection: StoreProtection) { self.protection = protection }
}

/// How a package reaches its service.
public struct SynchronizationProfile: Sendable {
    /// How the service executes changes.
    public enum Replay: Sendable {
        /// The service may answer before it has executed a change.
        case asynchronous
        /// Each synchronization waits until the service has executed the changes.
        case synchronous
    }

    /// The root of the service, which a new database keeps to tell its own links from others; empty if it is not known.
    public var serviceRoot = ""
    /// How the service executes changes.
    public var replay = Replay.asynchronous
    /// Makes the connection to the service when the package is first synchronized.
    public var connect: @Sendable (EntityDataModel) async throws -> any ODataProvider
    /// The handling of conflicts; a conflict is refused by default.
    public var conflictPolicy = ConflictPolicy.fail
    /// Whether a change that the service refused with 401 asks the user to sign in
    /// (``ReplayFailure/Recovery-swift.enum/signIn``); `true` by default. If it is `false`, the credentials of the back
    /// end are not the user's, and the change is sent again later.
    public var asksForCredentials = true
    /// The limit of the synchronizations that run at the same time: 32 in the process by default.
    public var permits = SynchronizationPermits.process

    /// Creates a profile.
    ///
    /// - Parameter connect: makes the connection from the model of the package.
    public init(connect: @escaping @Sendable (EntityDataModel) async throws -> any ODataProvider) {
        self.connect = connect
    }
}

/// The service of a package, to which the first request connects.
actor PackageConnection {
    private let connect: @Sendable (EntityDataModel) async throws -> any ODataProvider
    private let model: EntityDataModel
    private let check: @Sendable (EntityDataModel) throws -> Void
    private var attempt: Task<any ODataProvider, any Error>?

    init(
        _ model: EntityDataModel, check: @escaping @Sendable (EntityDataModel) throws -> Void,
        connect: @escaping @Sendable (EntityDataModel) async throws -> any ODataProvider
    ) {
        self.model = model
        self.check = check
        self.connect = connect
    }

    /// The connection. An attempt that failed is made again by the next caller.
    func provider() async throws -> any ODataProvider {
        if let attempt { return try await attempt.value }
        let (connect, model, check) = (connect, model, check)
        let attempt = Task {
            let provider = try await connect(model)
            try check(try await provider.model)
            return provider
        }
        self.attempt = attempt
        do {
            return try await attempt.value
        } catch {
            self.attempt = nil
            throw error
        }
    }
}

/// A provider that connects with its first request.
struct ConnectingProvider: ODataProvider {
    let connection: PackageConnection

    var model: EntityDataModel { get async throws { try await connection.provider().model } }

    var traits: ProviderTraits { .standard }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        try await connection.provider().execute(request)
    }
}
