import HTTPTypes
import ODataHTTP
import ODataServer
import ODataService
import ODataTransportConformance
import ODataTransportNIO
import Testing

@Suite struct NIOTransportTests {
    static let subject = TransportSubject {
        try await ($0 as? NIOTransport)?.shutdown()
    } proxied: { port in
        try NIOTransport(configuration: .init(proxy: .http(host: "127.0.0.1", port: port)))
    } make: { silence in
        // A busy machine may take longer than the default to connect.
        try NIOTransport(configuration: .init(connectTimeout: .seconds(60), readTimeout: silence))
    }

    @Test(.serialized, arguments: TransportCheck.all)
    func conforms(check: TransportCheck) async throws {
        try await check.run(on: Self.subject)
    }

    @Test func `a transport that is only dropped traps nothing, one that is shut down twice neither`() async throws {
        try await withServer { _, _ in
            (HTTPResponse(status: .ok), ByteStream([]))
        } _: { server in
            let request = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(server.port)", path: "/")
            do {
                let dropped = try NIOTransport()
                _ = try await dropped.send(request, body: nil)
            }
            let transport = try NIOTransport()
            try await transport.shutdown()
            try await transport.shutdown()
            await #expect(throws: TransportError.self) { _ = try await transport.send(request, body: nil) }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    @Test func `the head of a response must come within its own time`() async throws {
        let peer = try await RawPeer(then: .silence)
        try await withTransport(.init(headTimeout: .milliseconds(200))) { transport in
            let request = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(peer.port)", path: "/")
            await #expect(throws: TransportError.timedOut(host: "127.0.0.1:\(peer.port)")) {
                _ = try await transport.send(request, body: nil)
            }
        }
        try await peer.stop()
    }
}

/// Runs a body with a transport and always shuts the transport down.
func withTransport<Result>(
    _ configuration: NIOTransport.Configuration = .init(), _ body: (NIOTransport) async throws -> Result
) async throws -> Result {
    let transport = try NIOTransport(configuration: configuration)
    do {
        let result = try await body(transport)
        try await transport.shutdown()
        return result
    } catch {
        try await transport.shutdown()
        throw error
    }
}

func withServer<Result>(
    _ configuration: ODataServer.Configuration = .init(), handler: @escaping ODataServer.Handler,
    _ body: (RunningServer) async throws -> Result
) async throws -> Result {
    let server = try await ODataServer(configuration: configuration, handler: handler).start()
    do {
        let result = try await body(server)
        await server.stop()
        return result
    } catch {
        await server.stop()
        throw error
    }
}
