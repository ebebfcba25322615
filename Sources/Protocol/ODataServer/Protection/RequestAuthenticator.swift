import HTTPTypes
import NIOSSL
import ODataService

/// A way to find out who sends a request.
///
/// A server asks each of its ways in turn; the first that knows the sender decides.
public protocol RequestAuthenticator: Sendable {
    /// The value of `WWW-Authenticate` that asks for this way (RFC 9110, 11.6.1); `nil` where none asks for it.
    var challenge: String? { get }

    /// What is needed, for people who got nowhere; without quotation marks.
    var explanation: String { get }

    /// Who sends a request; `nil` when this way does not know.
    ///
    /// - Parameters:
    ///   - request: the head of the request.
    ///   - certificate: what the client showed of itself within TLS; verified already.
    func principal(of request: HTTPRequest, certificate: NIOSSLCertificate?) async -> Principal?
}

extension HTTPRequest {
    /// What stands behind the scheme in `Authorization`; `nil` where that is of another scheme.
    func credentials(_ scheme: String) -> String? {
        guard let header = headerFields[.authorization], let space = header.firstIndex(of: " "),
            header[..<space].lowercased() == scheme
        else { return nil }
        return String(header[header.index(after: space)...].drop { $0 == " " })
    }
}
