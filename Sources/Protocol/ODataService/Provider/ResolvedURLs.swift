import ODataModel
import ODataQuery
import Synchronization

/// The URLs that a provider's language has resolved before against its model: clients ask for the same again and again, and
/// reading a URL and resolving its names takes longer than finding the result.
///
/// A URL is found by the bytes of its text, as it comes over HTTP, or by its tree, as it comes from the app. Two URLs are one only if
/// they are equal byte by byte; a URL that was resolved against another model object is resolved anew.
package final class ResolvedURLs: Sendable {
    /// How many URLs are kept of each kind.
    package static let capacity = 256
    /// The longest text that is kept, in bytes of UTF-8, so that a stranger's requests do not fill the memory.
    package static let maxLength = 2_048

    private struct Entry {
        let resolved: ResolvedURL
        /// The whole URL, if it has texts besides its names and literals.
        let text: String?

        /// Whether the entry was made for a URL that is equal byte by byte: Swift takes texts for equal that are other texts to a
        /// database.
        func isOf(_ url: ODataURL) -> Bool { text.map { $0.isIdentical(inUTF8To: url.urlEncoded()) } ?? true }
    }

    private let byText = Mutex(LeastRecentlyUsed<ExactText, ResolvedURL>(capacity: ResolvedURLs.capacity))
    private let byTree = Mutex(LeastRecentlyUsed<ODataURL, Entry>(capacity: ResolvedURLs.capacity))

    package init() {}

    /// The URL that a text stands for in this very model, found or resolved.
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

    /// A URL resolved against this very model, found or resolved.
    package func find<Failure: Error>(
        _ url: ODataURL, _ model: EntityDataModel, _ bind: () throws(Failure) -> BoundURL
    ) throws(Failure) -> ResolvedURL {
        if let found = byTree.withLock({ $0.use(url) }), found.isOf(url), found.resolved.model === model {
            return found.resolved
        }
        let made = ResolvedURL(url: url, bound: try bind(), model: model)
        // Each use of an alias is a copy of its value: a short URL may become a large tree, which is not kept.
        guard url.options.aliases.isEmpty else { return made }
        let entry = Entry(resolved: made, text: url.textBeyondLiterals)
        byTree.withLock { $0.set(entry, for: url) }
        return made
    }

    /// Whether the URL of a text is kept. An alias (`@a`) stands for its value wherever it is used, so that a short text may
    /// become a large tree; any other text becomes a tree of its own size.
    package static func keeps(_ text: String) -> Bool {
        guard text.utf8.count <= maxLength else { return false }
        // The last two bytes, as one number: an alias may be percent-encoded, "%40".
        var last: UInt16 = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: "@") || last == 0x2534 && byte == UInt8(ascii: "0") { return false }
            last = last << 8 | UInt16(byte)
        }
        return true
    }
}

extension ODataURL {
    /// The whole URL, which is ASCII, if it may hold texts that are neither names nor literals: search words, ids, tokens,
    /// schemas of operations and JSON. `nil` for nearly all URLs, whose names and literals tell them apart byte by byte.
    fileprivate var textBeyondLiterals: String? {
        let text = urlEncoded()
        return ["search", "$id", "{", "%7B", "token", ".*"].contains(where: text.contains) ? text : nil
    }
}
