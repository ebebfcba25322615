import Foundation
import ODataModel
import ODataService

/// A metadata document as a service gave it, with what says whether it is still so.
public struct CachedMetadata: Hashable, Sendable, Codable {
    /// The document.
    public var bytes: [UInt8] {
        get { Array(content) }
        set { content = Data(newValue) }
    }
    /// Data, because JSON has a compact form for it.
    private var content: Data
    /// Its ETag, where the service gave one.
    public var etag: String?
    /// When it was changed, as the service said it.
    public var lastModified: String?

    /// Makes a document.
    public init(_ bytes: [UInt8], etag: String? = nil, lastModified: String? = nil) {
        content = Data(bytes)
        self.etag = etag
        self.lastModified = lastModified
    }
}

/// Keeps the metadata of services, so that a client need not read them anew each time it starts; an app's own takes
/// the place of ours.
public protocol MetadataCache: Sendable {
    /// What is kept for the root of a service, with the custom options of every request behind it where there are any;
    /// `nil` for nothing, or for what can no longer be read.
    func metadata(of serviceRoot: String) async -> CachedMetadata?
    /// Keeps a document; `nil` forgets it. A cache that cannot keep it does without.
    func setMetadata(_ metadata: CachedMetadata?, of serviceRoot: String) async
}

/// Metadata in memory, for as long as the process runs.
public actor MemoryMetadataCache: MetadataCache {
    /// The most services; the one that was not used for longest goes first.
    public static let capacity = 100
    private var documents = LeastRecentlyUsed<ExactText, CachedMetadata>(capacity: MemoryMetadataCache.capacity)

    /// Makes a cache.
    public init() {}

    /// What is kept for a service.
    public func metadata(of serviceRoot: String) -> CachedMetadata? { documents.use(ExactText(serviceRoot)) }

    /// Keeps a document.
    public func setMetadata(_ metadata: CachedMetadata?, of serviceRoot: String) {
        let key = ExactText(serviceRoot)
        documents.remove(key)
        guard let metadata else { return }
        documents.set(metadata, for: key)
    }
}

/// Metadata between runs, in a store, encrypted as the store is.
///
/// ```swift
/// let cache = PersistentMetadataCache(store)
/// let client = try ODataClient(
///     serviceRoot: root, transport: transport, configuration: .init(metadataCache: cache))
/// ```
public struct PersistentMetadataCache: MetadataCache {
    private let store: PersistentStore

    /// Makes a cache in a store, which may hold other things.
    public init(_ store: PersistentStore) { self.store = store }

    private static func name(_ serviceRoot: String) -> String { "metadata " + serviceRoot }

    /// What is kept for a service.
    public func metadata(of serviceRoot: String) async -> CachedMetadata? {
        try? await store.value(CachedMetadata.self, for: Self.name(serviceRoot))
    }

    /// Keeps a document.
    public func setMetadata(_ metadata: CachedMetadata?, of serviceRoot: String) async {
        if let metadata {
            try? await store.put(metadata, for: Self.name(serviceRoot))
        } else {
            _ = try? await store.remove(Self.name(serviceRoot))
        }
    }
}
