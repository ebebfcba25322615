import ODataModel
import ODataQuery
import Synchronization

/// A cache of resolved URLs for one provider: resolving a URL takes longer than finding it here.
///
/// A URL is found by the bytes of its text, for requests over HTTP, or by its syntax tree, for requests of the app.
/// Two URLs are the same only if they are equal byte by byte. A URL that was resolved against another model object
/// is resolved anew.
package final class ResolvedURLs: Sendable {
    /// The maximum number of cached URLs by text, and by tree.
    package static let capacity = 256
    /// The maximum length of a cached text in bytes of UTF-8, so that clients cannot fill the memory.
    package static let maxLength = 2_048

    private struct Entry {
        let resolved: ResolvedURL
        /// The whole URL, if it contains texts other than names and literals.
        let text: String?

        /// Returns whether the entry belongs to a URL that is equal byte by byte. Swift compares texts by canonical
        /// equivalence, databases by bytes.
        func isOf(_ url: ODataURL) -> Bool { text.map { $0.isIdentical(inUTF8To: url.urlEncoded()) } ?? true }
    }

    private let byText = Mutex(LeastRecentlyUsed<ExactText, ResolvedURL>(capacity: ResolvedURLs.capacity))
    private let byTree = Mutex(LeastRecentlyUsed<ODataURL, Entry>(capacity: ResolvedURLs.capacity))

    package init() {}

    /// Returns the resolved URL of a text for the same model object, from the cache or newly resolved.
    package func find(
        _ text: String, _ model: EntityDataModel, _ resolve: () throws(QueryError) -> ResolvedURL
    ) throws(QueryError) -> ResolvedURL {
        let key = ExactText(text)
        if let found = byText.withLock({ $0.use(key) }), found.model === model { return found }
        let made = try resolve()
        guard !made.isByID, Self.keeps(text) else { return made }
        byText.withLock { $0.set(made, for: key) }
        return made
    }

    /// Returns a URL resolved against the same model object, from the cache or newly resolved.
    package func find<Failure: Error>(
        _ url: ODataURL, _ model: EntityDataModel, _ bind: () throws(Failure) -> BoundURL
    ) throws(Failure) -> ResolvedURL {
        if let found = byTree.withLock({ $0.use(url) }), found.isOf(url), found.resolved.model === model {
            return found.resolved
        }
        let made = ResolvedURL(url: url, bound: try bind(), model: model)
        // Each use of an alias copies its value, so a short URL may have a large tree, which is not cached.
        guard url.options.aliases.isEmpty else { return made }
        let entry = Entry(resolved: made, text: url.textBeyondLiterals)
        byTree.withLock { $0.set(entry, for: url) }
        return made
    }

    /// Returns whether the URL of a text is cached.
    ///
    /// Each use of an alias (`@a`) copies its value, so a short text may have a large tree. Other trees are as
    /// large as their texts.
    package static func keeps(_ text: String) -> Bool {
        guard text.utf8.count <= maxLength else { return false }
        // The last two bytes as one number: an alias may be percent-encoded as "%40".
        var last: UInt16 = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: "@") || last == 0x2534 && byte == UInt8(ascii: "0") { return false }
            last = last << 8 | UInt16(byte)
        }
        return true
    }
}

extension ODataURL {
    /// The whole URL if it may contain texts other than names and literals: search words, ids, tokens, schemas and
    /// JSON.
    ///
    /// `nil` for nearly all URLs, whose names and literals distinguish them byte by byte.
    fileprivate var textBeyondLiterals: String? {
        let text = urlEncoded()
        return ["search", "$id", "{", "%7B", "token", ".*"].contains(where: text.contains) ? text : nil
    }
}
