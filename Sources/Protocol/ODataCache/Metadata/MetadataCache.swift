import Foundation
import ODataModel
import ODataService

/// A metadata document with the validators of the service.
public struct CachedMetadata: Hashable, Sendable, Codable {
    /// The content of the document.
    public var bytes: [UInt8] {
        get { Array(content) }
        set { content = Data(newValue) }
    }
    /// Stored as `Data`, because JSON encodes it compactly.
    private var content: Data
    /// The ETag, if the service has sent one.
    public var etag: String?
    /// The value of `Last-Modified`, if the service has sent one.
    public var lastModified: String?

    /// Creates a document.
    public init(_ bytes: [UInt8], etag: String? = nil, lastModified: String? = nil) {
        content = Data(bytes)
        self.etag = etag
        self.lastModified = lastModified
    }
}

/// A cache of service metadata, so that a client need not load it at each launch. An app can provide its own
/// implementation.
public protocol MetadataCache: Sendable {
    /// Returns the metadata of a service, or `nil` if there is none or it is unreadable.
    ///
    /// - Parameter serviceRoot: The root of the service, followed by the custom options of every request, if
    ///   there are any.
    func metadata(of serviceRoot: String) async -> CachedMetadata?
    /// Stores a document; `nil` removes it. A cache that cannot store a document ignores it.
    func setMetadata(_ metadata: CachedMetadata?, of serviceRoot: String) async
}

/// A cache that keeps metadata in memory until the process ends.
public actor MemoryMetadataCache: MetadataCache {
    /// The maximum number of services; the least recently used one is removed first.
    public static let capacity = 100
    private var documents = LeastRecentlyUsed<ExactText, CachedMetadata>(capacity: MemoryMetadataCache.capacity)

    /// Creates an empty cache.
    public init() {}

    /// Returns the metadata of a service, or `nil` if there is none.
    public func metadata(of serviceRoot: String) -> CachedMetadata? { documents.use(ExactText(serviceRoot)) }

    /// Stores a document; `nil` removes it.
    public func setMetadata(_ metadata: CachedMetadata?, of serviceRoot: String) {
        let key = ExactText(serviceRoot)
        documents.remove(key)
        guard let metadata else { return }
        documents.set(metadata, for: key)
    }
}

/// A cache that keeps metadata in a store, encrypted according to its policy.
///
/// ```swift
/// let files = PersistentStore(folder: folder, key: .generated(in: keys, named: try SecretName("cache")))
/// let cache = PersistentMetadataCache(files)
/// let client = try ODataClient(
///     serviceRoot: root, transport: transport, configuration: .init(metadataCache: cache))
/// ```
public struct PersistentMetadataCache: MetadataCache {
    private let store: PersistentStore

    /// Creates a cache in a store, which may contain other items.
    public init(_ store: PersistentStore) { self.store = store }

    private static func name(_ serviceRoot: String) -> String { "metadata " + serviceRoot }

    /// Returns the metadata of a service, or `nil` if there is none or it is unreadable.
    public func metadata(of serviceRoot: String) async -> CachedMetadata? {
        try? await store.value(CachedMetadata.self, for: Self.name(serviceRoot))
    }

    /// Stores a document; `nil` removes it. Errors of the store are ignored.
    public func setMetadata(_ metadata: CachedMetadata?, of serviceRoot: String) async {
        if let metadata {
            try? await store.put(metadata, for: Self.name(serviceRoot))
        } else {
            _ = try? await store.remove(Self.name(serviceRoot))
        }
    }
}
