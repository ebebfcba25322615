import Foundation
import ODataModel
import ODataQuery
import ODataService

/// The content of `$deltatoken`, and of `$skiptoken` while a tracked result is read page by page: opaque to
/// clients, and good for one query on one database only.
///
/// Base64url of fields separated by spaces: the kind, the instance of the side file, the query's hash, the
/// version behind which changes are wanted, and for pages of a delta the version where it ends, for pages of the
/// first result the token of the page.
struct DeltaToken: Hashable {
    /// Where in the protocol the token stands.
    enum Stage: Hashable {
        /// A next link of the first result, with the page's own token.
        case page(String)
        /// A delta link.
        case delta
        /// A next link of a delta that ends at a version.
        case deltaPage(last: Int64)
    }

    var instance: String
    var query: String
    var version: Int64
    var stage: Stage

    /// The token as text.
    var text: String {
        let tail =
            switch stage {
            case .page(let token): ["p", instance, query, "\(version)", token]
            case .delta: ["d", instance, query, "\(version)"]
            case .deltaPage(let last): ["n", instance, query, "\(version)", "\(last)"]
            }
        return Self.mark + Base64URL.encode(Array(tail.joined(separator: " ").utf8))
    }

    /// What the tokens start with, which no page token of the reader does.
    private static let mark = "~"

    /// Reads a token; `nil` when the text is a page token of the reader.
    ///
    /// - Throws: ``ODataError`` with status 400 when it is no token of this service.
    init?(_ text: String) throws {
        guard text.hasPrefix(Self.mark) else { return nil }
        guard let bytes = Base64URL.decode(String(text.dropFirst())),
            let decoded = String(validating: bytes, as: UTF8.self)
        else { throw Self.invalid }
        let fields = decoded.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
        guard fields.count >= 4, let version = Int64(fields[3]), version >= 0 else { throw Self.invalid }
        switch (fields[0], fields.count) {
        case ("p", 5): stage = .page(fields[4])
        case ("d", 4): stage = .delta
        case ("n", 5):
            guard let last = Int64(fields[4]), last >= version else { throw Self.invalid }
            stage = .deltaPage(last: last)
        default: throw Self.invalid
        }
        instance = fields[1]
        query = fields[2]
        self.version = version
    }

    init(instance: String, query: String, version: Int64, stage: Stage) {
        self.instance = instance
        self.query = query
        self.version = version
        self.stage = stage
    }

    static let invalid = ODataError(
        status: 400, code: "InvalidDeltaToken", message: "The delta token is none that this service gave out.",
        target: "$deltatoken")

    /// 400 for a token of another query.
    static let foreign = ODataError(
        status: 400, code: "InvalidDeltaToken", message: "The delta token belongs to another query.",
        target: "$deltatoken")

    /// 410 for a token whose changes are no longer known (OData Protocol 4.01, 11.3).
    static let gone = ODataError(
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
