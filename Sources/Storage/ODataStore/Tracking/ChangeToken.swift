import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The content of `$deltatoken`, and of `$skiptoken` on the pages of a tracked result. A token is opaque to
/// clients and is valid for one query on one database. Tokens contain version numbers, not times.
package struct ChangeToken: Hashable {
    /// The stage of change tracking.
    package enum Stage: Hashable {
        /// A next link of the first result, with the page token of the reader.
        case page(String)
        /// A delta link.
        case delta
        /// A next link of a delta, with the last version and the position after which it continues: the row id
        /// in a log, or a version.
        case deltaPage(last: Int64, after: Int64)
    }

    /// The identifier of the version sequence.
    var instance: String
    /// The hash of the query.
    var query: String
    /// The version after which changes are requested, determined before the first page is read.
    package var since: Int64
    /// The version at which the last page was read. Rows inserted later were never seen by the client.
    package var seen: Int64
    package var stage: Stage

    private static let mark = "~"

    /// The encoded token.
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

    /// Decodes a token; `nil` for a page token of the reader.
    ///
    /// - Throws: ``ODataError`` 400 if the text is not a token of the service.
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

    /// Status 400: the text is not a token of the service.
    static let invalid = ODataError(
        status: 400, code: "InvalidDeltaToken", message: "The delta token is none that this service gave out.",
        target: "$deltatoken")

    /// Status 400: the token belongs to another query.
    static let foreign = ODataError(
        status: 400, code: "InvalidDeltaToken", message: "The delta token belongs to another query.",
        target: "$deltatoken")

    /// Status 410: the changes since the token have been removed (OData Protocol 4.01, 11.3).
    package static let gone = ODataError(
        status: 410, code: "DeltaTokenExpired",
        message: "The changes since this delta link are no longer known; read the collection again.",
        target: "$deltatoken")

    /// Returns the hash of a tracked query's URL, without tokens, `$format` and `$count`.
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
