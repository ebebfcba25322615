import HTTPTypes
import NIOSSL
import ODataService

/// A method of identifying the sender of a request.
///
/// A server tries its methods in order; the first one that identifies the sender decides.
public protocol RequestAuthenticator: Sendable {
    /// The value of `WWW-Authenticate` for this method (RFC 9110, 11.6.1); `nil` if there is no challenge.
    var challenge: String? { get }

    /// The required credentials in words for users, without quotation marks.
    var explanation: String { get }

    /// Returns the sender of a request, or `nil` if this method does not identify it.
    ///
    /// - Parameters:
    ///   - request: The head of the request.
    ///   - certificate: The client certificate, already verified by TLS.
    func principal(of request: HTTPRequest, certificate: NIOSSLCertificate?) async -> Principal?
}

extension HTTPRequest {
    /// Returns the text after the given scheme in `Authorization`, or `nil` for another scheme.
    func credentials(_ scheme: String) -> String? {
        guard let header = headerFields[.authorization], let space = header.firstIndex(of: " "),
            header[..<space].lowercased() == scheme
        else { return nil }
        return String(header[header.index(after: space)...].drop { $0 == " " })
    }
}
