import ODataModel
import ODataQuery
import ODataService
import Synchronization

/// URLs of requests that were read and resolved before, by the bytes of their texts below the service root: clients ask for the
/// same again and again, and reading a URL and resolving its names takes longer than finding what was made of it.
final class ResolvedURLs: Sendable {
    /// How many are kept.
    static let capacity = 256
    /// The longest text that is kept, in bytes of UTF-8: what a stranger sends does not fill the memory.
    static let maxLength = 2_048

    /// Whether what is made of a text is kept. An alias (`@a`) stands for its value wherever it is used, so that a short text may
    /// become a large tree; any other text becomes a tree of its own size.
    static func keeps(_ text: String) -> Bool {
        guard text.utf8.count <= maxLength else { return false }
        // The last two bytes, as one number: an alias may be percent-encoded, "%40".
        var last: UInt16 = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: "@") || last == 0x2534 && byte == UInt8(ascii: "0") { return false }
            last = last << 8 | UInt16(byte)
        }
        return true
    }

    private struct Known {
        let model: EntityDataModel
        var urls = RecentlyUsed<ExactText, ResolvedURL>(capacity: ResolvedURLs.capacity)
    }

    private let known = Mutex<Known?>(nil)

    /// What was made of a text with this very model, or is made of it now.
    func find(
        _ text: String, _ model: EntityDataModel, _ resolve: () throws(QueryError) -> ResolvedURL
    ) throws(QueryError) -> ResolvedURL {
        let key = ExactText(text)
        let found = known.withLock { known in known?.model === model ? known?.urls.find(key) : nil }
        if let found { return found }
        let made = try resolve()
        guard !made.isByID, Self.keeps(text) else { return made }
        known.withLock { known in
            if known?.model !== model { known = Known(model: model) }
            known?.urls.keep(made, for: key)
        }
        return made
    }
}
