import HTTPTypes
import ODataServer
import ODataService
import Secrets
import ServerState

/// The authenticated caller of a device API, as the device API hands it to destinations.
public struct DeviceCaller: Sendable {
    /// The application with its active configuration.
    public var application: ActiveApplication
    /// The user. A caller without a registration is a user without a device.
    public var user: UserRecord
    /// The registration; `nil` if the request names none, which needs `registration.required: false`.
    public var registration: RegistrationRecord?
    /// The name of the security configuration.
    public var security: String
    /// The caller for filters of permissions: name, roles and claims.
    public var principal: Principal
    /// The credentials that the request showed, for destinations with `pass-through` or `token-exchange`. In memory
    /// only.
    public var credentials: Secret<String>?
    /// The circumstances of the request.
    public var context: MountContext

    /// Creates a caller.
    public init(
        application: ActiveApplication, user: UserRecord, registration: RegistrationRecord?, security: String,
        principal: Principal, credentials: Secret<String>?, context: MountContext
    ) {
        self.application = application
        self.user = user
        self.registration = registration
        self.security = security
        self.principal = principal
        self.credentials = credentials
        self.context = context
    }
}

/// The seam between the device API and the destinations behind `d/NAME/`.
public protocol DestinationService: Sendable {
    /// Answers a request below `/m/v1/APP/d/NAME/`.
    ///
    /// - Parameters:
    ///   - request: The request with its whole path.
    ///   - body: The body, which is read on demand.
    ///   - name: The name of the destination.
    ///   - root: The path of the destination with a slash at the end: `/m/v1/APP/d/NAME/`.
    ///   - caller: The caller.
    func answer(
        _ request: HTTPRequest, _ body: ByteStream, destination name: String, root: String, caller: DeviceCaller
    ) async -> (HTTPResponse, ByteStream)

    /// Returns the destinations of an application for the set `Destinations`.
    func summaries(of application: ActiveApplication) async -> [DestinationSummary]
}

/// A destination as the set `Destinations` shows it.
public struct DestinationSummary: Hashable, Sendable {
    /// The name.
    public var name: String
    /// `v2` or `v4`.
    public var dialect: String
    /// The defining queries in the order of their names.
    public var queries: [QuerySummary]
    /// The options for clients.
    public var options: StoreOptionSettings

    /// Creates a summary.
    public init(name: String, dialect: String, queries: [QuerySummary], options: StoreOptionSettings) {
        self.name = name
        self.dialect = dialect
        self.queries = queries
        self.options = options
    }
}

/// A defining query as the set `Destinations` shows it.
public struct QuerySummary: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The query relative to the destination.
    public var query: String
    /// The group.
    public var group: String
    /// The visibility.
    public var visibility: FeedVisibility
    /// The time between two refreshes.
    public var refreshInterval: Duration
    /// Whether devices keep the streams of the rows.
    public var hasStreams: Bool

    /// Creates a summary.
    public init(
        name: String, query: String, group: String, visibility: FeedVisibility, refreshInterval: Duration,
        hasStreams: Bool = false
    ) {
        self.hasStreams = hasStreams
        self.name = name
        self.query = query
        self.group = group
        self.visibility = visibility
        self.refreshInterval = refreshInterval
    }
}
