/// A stage of a customization bundle.
public enum DeviceBundleStage: String, Hashable, Sendable, Codable, CaseIterable {
    /// Operators see the bundle; devices do not.
    case staged
    /// Devices to which the bundle is assigned see it.
    case testers
    /// All devices see the bundle.
    case current
}

/// The key of a customization bundle.
public struct DeviceBundleKey: Hashable, Sendable {
    /// The application.
    public var application: RecordNumber
    /// The name.
    public var name: String
    /// The version.
    public var version: String

    /// Creates a key.
    public init(application: RecordNumber, name: String, version: String) {
        self.application = application
        self.name = name
        self.version = version
    }
}

/// A customization bundle without its bytes.
public struct DeviceBundleRecord: Hashable, Sendable {
    /// The key.
    public var key: DeviceBundleKey
    /// The extension of the file, without a dot.
    public var fileExtension: String
    /// The SHA-256 of the bytes.
    public var digest: [UInt8]
    /// The number of bytes.
    public var size: Int64
    /// The stage.
    public var stage: DeviceBundleStage
    /// Whether devices without a bundle of their own use this one.
    public var isDefault: Bool
    /// The manifest of the archive, a JSON text; `nil` if it has none.
    public var manifest: String?
    /// The moment at which the bundle was added.
    public var createdAt: ServerInstant

    /// Creates a record.
    public init(
        key: DeviceBundleKey, fileExtension: String, digest: [UInt8], size: Int64, stage: DeviceBundleStage,
        isDefault: Bool, manifest: String?, createdAt: ServerInstant
    ) {
        self.key = key
        self.fileExtension = fileExtension
        self.digest = digest
        self.size = size
        self.stage = stage
        self.isDefault = isDefault
        self.manifest = manifest
        self.createdAt = createdAt
    }
}

/// The limits of customization bundles.
public enum DeviceBundleLimits {
    /// The maximum number of bytes of a bundle.
    public static let size: Int64 = 1 << 30
    /// The maximum number of bundles of an application.
    public static let count = 100
    /// The maximum number of bytes of a manifest.
    public static let manifest = 64 << 10
    /// The maximum number of characters of a name or a version.
    public static let name = 128
    /// The maximum number of bytes in one call of ``DeviceBundleStore/append(_:to:at:)``.
    public static let part = 1 << 20
    /// The time after which an unfinished bundle goes.
    public static let unfinishedAge = Duration.seconds(86_400)
}

/// Customization bundles with their bytes. A bundle is not changed; another version has other bytes.
public protocol DeviceBundleStore: Sendable {
    /// Begins a bundle, which nobody sees before ``finish(_:digest:manifest:)``.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - fileExtension: The extension of the file, without a dot.
    ///   - file: The identifier of the bytes, which the caller makes at random.
    /// - Throws: ``ServerStateError/alreadyExists(kind:name:)``; ``ServerStateError/limitExceeded(name:limit:)``.
    func begin(_ key: DeviceBundleKey, fileExtension: String, file: String) async throws(ServerStateError)

    /// Appends bytes to an unfinished bundle.
    ///
    /// - Returns: The number of bytes now.
    /// - Throws: ``ServerStateError/changed(kind:name:)`` if the bundle has another number of bytes.
    func append(_ bytes: [UInt8], to file: String, at offset: Int64) async throws(ServerStateError) -> Int64

    /// Returns bytes of a bundle that is not finished, from an offset on; empty at the end.
    func bytes(ofFile file: String, from offset: Int64) async throws(ServerStateError) -> [UInt8]

    /// Ends a bundle, which is staged then.
    ///
    /// - Throws: ``ServerStateError/alreadyExists(kind:name:)`` if another caller was faster.
    func finish(
        _ file: String, digest: [UInt8], manifest: String?
    ) async throws(ServerStateError) -> DeviceBundleRecord

    /// Removes an unfinished bundle.
    func abandon(_ file: String) async throws(ServerStateError)

    /// Returns a bundle.
    func bundle(_ key: DeviceBundleKey) async throws(ServerStateError) -> DeviceBundleRecord?

    /// Returns the bundles of an application by name and version.
    func bundles(of application: RecordNumber) async throws(ServerStateError) -> [DeviceBundleRecord]

    /// Returns bytes of a bundle from an offset on; empty at the end.
    func bytes(of key: DeviceBundleKey, from offset: Int64) async throws(ServerStateError) -> [UInt8]

    /// Sets the stage of a bundle.
    ///
    /// - Throws: ``ServerStateError/missing(kind:name:)``.
    func setStage(_ stage: DeviceBundleStage, _ key: DeviceBundleKey) async throws(ServerStateError)
        -> DeviceBundleRecord

    /// Makes a bundle the default of its application, or none if the key is `nil`.
    ///
    /// - Throws: ``ServerStateError/missing(kind:name:)``.
    func setDefault(_ key: DeviceBundleKey?, of application: RecordNumber) async throws(ServerStateError)

    /// Removes a bundle with its bytes.
    ///
    /// - Returns: Whether it existed.
    func remove(_ key: DeviceBundleKey) async throws(ServerStateError) -> Bool
}
