import Foundation
import ODataModel
import ODataService

/// A store of cached responses: in memory, persistent, or provided by an app.
public protocol ResponseStore: Sendable {
    /// Returns the responses for a URL, one for each set of header fields by which they vary.
    func responses(for url: String) async -> [StoredResponse]
    /// Replaces all responses for a URL; an empty array removes them. A store that cannot keep them ignores
    /// them.
    func setResponses(_ responses: [StoredResponse], for url: String) async
    /// Removes the responses of all URLs with a prefix.
    func removeResponses(withPrefix prefix: String) async
    /// Removes all responses.
    func removeAll() async
}

/// A store that keeps responses in memory, up to a number of bytes.
public actor MemoryResponseStore: ResponseStore {
    /// The maximum number of bytes of all responses.
    public let capacity: Int
    private var responses = LeastRecentlyUsed<ExactText, [StoredResponse]>()

    /// Creates a store.
    ///
    /// - Parameter capacity: The maximum number of bytes of all responses, 16 MiB by default. The least
    ///   recently used ones are removed first.
    public init(capacity: Int = 16 << 20) { self.capacity = capacity }

    /// Returns the responses for a URL and marks them as used.
    public func responses(for url: String) -> [StoredResponse] { responses.use(ExactText(url)) ?? [] }

    /// Replaces all responses for a URL.
    public func setResponses(_ new: [StoredResponse], for url: String) {
        let key = ExactText(url)
        responses.remove(key)
        let cost = new.reduce(url.utf8.count + 512) { $0 + $1.body.count + 1024 }
        guard !new.isEmpty, cost <= capacity else { return }
        responses.set(new, cost: cost, for: key)
        while responses.cost > capacity, let oldest = responses.oldest() { responses.remove(oldest) }
    }

    /// Removes the responses of all URLs with a prefix.
    public func removeResponses(withPrefix prefix: String) {
        for (url, _) in responses.inOrder where url.text.utf8.starts(with: prefix.utf8) { responses.remove(url) }
    }

    /// Removes all responses.
    public func removeAll() { responses.removeAll() }

    /// The number of bytes of all responses, including overhead.
    public var byteCount: Int { responses.cost }
}

/// A store that keeps responses in a ``PersistentStore``, with its encryption.
///
/// ```swift
/// let name = try SecretName("responses")
/// let store = PersistentStore(folder: folder, key: .generated(in: keys, named: name))
/// let cache = ResponseCache(store: PersistentResponseStore(store))
/// ```
///
/// An index lists all responses. The index is an item of the same store, so that objects and processes with the
/// same folder share it. A damaged index is replaced by an empty one.
public actor PersistentResponseStore: ResponseStore {
    /// The maximum number of bytes of all responses before encryption.
    public let capacity: Int
    private let store: PersistentStore

    private struct Index: Codable {
        struct Entry: Codable {
            var bytes: Int
            var used: Date
        }
        var entries: [String: Entry] = [:]
        var bytes: Int { entries.values.reduce(0) { $0 + $1.bytes } }
    }

    private static let indexName = "responses"
    private static func name(_ url: String) -> String { "response " + url }

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - store: The store for items; it may contain other items.
    ///   - capacity: The maximum number of bytes of all responses, 64 MiB by default. The oldest ones are
    ///     removed first.
    public init(_ store: PersistentStore, capacity: Int = 64 << 20) {
        self.store = store
        self.capacity = capacity
    }

    /// Returns the responses for a URL. A damaged item counts as missing.
    public func responses(for url: String) async -> [StoredResponse] {
        guard let found = try? await store.value([StoredResponse].self, for: Self.name(url)) else { return [] }
        return found
    }

    /// Replaces all responses for a URL.
    public func setResponses(_ new: [StoredResponse], for url: String) async {
        let (capacity, name) = (capacity, Self.name(url))
        let bytes = new.reduce(0) { $0 + $1.body.count + 1024 }
        // A URL that is too long for a name is not cached.
        let isKept = !new.isEmpty && bytes <= capacity && name.utf8.count <= store.limits.nameBytes
        try? await store.exclusively { store throws(PersistenceError) in
            var index = Self.index(of: store)
            index.entries[url] = isKept ? Index.Entry(bytes: bytes, used: Date()) : nil
            if !isKept { try store.removeLocked(name) }
            while index.bytes > capacity, let oldest = index.entries.min(by: { $0.value.used < $1.value.used })?.key {
                index.entries[oldest] = nil
                try store.removeLocked(Self.name(oldest))
            }
            // The index is written first: a response that it does not contain would never be removed.
            try store.putLocked(index, for: Self.indexName)
            if isKept { try store.putLocked(new, for: name) }
        }
    }

    /// Removes the responses of all URLs with a prefix.
    public func removeResponses(withPrefix prefix: String) async {
        try? await store.exclusively { store throws(PersistenceError) in
            var index = Self.index(of: store)
            for url in index.entries.keys where url.hasPrefix(prefix) {
                index.entries[url] = nil
                try store.removeLocked(Self.name(url))
            }
            try store.putLocked(index, for: Self.indexName)
        }
    }

    /// Removes all responses; other items in the store are kept.
    public func removeAll() async { await removeResponses(withPrefix: "") }

    private static func index(of store: isolated PersistentStore) -> Index {
        if let index = try? store.value(Index.self, for: indexName) { return index }
        // Without the index, responses that are not listed would never be removed.
        for name in (try? store.names()) ?? [] where name.hasPrefix(Self.name("")) {
            try? store.removeLocked(name)
        }
        return Index()
    }
}
