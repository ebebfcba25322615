import HTTPTypes
import ODataHTTP

/// The form that a request must have whoever it is for: its target, its host and its framing (RFC 9110 and 9112).
enum RequestForm {
    /// Settles where the host of a request of HTTP/2 stands: `Host` may take the place of `:authority`, or repeat it
    /// (RFC 9113, 8.3.1).
    static func settleHost(of head: inout HTTPRequest) {
        let hosts = head.headerFields[values: .hostField]
        guard hosts.count == 1, let host = hosts.first, head.authority ?? host == host else { return }
        head.authority = host
        head.headerFields[.hostField] = nil
    }

    /// The objection to the form of a request.
    ///
    /// - Parameter head: a head whose host is settled; in HTTP/1 a second `Host` still stands among its fields.
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
                message: "The only expectation that is met is 100-continue.")
        }
        return nil
    }

    /// The objection to how the end of a body is told (RFC 9112, 6.1).
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
            message: "The only transfer coding that is understood is chunked.")
    }

    private static func invalid(_ code: String, _ message: String) -> Refusal {
        Refusal(status: .badRequest, code: code, message: message)
    }
}

extension HTTPField.Name {
    /// `Host` among the other fields; the fallback can never be reached, but nothing may trap.
    static let hostField = HTTPField.Name("Host") ?? .origin
}
