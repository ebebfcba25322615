/// The state of an application.
public enum ApplicationState: String, Hashable, Sendable, Codable, CaseIterable {
    /// Devices do not reach the application yet.
    case draft
    /// Devices use the application.
    case active
    /// Devices are refused with 403.
    case suspended
}

/// An application.
public struct ApplicationRecord: Hashable, Sendable {
    /// The number of the application.
    public var id: RecordNumber
    /// The name, a path segment of the device API.
    public var name: String
    /// The domain, a property without effect.
    public var domain: String
    /// The title for people.
    public var title: String
    /// The state.
    public var state: ApplicationState
    /// The version of the active configuration; 0 for none.
    public var activeVersion: Int
    /// The ETag of the row.
    public var etag: ChangeNumber
    /// The number of the last change.
    public var change: ChangeNumber
    /// The moment of the creation.
    public var createdAt: ServerInstant

    /// Creates a record.
    public init(
        id: RecordNumber, name: String, domain: String, title: String, state: ApplicationState, activeVersion: Int,
        etag: ChangeNumber, change: ChangeNumber, createdAt: ServerInstant
    ) {
        self.id = id
        self.name = name
        self.domain = domain
        self.title = title
        self.state = state
        self.activeVersion = activeVersion
        self.etag = etag
        self.change = change
        self.createdAt = createdAt
    }
}

/// The state of a version of a configuration.
public enum ConfigurationState: String, Hashable, Sendable, Codable {
    /// The version was never active.
    case draft
    /// The version is the active one.
    case active
    /// The version was active before.
    case retired
}

/// A version of the configuration of an application.
///
/// The body is the whole configuration: destinations, queries, security configurations, permissions and policies. No
/// secret is in it, only references to secrets.
public struct ConfigurationRecord: Hashable, Sendable {
    /// The number of the application.
    public var application: RecordNumber
    /// The version, from 1.
    public var version: Int
    /// The configuration as canonical JSON.
    public var body: [UInt8]
    /// The SHA-256 of the body.
    public var hash: [UInt8]
    /// The state.
    public var state: ConfigurationState
    /// The name of the author: an operator, or `file` for an imported one.
    public var createdBy: String
    /// The moment of the creation.
    public var createdAt: ServerInstant
    /// The number of the last change.
    public var change: ChangeNumber

    /// Creates a record.
    public init(
        application: RecordNumber, version: Int, body: [UInt8], hash: [UInt8], state: ConfigurationState,
        createdBy: String, createdAt: ServerInstant, change: ChangeNumber
    ) {
        self.application = application
        self.version = version
        self.body = body
        self.hash = hash
        self.state = state
        self.createdBy = createdBy
        self.createdAt = createdAt
        self.change = change
    }
}

/// Changes of an application; `nil` keeps a value.
public struct ApplicationChange: Hashable, Sendable {
    /// The new title.
    public var title: String?
    /// The new domain.
    public var domain: String?
    /// The new state.
    public var state: ApplicationState?

    /// Creates changes.
    public init(title: String? = nil, domain: String? = nil, state: ApplicationState? = nil) {
        self.title = title
        self.domain = domain
        self.state = state
    }
}

/// Applications and the versions of their configurations. Change numbers are those of the scope `server` for
/// applications and versions alike.
public protocol ApplicationStore: Sendable {
    /// Returns all applications in the order of their names.
    func all() async throws(ServerStateError) -> [ApplicationRecord]

    /// Returns an application, or `nil` if there is none with this name.
    func application(named name: String) async throws(ServerStateError) -> ApplicationRecord?

    /// Adds an application without a configuration.
    ///
    /// - Throws: ``ServerStateError/alreadyExists(kind:name:)``.
    func add(
        named name: String, title: String, domain: String, state: ApplicationState
    ) async throws(ServerStateError) -> ApplicationRecord

    /// Changes an application.
    ///
    /// - Parameter etag: The expected ETag; `nil` for any.
    /// - Throws: ``ServerStateError/missing(kind:name:)``, ``ServerStateError/changed(kind:name:)``.
    func update(
        _ name: String, ifMatch etag: ChangeNumber?, _ change: ApplicationChange
    ) async throws(ServerStateError) -> ApplicationRecord

    /// Removes an application with its users, registrations and configurations. Its feeds go by a job.
    ///
    /// - Throws: ``ServerStateError/missing(kind:name:)``, ``ServerStateError/changed(kind:name:)``.
    func remove(_ name: String, ifMatch etag: ChangeNumber?) async throws(ServerStateError)

    /// Returns the versions of an application, newest first.
    func configurations(of application: RecordNumber) async throws(ServerStateError) -> [ConfigurationRecord]

    /// Returns a version, or `nil` if there is none.
    func configuration(
        _ version: Int, of application: RecordNumber
    ) async throws(ServerStateError) -> ConfigurationRecord?

    /// Adds a version, which gets the next number. A body equal to that of the newest version returns that version.
    ///
    /// - Throws: ``ServerStateError/missing(kind:name:)`` without the application.
    func addConfiguration(
        _ body: [UInt8], to application: RecordNumber, by author: String
    ) async throws(ServerStateError) -> ConfigurationRecord

    /// Makes a version the active one, and the former one a retired one.
    ///
    /// - Parameter active: The expected active version; `nil` for any.
    /// - Throws: ``ServerStateError/missing(kind:name:)``, ``ServerStateError/changed(kind:name:)``.
    func activate(
        _ version: Int, of application: RecordNumber, ifActive active: Int?
    ) async throws(ServerStateError) -> ApplicationRecord
}
