import HTTPTypes
import ODataHTTP
import ODataServer
import ODataService
import ODataTransportConformance
import ODataTransportNIO
import Synchronization
import Testing

/// The servers that the transport trusts, over real TLS with generated certificates.
@Suite("Server trust") struct ServerTrustTests {
    private static let hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

    /// The error of a request over TLS to a server with a certificate; `nil` if it is answered.
    private func refusal(
        _ certificates: TestCertificates, _ pair: TestCertificates.Pair, trust: ServerTrust,
        host: String = "localhost"
    ) async throws -> TransportError? {
        let peer = try await RawPeer(sends: Self.hello, then: .keep, tls: try certificates.context(pair))
        let result = try await withTransport(.init(connectTimeout: .seconds(60), trust: trust)) { transport in
            do {
                let request = HTTPRequest(method: .get, scheme: "https", authority: "\(host):\(peer.port)", path: "/")
                let (response, body) = try await transport.send(request, body: nil)
                #expect(response.status == .ok)
                #expect(try await body.collect(limit: 10) == Array("hello".utf8))
                return nil as TransportError?
            } catch let error as TransportError {
                return error
            }
        }
        if result != nil { #expect(!peer.received.contains("GET"), "nothing was sent") }
        try await peer.stop()
        return result
    }

    private func reason(_ error: TransportError?) -> String {
        if case .untrustedCertificate(_, let reason) = error {
            reason
        } else {
            "\(error.map(String.init(describing:)) ?? "trusted")"
        }
    }

    @Test func `a certificate of a trusted authority that names the host is accepted`() async throws {
        let certificates = try TestCertificates()
        let pair = try certificates.certificate(names: ["localhost", "127.0.0.1"])
        let pem = CertificateSource.pem(Array(try certificates.root.pem.utf8))
        let authorities: [ServerTrust.Authorities] = [
            .only(.file(certificates.authority)), .systemAnd(.file(certificates.authority)), .only(pem),
            .systemAnd(pem),
        ]
        for authorities in authorities {
            let trust = ServerTrust(authorities: authorities) { _ in
                Issue.record("a trusted chain needs no decision")
                return false
            }
            #expect(try await refusal(certificates, pair, trust: trust) == nil)
            #expect(try await refusal(certificates, pair, trust: trust, host: "127.0.0.1") == nil)
        }
    }

    @Test func `the fault of a certificate is named, and nothing is sent`() async throws {
        let certificates = try TestCertificates()
        let others = try TestCertificates()
        let trust = ServerTrust(authorities: .only(.file(certificates.authority)))
        let expired = try certificates.certificate(names: ["localhost"], from: -9, until: -1)
        #expect(reason(try await refusal(certificates, expired, trust: trust)).hasPrefix("it expired on 20"))
        let early = try certificates.certificate(names: ["localhost"], from: 1, until: 2)
        #expect(reason(try await refusal(certificates, early, trust: trust)).hasPrefix("it is not valid before 20"))
        let wrongHost = try certificates.certificate(names: ["elsewhere.example", "*.example.com"])
        #expect(
            reason(try await refusal(certificates, wrongHost, trust: trust))
                == "it names another host (elsewhere.example, *.example.com)")
        let untrusted = try others.certificate(names: ["localhost"])
        #expect(reason(try await refusal(others, untrusted, trust: trust)) == "no trusted authority vouches for it")
        #expect(reason(try await refusal(others, untrusted, trust: .system)) == "no trusted authority vouches for it")
        let client = try certificates.certificate(names: ["localhost"], uses: [.clientAuth])
        #expect(try await refusal(certificates, client, trust: trust) != nil)
        let server = try certificates.certificate(names: ["localhost"], uses: [.serverAuth])
        #expect(try await refusal(certificates, server, trust: trust) == nil)
        #expect(try await refusal(others, untrusted, trust: trust)?.isCertainlyUnsent == true)
    }

    @Test func `an address in place of a name is diagnosed`() async throws {
        let certificates = try TestCertificates()
        let pair = try certificates.certificate(names: ["localhost"])
        let trust = ServerTrust(authorities: .only(.file(certificates.authority)))
        #expect(
            reason(try await refusal(certificates, pair, trust: trust, host: "127.0.0.1"))
                == "it names localhost, and not the address 127.0.0.1; use the server's name instead of its address")
    }

    @Test func `a closure decides about an untrusted chain, and sees the names in it`() async throws {
        let certificates = try TestCertificates()
        let pair = try certificates.certificate("shop", names: ["localhost", "10.0.0.1"])
        let seen = Mutex<ServerTrustQuestion?>(nil)
        let yes = ServerTrust { question in
            seen.withLock { $0 = question }
            return true
        }
        #expect(try await refusal(certificates, pair, trust: yes) == nil)
        let question = try #require(seen.withLock { $0 })
        #expect(question.host == "localhost")
        #expect(question.reason == "no trusted authority vouches for it")
        let leaf = try #require(question.chain.first)
        #expect(leaf.commonName == "shop")
        #expect(leaf.issuerCommonName?.hasPrefix("Test CA") == true)
        #expect(leaf.names == ["localhost", "10.0.0.1"])
        #expect(leaf.pin == pair.pin)
        #expect(leaf.fingerprint.count == 64)
        #expect(leaf.notAfter - leaf.notBefore == 3 * 86_400)
        #expect(!leaf.bytes.isEmpty && !leaf.serialNumber.isEmpty)
        let no = ServerTrust { _ in false }
        #expect(reason(try await refusal(certificates, pair, trust: no)) == "no trusted authority vouches for it")
    }

    @Test func `a pinned key is required for any authority, and the closure cannot waive it`() async throws {
        let certificates = try TestCertificates()
        let pair = try certificates.certificate(names: ["localhost"])
        let stranger = try TestCertificates()
        var trust = ServerTrust(authorities: .only(.file(certificates.authority)), pins: [pair.pin])
        #expect(try await refusal(certificates, pair, trust: trust) == nil)
        trust.pins = [certificates.root.pin, "another"]
        #expect(try await refusal(certificates, pair, trust: trust) == nil)
        trust.pins = [stranger.root.pin]
        #expect(reason(try await refusal(certificates, pair, trust: trust)) == "none of its keys is pinned")
        trust.decide = { _ in true }
        #expect(reason(try await refusal(certificates, pair, trust: trust)) == "none of its keys is pinned")
        trust.authorities = .system
        #expect(
            reason(try await refusal(certificates, pair, trust: trust))
                == "none of its keys is pinned, and no trusted authority vouches for it")
        trust.pins = [pair.pin]
        #expect(try await refusal(certificates, pair, trust: trust) == nil)
    }

    @Test func `TLS to a server without TLS cannot connect, and the message names the likely cause`() async throws {
        let peer = try await RawPeer(sends: Self.hello, then: .keep)
        try await withTransport(.init(connectTimeout: .seconds(3))) { transport in
            let request = HTTPRequest(method: .get, scheme: "https", authority: "localhost:\(peer.port)", path: "/")
            let error = await #expect(throws: TransportError.self) { _ = try await transport.send(request, body: nil) }
            #expect(error?.description.contains("http:// address") == true)
            #expect(error?.isCertainlyUnsent == true)
        }
        try await peer.stop()
    }

    @Test func `a handshake that never ends is cut off`() async throws {
        let peer = try await RawPeer(then: .silence)
        try await withTransport(.init(connectTimeout: .milliseconds(300))) { transport in
            let request = HTTPRequest(method: .get, scheme: "https", authority: "localhost:\(peer.port)", path: "/")
            let error = await #expect(throws: TransportError.self) { _ = try await transport.send(request, body: nil) }
            #expect(error?.isCertainlyUnsent == true)
        }
        try await peer.stop()
    }

    @Test func `connections within TLS are kept, and their moments told`() async throws {
        let certificates = try TestCertificates()
        let peer = try await RawPeer(
            sends: Self.hello, then: .keep,
            tls: try certificates.context(try certificates.certificate(names: ["localhost"])))
        let trust = ServerTrust(authorities: .only(.file(certificates.authority)))
        try await withTransport(.init(trust: trust)) { transport in
            for expected in [["connected", "secured", "sent", "first", "last"], ["reused", "sent", "first", "last"]] {
                let moments = Mutex<[String]>([])
                let options = TransferOptions { event in
                    let name: String? =
                        switch event {
                        case .connected: "connected"
                        case .secured: "secured"
                        case .reusedConnection: "reused"
                        case .requestSent: "sent"
                        case .firstByte: "first"
                        case .lastByte: "last"
                        default: nil
                        }
                    if let name { moments.withLock { $0.append(name) } }
                }
                let request = HTTPRequest(
                    method: .get, scheme: "https", authority: "localhost:\(peer.port)", path: "/x")
                let (_, body) = try await transport.send(request, body: nil, options: options)
                _ = try await body.collect(limit: 10)
                #expect(moments.withLock { $0 } == expected)
            }
        }
        #expect(peer.accepted == 1)
        #expect(peer.received.contains("Host: localhost:\(peer.port)\r\n"))
        #expect(!peer.received.lowercased().contains("transfer-number"))
        try await peer.stop()
    }

    @Test func `over HTTP/2 too a reader may pause for longer than the service may be silent, and the service may not`()
        async throws
    {
        let certificates = try TestCertificates()
        let tls = ODataServer.TLS(certificateChainFile: certificates.chain, privateKeyFile: certificates.key)
        try await withServer(.init(tls: tls)) { request, _ in
            if request.path == "/silent" { try? await Task.sleep(for: .seconds(15)) }
            let left = Mutex(64)
            let body = ByteStream {
                let isMore = left.withLock { left in
                    left -= 1
                    return left >= 0
                }
                return isMore ? [UInt8](repeating: 120, count: 65_536) : nil
            }
            return (HTTPResponse(status: .ok), body)
        } _: { server in
            let trust = ServerTrust(authorities: .only(.file(certificates.authority)))
            let configuration = NIOTransport.Configuration(
                readTimeout: .seconds(5), trust: trust, allowsHTTP2: true)
            try await withTransport(configuration) { transport in
                func request(_ path: String) -> HTTPRequest {
                    HTTPRequest(method: .get, scheme: "https", authority: "localhost:\(server.port)", path: path)
                }
                let (_, body) = try await transport.send(request("/large"), body: nil)
                var count = try await body.next()?.count ?? 0
                try await Task.sleep(for: .seconds(7))
                while let chunk = try await body.next() { count += chunk.count }
                #expect(count == 64 * 65_536)
                await #expect(throws: TransportError.timedOut(host: "localhost:\(server.port)")) {
                    _ = try await transport.send(request("/silent"), body: nil)
                }
            }
        }
    }

    @Test func `HTTP/2 is spoken where it is allowed, with the same trust`() async throws {
        let certificates = try TestCertificates()
        let tls = ODataServer.TLS(certificateChainFile: certificates.chain, privateKeyFile: certificates.key)
        try await withServer(.init(tls: tls)) { request, body in
            (HTTPResponse(status: .ok), ByteStream(Array((request.path ?? "").utf8)))
        } _: { server in
            let request = HTTPRequest(method: .get, scheme: "https", authority: "localhost:\(server.port)", path: "/a")
            let trust = ServerTrust(authorities: .only(.file(certificates.authority)))
            try await withTransport(.init(trust: trust, allowsHTTP2: true)) { transport in
                let (_, body) = try await transport.send(request, body: nil)
                #expect(try await body.collect(limit: 10) == Array("/a".utf8))
            }
            try await withTransport(.init(allowsHTTP2: true)) { transport in
                let error = await #expect(throws: TransportError.self) {
                    _ = try await transport.send(request, body: nil)
                }
                #expect(error?.isCertainlyUnsent == true)
            }
        }
        #expect(throws: TransportConfigurationError.http2WithOwnTrust) {
            _ = try NIOTransport(configuration: .init(trust: ServerTrust(pins: ["x"]), allowsHTTP2: true))
        }
    }

    @Test func `certificates that cannot be read are named`() throws {
        for source in [CertificateSource.file("/nowhere/roots.pem"), .pem(Array("nothing".utf8)), .pem([])] {
            let error = #expect(throws: TransportConfigurationError.self) {
                _ = try NIOTransport(configuration: .init(trust: ServerTrust(authorities: .only(source))))
            }
            if case .file(let path) = source {
                #expect(error?.description.hasPrefix("\(path) is not a PEM file") == true)
            }
        }
    }
}
