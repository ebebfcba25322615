import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ODataHTTP

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Maps the errors of the network library by their meaning for the request: certainly unsent, or possibly
/// processed.
///
/// The distinction decides whether a change may be repeated. Therefore an unknown error counts as possibly
/// processed.
struct TransportErrorMapping {
    let origin: Origin
    /// The host in the request, for messages.
    let host: String
    private let proxy: NIOTransport.Proxy?

    init(origin: Origin, authority: String, proxy: NIOTransport.Proxy?) {
        self.origin = origin
        host = authority
        self.proxy = proxy
    }

    /// Maps an error before the head of the response.
    func headError(_ error: any Error) -> any Error {
        switch error {
        case let error as TransportError: error
        case is CancellationError: error
        case let error as HTTPClientError: clientError(error)
        case let error as NIOConnectionError: TransportError.cannotConnect(host: host, reason: reason(of: error))
        case let error as ChannelError: channelError(error)
        case let error as NIOSSLError: tlsError(error)
        case let error as BoringSSLError:
            clientCertificateRefusal("\(error)") ?? TransportError.connectionLost(host: host, reason: "\(error)")
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            TransportError.untrustedCertificate(
                host: host,
                reason: origin.isAddress
                    ? "it does not name the address; use the server's name instead of its address"
                    : "it names another host")
        case let error as NIOSSLExtraError:
            TransportError.cannotConnect(host: host, reason: error.description)
        case let error as IOError: ioError(error)
        case let error as HTTPParserError:
            TransportError.malformed(host: host, reason: "it is not HTTP (\(error))")
        default: TransportError.connectionLost(host: host, reason: "\(error)")
        }
    }

    /// Maps an error after the head: the response is truncated or late.
    func bodyError(_ error: any Error) -> any Error {
        switch error {
        case is TransportError, is CancellationError: error
        case let error as HTTPClientError where error == .readTimeout || error == .deadlineExceeded:
            TransportError.timedOut(host: host)
        case let error as HTTPClientError where error == .cancelled: CancellationError()
        case let error as HTTPClientError where error == .remoteConnectionClosed:
            TransportError.truncated(host: host, reason: "the connection was closed within the body")
        case let error as IOError:
            TransportError.truncated(
                host: host, reason: "the connection was reset within the body (\(error.errnoCode))")
        default: TransportError.truncated(host: host, reason: "\(error)")
        }
    }

    private func clientError(_ error: HTTPClientError) -> any Error {
        switch error {
        case .cancelled: return CancellationError()
        case .invalidURL, .emptyHost, .emptyScheme: return TransportError.invalidURL(host)
        case .connectTimeout: return TransportError.cannotConnect(host: host, reason: "no answer in time")
        case .tlsHandshakeTimeout:
            return TransportError.cannotConnect(host: host, reason: "the TLS handshake took too long")
        case .proxyAuthenticationRequired:
            return TransportError.proxyAuthenticationRequired(proxy: proxy?.description ?? host)
        case .invalidProxyResponse, .httpProxyHandshakeTimeout, .socksHandshakeTimeout:
            return TransportError.cannotConnect(
                host: host, reason: "the proxy \(proxy?.description ?? "") does not let it through")
        case .getConnectionFromPoolTimeout:
            return TransportError.cannotConnect(host: host, reason: "all connections stayed in use")
        case .alreadyShutdown: return TransportError.cannotConnect(host: host, reason: "the transport is shut down")
        case .readTimeout, .writeTimeout, .deadlineExceeded: return TransportError.timedOut(host: host)
        case .remoteConnectionClosed:
            return TransportError.connectionLost(host: host, reason: "closed before the answer")
        default:
            return TransportError.connectionLost(host: host, reason: error.shortDescription)
        }
    }

    private func channelError(_ error: ChannelError) -> TransportError {
        if case .connectTimeout = error {
            return .cannotConnect(host: host, reason: "no answer in time")
        }
        return .connectionLost(host: host, reason: "\(error)")
    }

    private func tlsError(_ error: NIOSSLError) -> TransportError {
        let cause: BoringSSLError
        switch error {
        case .handshakeFailed(let error), .shutdownFailed(let error): cause = error
        case .uncleanShutdown: return .connectionLost(host: host, reason: "it was closed without a good-bye")
        default: return .connectionLost(host: host, reason: "\(error)")
        }
        let text = "\(cause)"
        if let refused = clientCertificateRefusal(text) { return refused }
        if text.contains("CERTIFICATE_VERIFY_FAILED") {
            return .untrustedCertificate(host: host, reason: "no trusted authority vouches for it")
        }
        if text.contains("WRONG_VERSION_NUMBER") {
            return .cannotConnect(host: host, reason: "it does not speak TLS at this port; is it an http:// address?")
        }
        return .cannotConnect(host: host, reason: "the TLS handshake failed (\(text))")
    }

    /// Returns the error for a server's alert about the client certificate (RFC 8446, 6.2). In TLS 1.3 it
    /// arrives after the handshake, but before the server has read a request.
    private func clientCertificateRefusal(_ text: String) -> TransportError? {
        let alerts = [
            ("CERTIFICATE_REQUIRED", "it asks for one"), ("CERTIFICATE_REVOKED", "it is revoked"),
            ("CERTIFICATE_EXPIRED", "it has expired"), ("CERTIFICATE_UNKNOWN", "it is not accepted"),
            ("BAD_CERTIFICATE", "it is not accepted"), ("UNKNOWN_CA", "its authority is not accepted"),
            ("UNSUPPORTED_CERTIFICATE", "it is of a kind that is not accepted"),
        ]
        for (alert, reason) in alerts where text.contains("ALERT_\(alert)") {
            return .clientCertificateRefused(host: host, reason: reason)
        }
        return nil
    }

    private func ioError(_ error: IOError) -> TransportError {
        let unreachable = [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL, EHOSTDOWN]
        let reason = Self.systemReason(of: error)
        // An established connection may fail with the same codes if a router reports an unreachable network
        // (RFC 1122, 4.2.3.9). Only errors of connecting, which say so in their text, mean that nothing was
        // sent.
        let isOfConnecting = error.description.contains("connect")
        return isOfConnecting && unreachable.contains(error.errnoCode)
            ? .cannotConnect(host: host, reason: reason) : .connectionLost(host: host, reason: reason)
    }

    /// Returns the message of the system. The text of the error also names the failed function.
    private static func systemReason(of error: IOError) -> String { String(cString: strerror(error.errnoCode)) }

    private func reason(of error: NIOConnectionError) -> String {
        if let failure = error.connectionErrors.first?.error {
            return (failure as? IOError).map(Self.systemReason) ?? "\(failure)"
        }
        if error.dnsAError ?? error.dnsAAAAError != nil { return "the name cannot be resolved" }
        return "no address answers"
    }
}
