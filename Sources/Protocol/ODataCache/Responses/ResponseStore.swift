import Foundation
import ODataModel
import ODataService

/// Where an HTTP cache keeps responses: in memory, between runs, or where an app wants them.
public protocol ResponseStore: Sendable {
    /// The responses that are kept for a URL, one for each set of header fields that they vary by.
    func responses(for url: String) async -> [StoredResponse]
    /// Keeps responses in place of all that there are for a URL; none removes them. A store that cannot keep them does
    /// without.
    func setResponses(_ responses: [StoredResponse], for url: String) async
    /// Removes what is kept for the URLs that begin with a text.
    func removeResponses(withPrefix prefix: String) async
    /// Removes everything.
    func removeAll() async
}

/// Responses in memory, up to a number of bytes.
public actor MemoryResponseStore: ResponseStore {
    /// The most bytes of all responses.
    public let capacity: Int
    private var responses = LeastRecentlyUsed<ExactText, [StoredResponse]>()

    /// Makes a store.
    ///
    /// - Parameter capacity: The most bytes of all responses, 16 MiB if not said; those that were not used for longest
    ///   go first.
    public init(capacity: Int = 16 << 20) { self.capacity = capacity }

    /// The responses for a URL, which count as used then.
    public func responses(for url: String) -> [StoredResponse] { responses.use(ExactText(url)) ?? [] }

    /// Keeps responses.
    public func setResponses(_ new: [StoredResponse], for url: String) {
        let key = ExactText(url)
        responses.remove(key)
        let cost = new.reduce(url.utf8.count + 512) { $0 + $1.body.count + 1024 }
        guard !new.isEmpty, cost <= capacity else { return }
        responses.set(new, cost: cost, for: key)
        while responses.cost > capacity, let oldest = responses.oldest() { responses.remove(oldest) }
    }

    /// Removes what begins with a text.
    public func removeResponses(withPrefix prefix: String) {
        for (url, _) in responses.inOrder where url.text.utf8.starts(with: prefix.utf8) { responses.remove(url) }
    }

    /// Removes everything.
    public func removeAll() { responses.removeAll() }

    /// The bytes of all responses, with what is kept beside them.
    public var byteCount: Int { responses.cost }
}

/// Responses between runs, in a ``PersistentStore``: encrypted at rest like everything there.
///
/// ```swift
/// let name = try SecretName("responses")
/// let store = PersistentStore(folder: folder, key: .generated(in: secrets, named: name))
/// let cache = ResponseCache(store: PersistentResponseStore(store))
/// ```
///
/// It knows what it has by an index that is an item too, and changes with it: objects and processes that share a folder
/// know what the others keep. A damaged index is made anew from nothing.
public actor PersistentResponseStore: ResponseStore {
    /// The most bytes of all responses, as they are before they are encrypted.
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

    /// Makes a store.
    ///
    /// - Parameters:
    ///   - store: Where items are kept; it may hold other things.
    ///   - capacity: The most bytes of all responses, 64 MiB if not said; those that were not used for longest go first.
    public init(_ store: PersistentStore, capacity: Int = 64 << 20) {
        self.store = store
        self.capacity = capacity
    }

    /// The responses for a URL. A damaged one is none.
    public func responses(for url: String) async -> [StoredResponse] {
        guard let found = try? await store.value([StoredResponse].self, for: Self.name(url)) else { return [] }
        return found
    }

    /// Keeps responses.
    public func setResponses(_ new: [StoredResponse], for url: String) async {
        let (capacity, name) = (capacity, Self.name(url))
        let bytes = new.reduce(0) { $0 + $1.body.count + 1024 }
        // A URL that is too long for a name is not kept.
        let isKept = !new.isEmpty && bytes <= capacity && name.utf8.count <= store.limits.nameBytes
        try? await store.exclusively { store throws(PersistenceError) in
            var index = Self.index(of: store)
            index.entries[url] = isKept ? Index.Entry(bytes: bytes, used: Date()) : nil
            if !isKept { try store.removeLocked(name) }
            while index.bytes > capacity, let oldest = index.entries.min(by: { $0.value.used < $1.value.used })?.key {
                index.entries[oldest] = nil
                try store.removeLocked(Self.name(oldest))
            }
            // The index first: what it does not know would be answered for ever.
            try store.putLocked(index, for: Self.indexName)
            if isKept { try store.putLocked(new, for: name) }
        }
    }

    /// Removes what begins with a text.
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

    /// Removes all responses; other things in the store stay.
    public func removeAll() async { await removeResponses(withPrefix: "") }

    private static func index(of store: isolated PersistentStore) -> Index {
        if let index = try? store.value(Index.self, for: indexName) { return index }
        // Nobody knows of what there is otherwise.
        for name in (try? store.names()) ?? [] where name.hasPrefix(Self.name("")) {
            try? store.removeLocked(name)
        }
        return Index()
    }
}
