import HTTPTypes
import ODataService

/// Sends HTTP messages: the NIO client, `URLSession`, or a handler in the same process.
public protocol HTTPTransport: Sendable {
    /// Sends a request and gives the response as soon as its head has arrived.
    ///
    /// - Parameters:
    ///   - request: method, absolute URL and header fields.
    ///   - body: what to send, if anything; pulled as the connection takes it.
    /// - Returns: the head, and the body to be pulled.
    /// - Throws: ``TransportError``; the body's stream throws it too.
    func send(_ request: HTTPRequest, body: ByteStream?) async throws -> (HTTPResponse, ByteStream)
}

/// Why no response came, or only a part of it.
public enum TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The URL is not one this transport can send to.
    case invalidURL(String)
    /// No connection could be made: nothing reached the service.
    case cannotConnect(host: String, reason: String)
    /// The server's certificate is not trusted: nothing was sent.
    case untrustedCertificate(host: String, reason: String)
    /// Nothing came in time; the request may have acted.
    case timedOut(host: String)
    /// The connection was lost after the request had begun: it may have acted.
    case connectionLost(host: String, reason: String)
    /// The body ended early or broke the protocol.
    case truncated(host: String, reason: String)

    /// Whether the service certainly did not see the request, so that it can be sent again.
    public var isCertainlyUnsent: Bool {
        switch self {
        case .invalidURL, .cannotConnect, .untrustedCertificate: true
        case .timedOut, .connectionLost, .truncated: false
        }
    }

    /// What happened and with whom.
    public var description: String {
        switch self {
        case .invalidURL(let url): "\(url) is not an http or https URL."
        case .cannotConnect(let host, let reason): "Cannot connect to \(host): \(reason)"
        case .untrustedCertificate(let host, let reason): "The certificate of \(host) is not trusted: \(reason)"
        case .timedOut(let host): "\(host) did not answer in time."
        case .connectionLost(let host, let reason): "The connection to \(host) was lost: \(reason)"
        case .truncated(let host, let reason): "The answer of \(host) is incomplete: \(reason)"
        }
    }
}
