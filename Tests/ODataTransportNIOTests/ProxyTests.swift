import HTTPTypes
import ODataClient
import ODataHTTP
import ODataTransportConformance
import ODataTransportNIO
import Testing
import WireFaults

@Suite("Proxies") struct ProxyTests {
    private static let hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

    @Test(arguments: [false, true])
    func `a proxy's challenge is answered, and its credentials go to it alone`(isTLS: Bool) async throws {
        let certificates = try TestCertificates()
        let proxy = try await ConnectProxy(authorization: "Basic YW5uOnB3")
        let server = try certificates.certificate(names: ["localhost"])
        let peer = try await RawPeer(
            sends: Self.hello, then: .keep, tls: isTLS ? try certificates.context(server) : nil)
        let trust = ServerTrust(authorities: .only(.file(certificates.authority)))
        try await withTransport(.init(trust: trust, proxy: .http(host: "127.0.0.1", port: proxy.port))) { transport in
            let root = "\(isTLS ? "https" : "http")://localhost:\(peer.port)/"
            let asked = ChallengedCredentials { challenge, _ in
                #expect(challenge.isProxy)
                return UserCredentials(user: "ann", password: "pw")
            }
            let session = try HTTPSession(
                transport, serviceRoot: root, configuration: .init(authentication: Authentication(asked)))
            let request = HTTPRequest(
                method: .get, scheme: isTLS ? "https" : "http", authority: "localhost:\(peer.port)", path: "/")
            for _ in 0..<2 {
                let (response, body) = try await session.send(request, body: nil)
                #expect(response.status == .ok)
                #expect(try await body.collect(limit: 10) == Array("hello".utf8))
            }
            let bare = await #expect(throws: TransportError.self) { _ = try await transport.send(request, body: nil) }
            #expect(bare == .proxyAuthenticationRequired(proxy: "127.0.0.1:\(proxy.port)"))
        }
        #expect(!peer.received.lowercased().contains("proxy-authorization"))
        #expect(proxy.requests.allSatisfy { $0.hasPrefix("CONNECT localhost:\(peer.port) ") })
        try await proxy.stop()
        try await peer.stop()
    }

    @Test func `a proxy that is not there is no connection`() async throws {
        let proxy = try await ConnectProxy()
        try await proxy.stop()
        try await withTransport(.init(proxy: .http(host: "127.0.0.1", port: proxy.port))) { transport in
            let request = HTTPRequest(method: .get, scheme: "http", authority: "localhost:1", path: "/")
            let error = await #expect(throws: TransportError.self) { _ = try await transport.send(request, body: nil) }
            #expect(error?.isCertainlyUnsent == true)
        }
    }
}
