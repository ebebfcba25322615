/// A scope of shared JSON documents.
public enum SharedDocumentScope: String, Hashable, Sendable, Codable, CaseIterable {
    /// One document for all devices of an application, which operators change.
    case application
    /// A document of a user on all devices.
    case user
    /// A document of one registration.
    case device
}

/// The key of a shared document.
public struct SharedDocumentKey: Hashable, Sendable {
    /// The application.
    public var application: RecordNumber
    /// The scope.
    public var scope: SharedDocumentScope
    /// The number of the user or the id of the registration; empty for the application.
    public var owner: String
    /// The name.
    public var name: String

    /// Creates a key.
    public init(application: RecordNumber, scope: SharedDocumentScope, owner: String = "", name: String) {
        self.application = application
        self.scope = scope
        self.owner = owner
        self.name = name
    }
}

/// A shared document without its content.
public struct SharedDocumentRecord: Hashable, Sendable {
    /// The key.
    public var key: SharedDocumentKey
    /// The version, which is the number of its last change. Compare versions for equality.
    public var version: ChangeNumber
    /// The size in bytes.
    public var size: Int
    /// The moment of the last change.
    public var updatedAt: ServerInstant

    /// Creates a record.
    public init(key: SharedDocumentKey, version: ChangeNumber, size: Int, updatedAt: ServerInstant) {
        self.key = key
        self.version = version
        self.size = size
        self.updatedAt = updatedAt
    }
}

/// The condition of a change of a shared document.
public enum SharedDocumentCondition: Hashable, Sendable {
    /// None.
    case none
    /// The document has this version.
    case version(ChangeNumber)
    /// The document exists: `If-Match: *`.
    case exists
    /// The document does not exist: `If-None-Match: *`.
    case isMissing
}

/// The limits of shared documents.
public enum SharedDocumentLimits {
    /// The maximum number of bytes of a document.
    public static let size = 1 << 20
    /// The maximum number of characters of a name.
    public static let name = 128
    /// The maximum number of documents of an owner.
    public static let count = 200
}

/// JSON documents that the devices of an application share.
///
/// The documents of a user or a device go with it.
public protocol SharedDocumentStore: Sendable {
    /// Returns a document with its content.
    func document(
        _ key: SharedDocumentKey
    ) async throws(ServerStateError) -> (record: SharedDocumentRecord, body: [UInt8])?

    /// Returns the documents of an owner without their contents, by name.
    func documents(
        of application: RecordNumber, scope: SharedDocumentScope, owner: String
    ) async throws(ServerStateError) -> [SharedDocumentRecord]

    /// Returns all documents of an application without their contents.
    func documents(of application: RecordNumber) async throws(ServerStateError) -> [SharedDocumentRecord]

    /// Writes a document.
    ///
    /// - Returns: The document, and whether it is new.
    /// - Throws: ``ServerStateError/changed(kind:name:)`` if the condition does not hold;
    ///   ``ServerStateError/limitExceeded(name:limit:)``; ``ServerStateError/missing(kind:name:)`` for an unknown
    ///   application, user or registration.
    func put(
        _ body: [UInt8], _ key: SharedDocumentKey, when condition: SharedDocumentCondition
    ) async throws(ServerStateError) -> (record: SharedDocumentRecord, isNew: Bool)

    /// Removes a document.
    ///
    /// - Throws: ``ServerStateError/changed(kind:name:)`` if the condition does not hold;
    ///   ``ServerStateError/missing(kind:name:)``.
    func remove(_ key: SharedDocumentKey, _ condition: SharedDocumentCondition) async throws(ServerStateError)
}
