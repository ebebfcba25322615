import HTTPTypes
import ODataHTTP

/// The required form of every request: its target, its host and its framing (RFC 9110 and 9112).
enum RequestForm {
    /// Moves the host of an HTTP/2 request to `:authority`. `Host` may replace `:authority` or repeat it (RFC
    /// 9113, 8.3.1).
    static func settleHost(of head: inout HTTPRequest) {
        let hosts = head.headerFields[values: .hostField]
        guard hosts.count == 1, let host = hosts.first, head.authority ?? host == host else { return }
        head.authority = host
        head.headerFields[.hostField] = nil
    }

    /// Returns a refusal of a request with an invalid form.
    ///
    /// - Parameter head: The head after its host was determined. In HTTP/1, a second `Host` is still among its
    ///   fields.
    static func refusal(of head: HTTPRequest) -> Refusal? {
        guard let authority = head.authority, head.headerFields[.hostField] == nil, Authority(authority) != nil else {
            return invalid("InvalidHost", "A request names one host, and its port if it is not the usual one.")
        }
        guard let path = head.path, path.hasPrefix("/") || head.method == .options && path == "*" else {
            return invalid("InvalidRequestTarget", "The target of a request is a path, or a URL of http or https.")
        }
        if let refusal = framing(head) { return refusal }
        if let expectation = head.headerFields[.expect], expectation.lowercased() != "100-continue" {
            return Refusal(
                status: .expectationFailed, code: "ExpectationFailed",
                message: "The only supported expectation is 100-continue.")
        }
        return nil
    }

    /// Returns a refusal of an invalid message framing (RFC 9112, 6.1).
    private static func framing(_ head: HTTPRequest) -> Refusal? {
        let values = head.headerFields[values: .transferEncoding]
        guard !values.isEmpty else { return nil }
        let codings = values.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
            .map { $0.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }.lowercased() }
        if codings == ["chunked"] { return nil }
        if codings.contains("chunked"), codings.last != "chunked" || codings.filter({ $0 == "chunked" }).count > 1 {
            return invalid("InvalidTransferEncoding", "The last transfer coding is chunked, and no other one is.")
        }
        return Refusal(
            status: .notImplemented, code: "UnknownTransferEncoding",
            message: "The only supported transfer coding is chunked.")
    }

    private static func invalid(_ code: String, _ message: String) -> Refusal {
        Refusal(status: .badRequest, code: code, message: message)
    }
}

extension HTTPField.Name {
    /// The field `Host`. The fallback is never reached, but avoids a trap.
    static let hostField = HTTPField.Name("Host") ?? .origin
}
