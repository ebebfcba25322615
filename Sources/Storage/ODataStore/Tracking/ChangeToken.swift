import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The content of `$deltatoken`, and of `$skiptoken` while a tracked result is read page by page: opaque to clients,
/// good for one query on one database only, ordered by the numbers of changes and never by time.
package struct ChangeToken: Hashable {
    /// Where in the protocol the token stands.
    package enum Stage: Hashable {
        /// A next link of the first result, with the page's own token.
        case page(String)
        /// A delta link.
        case delta
        /// A next link of a delta: where it ends, and what it goes on behind: the row of a log, else a version.
        case deltaPage(last: Int64, after: Int64)
    }

    /// What the numbers are of.
    var instance: String
    /// The query's hash.
    var query: String
    /// Changes behind this version are wanted; fixed before the first page is read.
    package var since: Int64
    /// The version when the last page was read: who came later was never seen.
    package var seen: Int64
    package var stage: Stage

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
        else { throw Self.invalid }
        let fields = decoded.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 6, let since = Int64(fields[3]), let seen = Int64(fields[4]), since >= 0, seen >= since
        else { throw Self.invalid }
        switch fields[0] {
        case "p": stage = .page(fields[5])
        case "d": stage = .delta
        case "n":
            let parts = fields[5].split(separator: ":")
            guard parts.count == 2, let last = Int64(parts[0]), let after = Int64(parts[1]), last >= since else {
                throw Self.invalid
            }
            stage = .deltaPage(last: last, after: after)
        default: throw Self.invalid
        }
        instance = fields[1]
        query = fields[2]
        self.since = since
        self.seen = seen
    }

    // MARK: Refusals

    /// 400 for a text that is no token.
    static let invalid = ODataError(
        status: 400, code: "InvalidDeltaToken", message: "The delta token is none that this service gave out.",
        target: "$deltatoken")

    /// 400 for a token of another query.
    static let foreign = ODataError(
        status: 400, code: "InvalidDeltaToken", message: "The delta token belongs to another query.",
        target: "$deltatoken")

    /// 410 for a token whose changes are no longer known (OData Protocol 4.01, 11.3).
    package static let gone = ODataError(
        status: 410, code: "DeltaTokenExpired",
        message: "The changes since this delta link are no longer known; read the collection again.",
        target: "$deltatoken")

    /// What tells one tracked query from another: its text without tokens.
    static func hash(of url: ODataURL) -> String {
        var url = url
        url.options.skipToken = nil
        url.options.deltaToken = nil
        url.options.format = nil
        url.options.count = nil
        var hash = QueryHash()
        hash.add(url.urlEncoded())
        return hash.text
    }
}
