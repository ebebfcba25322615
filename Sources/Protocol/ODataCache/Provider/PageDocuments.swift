import Foundation
import ODataModel
import ODataQuery
import ODataService

/// The pages of a ``CachingProvider`` as documents of its cache, so that they are saved together with its
/// entities. If the cache ignores documents, pages are lost with the process.
struct PageDocuments {
    private let cache: any EntityCache
    private let model: EntityDataModel

    init(_ cache: any EntityCache, _ model: EntityDataModel) {
        self.cache = cache
        self.model = model
    }

    private struct Document: Codable {
        /// The URLs of the entities, relative to the service root.
        var entities: [String]
        var count: Int64?
        var nextLink: String?
        /// The name of the first page, if a whole set was read.
        var start: String?
    }

    private static let prefix = "outpost.pages/"

    /// Returns the key of the document of a page, or of a whole set.
    private static func key(_ set: String, _ page: String?) -> String { "\(prefix)\(set)/\(page ?? "")" }

    private static func key(_ address: PageIndex.Address) -> String? {
        if case .page(let set, let text) = address { key(set, text) } else { nil }
    }

    // MARK: Pages

    func keep(_ page: PageIndex.Page, at address: PageIndex.Address) async {
        guard let key = Self.key(address) else { return }
        var start: String?
        if case .page(_, let text)? = page.start { start = text }
        await write(
            Document(
                entities: addresses(of: page.keys, in: address.set), count: page.count, nextLink: page.nextLink,
                start: start), as: key)
    }

    /// Returns the page at an address, or `nil` if there is none or it is unreadable.
    func page(at address: PageIndex.Address) async -> PageIndex.Page? {
        guard let key = Self.key(address), let document = await read(key),
            let keys = keys(of: document.entities, in: address.set)
        else { return nil }
        return PageIndex.Page(
            keys: keys, count: document.count, nextLink: document.nextLink,
            start: document.start.map { .page(address.set, $0) })
    }

    func keepWholeSet(_ keys: [EntityKey], of set: String) async {
        await write(Document(entities: addresses(of: keys, in: set)), as: Self.key(set, nil))
    }

    func wholeSet(_ set: String) async -> [EntityKey]? {
        guard let document = await read(Self.key(set, nil)) else { return nil }
        return keys(of: document.entities, in: set)
    }

    // MARK: Forgetting

    func forget(_ addresses: [PageIndex.Address]) async {
        for case let key? in addresses.map(Self.key) { await cache.setDocument(nil, for: key) }
    }

    /// Removes the pages of a set, or all pages.
    func forget(_ set: String? = nil) async {
        let prefix = set.map { Self.key($0, nil) } ?? Self.prefix
        for key in await cache.documentKeys where key.utf8.starts(with: prefix.utf8) {
            await cache.setDocument(nil, for: key)
        }
    }

    // MARK: Documents

    private func write(_ document: Document, as key: String) async {
        guard let bytes = try? JSONEncoder().encode(document) else { return }
        await cache.setDocument(CachedDocument(Array(bytes), contentType: "application/json"), for: key)
    }

    private func read(_ key: String) async -> Document? {
        guard let document = await cache.document(key) else { return nil }
        return try? JSONDecoder().decode(Document.self, from: Data(document.bytes))
    }

    private func addresses(of keys: [EntityKey], in set: String) -> [String] {
        keys.map { ODataURL(set: set, key: $0, model: model).urlEncoded() }
    }

    private func keys(of addresses: [String], in set: String) -> [EntityKey]? {
        var keys: [EntityKey] = []
        for address in addresses {
            guard let url = try? ODataURL(parsing: address),
                case .entity(set, let key) = CachedSubject(ODataRequest(.read, url), model)
            else { return nil }
            keys.append(key)
        }
        return keys
    }
}
