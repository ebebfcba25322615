import ODataModel
import ODataQuery
import ODataService

/// The content of `$deltatoken` of a service's own store, and of `$skiptoken` while a tracked result is read page
/// by page: opaque to clients, ordered by the numbers of the log and never by time.
struct ChangeToken: Hashable {
    /// Where in the protocol the token stands.
    enum Stage: Hashable {
        /// A next link of the first result, with the page's own token.
        case page(String)
        /// A delta link.
        case delta
        /// A next link of a delta: where it ends, and the row that it goes on behind.
        case deltaPage(last: Int64, after: Int64)
    }

    /// The log that the numbers are of.
    var instance: String
    /// The query's hash.
    var query: String
    /// Changes behind this version are wanted; fixed before the first page is read.
    var since: Int64
    /// The version when the last page was read: who came later was never seen.
    var seen: Int64
    var stage: Stage

    private static let mark = "~"

    /// The token as text.
    var text: String {
        var fields: [String]
        switch stage {
        case .page(let token): fields = ["p", token]
        case .delta: fields = ["d", ""]
        case .deltaPage(let last, let after): fields = ["n", "\(last):\(after)"]
        }
        fields.insert(contentsOf: [instance, query, "\(since)", "\(seen)"], at: 1)
        return Self.mark + Base64URL.encode(Array(fields.joined(separator: " ").utf8))
    }

    init(instance: String, query: String, since: Int64, seen: Int64, stage: Stage) {
        self.instance = instance
        self.query = query
        self.since = since
        self.seen = seen
        self.stage = stage
    }

    /// Reads a token; `nil` when the text is a page token of the reader.
    ///
    /// - Throws: ``ODataError`` with status 400 when it is no token of this service.
    init?(_ text: String) throws {
        guard text.hasPrefix(Self.mark) else { return nil }
        guard let bytes = Base64URL.decode(String(text.dropFirst())),
            let decoded = String(validating: bytes, as: UTF8.self)
        else { throw DeltaToken.invalid }
        let fields = decoded.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 6, let since = Int64(fields[3]), let seen = Int64(fields[4]), since >= 0, seen >= since
        else { throw DeltaToken.invalid }
        switch fields[0] {
        case "p": stage = .page(fields[5])
        case "d": stage = .delta
        case "n":
            let parts = fields[5].split(separator: ":")
            guard parts.count == 2, let last = Int64(parts[0]), let after = Int64(parts[1]), last >= since else {
                throw DeltaToken.invalid
            }
            stage = .deltaPage(last: last, after: after)
        default: throw DeltaToken.invalid
        }
        instance = fields[1]
        query = fields[2]
        self.since = since
        self.seen = seen
    }
}
