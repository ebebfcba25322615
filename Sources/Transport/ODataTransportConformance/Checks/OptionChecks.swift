import ErrorCodes
import HTTPTypes
import ODataHTTP
import ODataService

extension TransportCheck {
    /// Checks of request options: each one is applied, or refused with a typed error before the request is
    /// sent.
    static let options: [TransportCheck] = [
        TransportCheck("credentials for a proxy go to it, or are refused", needs: [.sockets]) { subject in
            let peer = try await RawPeer(
                sends: "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", then: .close)
            let options = TransferOptions(proxyAuthorization: "Basic YW5uOnB3")
            let isProxied = try await subject.proxied(port: peer.port) { wire in
                _ = try? await wire.text(options: options)
                try await eventually("the proxy is asked") { !peer.received.isEmpty }
                try expect(
                    peer.received.lowercased().contains("proxy-authorization: basic yw5uonb3"),
                    "the proxy was not shown the credentials: \(peer.received)")
            }
            if !isProxied { try await expectRefusal(options, by: subject, peer) }
            try await peer.stop()
        },
        TransportCheck("a client certificate that cannot be shown is refused", needs: [.sockets]) { subject in
            let peer = try await RawPeer(sends: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", then: .keep)
            let text = Array("no certificate".utf8)
            for identity in [ClientIdentity.pem(chain: text, key: text), .pkcs12(text, passphrase: nil)] {
                try await expectRefusal(TransferOptions(clientIdentity: identity), by: subject, peer)
            }
            try await peer.stop()
        },
    ]

    /// Fails unless a request with these options throws a typed error and the peer receives nothing.
    private static func expectRefusal(
        _ options: TransferOptions, by subject: TransportSubject, _ peer: RawPeer
    ) async throws {
        try await subject.alone(port: peer.port) { wire in
            do {
                _ = try await wire.text(options: options)
            } catch is any CodedError {
                return try expect(peer.received.isEmpty, "something was sent: \(peer.received)")
            }
            throw ConformanceFailure("the option was ignored")
        }
    }
}
