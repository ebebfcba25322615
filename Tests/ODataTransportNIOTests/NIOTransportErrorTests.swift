import HTTPTypes
import ODataHTTP
import ODataServer
import ODataService
import ODataTransportNIO
import Testing

/// Which failure is which decides whether a change may be sent again (rule 1).
@Suite struct NIOTransportErrorTests {
    private func failure(
        _ configuration: NIOTransport.Configuration = .init(), method: HTTPRequest.Method = .get,
        scheme: String = "http", host: String = "127.0.0.1", port: Int
    ) async throws -> TransportError? {
        try await NIOTransportTests.withTransport(configuration) { transport in
            do {
                let request = NIOTransportTests.request(method, port: port, "/", scheme: scheme, host: host)
                let (_, body) = try await transport.send(request, body: method == .post ? ByteStream([1]) : nil)
                while try await body.next() != nil {}
                return nil
            } catch let error as TransportError {
                return error
            }
        }
    }

    private func expect(
        _ kind: (TransportError?) -> Bool, _ error: TransportError?, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(kind(error), "\(error.map(String.init(describing:)) ?? "no error")", sourceLocation: location)
    }

    private func isCannotConnect(_ error: TransportError?) -> Bool {
        if case .cannotConnect = error { true } else { false }
    }
    private func isLost(_ error: TransportError?) -> Bool {
        if case .connectionLost = error { true } else { false }
    }
    private func isTruncated(_ error: TransportError?) -> Bool {
        if case .truncated = error { true } else { false }
    }
    private func isUntrusted(_ error: TransportError?) -> Bool {
        if case .untrustedCertificate = error { true } else { false }
    }

    @Test func `a refused connection is certainly unsent`() async throws {
        let raw = try await RawServer(sends: "", then: .close)
        try await raw.stop()
        let error = try await failure(port: raw.port)
        expect(isCannotConnect, error)
        #expect(error?.isCertainlyUnsent == true)
    }

    @Test func `a name that does not resolve is certainly unsent`() async throws {
        expect(isCannotConnect, try await failure(host: "no-such-host.invalid", port: 80))
    }

    @Test func `a URL that is not http is refused`() async throws {
        let error = try await failure(scheme: "ftp", port: 1)
        #expect(error == .invalidURL("ftp://127.0.0.1:1/"))
    }

    @Test(arguments: [HTTPRequest.Method.get, .post])
    func `a connection closed before the answer is in doubt`(method: HTTPRequest.Method) async throws {
        let raw = try await RawServer(sends: "", then: .close)
        let error = try await failure(method: method, port: raw.port)
        expect(isLost, error)
        #expect(error?.isCertainlyUnsent == false)
        try await raw.stop()
    }

    @Test func `a connection reset before the answer is in doubt`() async throws {
        let raw = try await RawServer(sends: "", then: .reset)
        expect(isLost, try await failure(method: .post, port: raw.port))
        try await raw.stop()
    }

    @Test(arguments: [RawServer.Ending.close, .reset])
    func `a body shorter than announced is truncated`(ending: RawServer.Ending) async throws {
        let raw = try await RawServer(sends: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", then: ending)
        expect(isTruncated, try await failure(port: raw.port))
        try await raw.stop()
    }

    @Test func `a chunked body without its last chunk is truncated`() async throws {
        let raw = try await RawServer(
            sends: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n", then: .close)
        expect(isTruncated, try await failure(port: raw.port))
        try await raw.stop()
    }

    @Test func `an answer that is not HTTP breaks the protocol`() async throws {
        let raw = try await RawServer(sends: "SSH-2.0-OpenSSH_9.2\r\n\r\n", then: .close)
        expect(isTruncated, try await failure(port: raw.port))
        try await raw.stop()
    }

    @Test func `silence is a timeout`() async throws {
        let raw = try await RawServer(sends: "", then: .silence)
        let error = try await failure(.init(readTimeout: .milliseconds(200)), port: raw.port)
        #expect(error == .timedOut(host: "127.0.0.1:\(raw.port)"))
        let late = try await failure(.init(headTimeout: .milliseconds(200)), port: raw.port)
        #expect(late == .timedOut(host: "127.0.0.1:\(raw.port)"))
        try await raw.stop()
    }

    @Test func `silence within the body is a timeout`() async throws {
        let raw = try await RawServer(sends: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", then: .silence)
        let error = try await failure(.init(readTimeout: .milliseconds(200)), port: raw.port)
        #expect(error == .timedOut(host: "127.0.0.1:\(raw.port)"))
        try await raw.stop()
    }

    @Test func `only a certificate of a trusted authority that names the host is accepted`() async throws {
        let certificates = try TestCertificates()
        let others = try TestCertificates(names: "DNS:elsewhere.example")
        let tls = ODataServer.TLS(certificateChainFile: certificates.chain, privateKeyFile: certificates.key)
        let trusted = NIOTransport.Configuration(trustRoots: .file(certificates.authority))
        let strange = NIOTransport.Configuration(trustRoots: .file(others.authority))
        let both = NIOTransport.Configuration(trustRoots: .systemAndFile(certificates.authority))
        try await NIOTransportTests.withServer(.init(tls: tls)) { request, _ in
            (HTTPResponse(status: .ok), ByteStream(Array((request.scheme ?? "").utf8)))
        } _: { server in
            #expect(server.url == "https://127.0.0.1:\(server.port)/")
            #expect(try await failure(trusted, scheme: "https", port: server.port) == nil)
            #expect(try await failure(trusted, scheme: "https", host: "localhost", port: server.port) == nil)
            #expect(try await failure(both, scheme: "https", host: "localhost", port: server.port) == nil)
            expect(isUntrusted, try await failure(scheme: "https", port: server.port))
            expect(isUntrusted, try await failure(strange, scheme: "https", port: server.port))
        }
        let wrongName = ODataServer.TLS(certificateChainFile: others.chain, privateKeyFile: others.key)
        try await NIOTransportTests.withServer(.init(tls: wrongName)) { _, _ in
            (HTTPResponse(status: .ok), ByteStream([]))
        } _: { server in
            expect(isUntrusted, try await failure(strange, scheme: "https", port: server.port))
            expect(isUntrusted, try await failure(strange, scheme: "https", host: "localhost", port: server.port))
        }
    }

    @Test func `TLS spoken to a server without it cannot connect`() async throws {
        try await NIOTransportTests.withServer { _, _ in
            (HTTPResponse(status: .ok), ByteStream([]))
        } _: { server in
            let error = try await failure(.init(connectTimeout: .seconds(3)), scheme: "https", port: server.port)
            expect(isCannotConnect, error)
        }
    }

    @Test func `a file without certificates is named`() throws {
        let error = #expect(throws: CertificateFileError.self) {
            _ = try NIOTransport(configuration: .init(trustRoots: .file("/nowhere/roots.pem")))
        }
        #expect(error?.description.hasPrefix("/nowhere/roots.pem is not a PEM file") == true)
    }
}
