import HTTPTypes
import ODataHTTP
import ODataServer
import ODataService
import ODataTransportURLSession
import Testing

@Suite struct URLSessionTransportTests {
    private func request(
        _ method: HTTPRequest.Method = .get, port: Int, _ path: String, scheme: String = "http"
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: scheme, authority: "127.0.0.1:\(port)", path: path)
    }

    private func withServer<Result>(
        _ handler: @escaping ODataServer.Handler, _ body: (RunningServer) async throws -> Result
    ) async throws -> Result {
        let server = try await ODataServer(handler: handler).start()
        do {
            let result = try await body(server)
            await server.stop()
            return result
        } catch {
            await server.stop()
            throw error
        }
    }

    @Test func `a request and its body arrive, and so do the response and its body`() async throws {
        let transport = URLSessionTransport()
        try await withServer { request, body in
            let text = (try? await body.collect(limit: 1000)) ?? []
            var response = HTTPResponse(status: .created)
            response.headerFields[.eTag] = "W/\"1\""
            return (response, ByteStream(Array("\(request.method) \(request.path ?? "")|".utf8) + text))
        } _: { server in
            let (response, body) = try await transport.send(
                request(.post, port: server.port, "/a(b='%C3%BC')?$top=1"), body: ByteStream(Array("hello".utf8)))
            #expect(response.status == .created)
            #expect(response.headerFields[.eTag] == "W/\"1\"")
            let text = String(decoding: try await body.collect(limit: 1000), as: UTF8.self)
            #expect(text == "POST /a(b='%C3%BC')?$top=1|hello")
        }
        transport.shutdown()
    }

    @Test func `a body of several megabytes streams`() async throws {
        let transport = URLSessionTransport()
        try await withServer { _, _ in
            (HTTPResponse(status: .ok), ByteStream([UInt8](repeating: 7, count: 6_000_000)))
        } _: { server in
            let (_, body) = try await transport.send(request(port: server.port, "/"), body: nil)
            var total = 0
            while let chunk = try await body.next() { total += chunk.count }
            #expect(total == 6_000_000)
        }
        transport.shutdown()
    }

    @Test func `a reader that lags behind gets each byte once`() async throws {
        let transport = URLSessionTransport()
        let sent = (0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 / 251) }
        try await withServer { _, _ in
            (HTTPResponse(status: .ok), ByteStream(sent))
        } _: { server in
            let (_, body) = try await transport.send(request(port: server.port, "/"), body: nil)
            var received: [UInt8] = []
            while let chunk = try await body.next() {
                received += chunk
                if received.count < 3_000_000 { try await Task.sleep(for: .milliseconds(200)) }
            }
            #expect(received == sent)
        }
        transport.shutdown()
    }

    @Test func `a refused connection is certainly unsent`() async throws {
        let transport = URLSessionTransport()
        let port = try await withServer { _, _ in
            (HTTPResponse(status: .ok), ByteStream([]))
        } _: {
            $0.port
        }
        let error = await #expect(throws: TransportError.self) {
            _ = try await transport.send(request(port: port, "/"), body: nil)
        }
        #expect(error?.isCertainlyUnsent == true)
        await #expect(throws: TransportError.invalidURL("ftp://127.0.0.1:1/")) {
            _ = try await transport.send(request(port: 1, "/", scheme: "ftp"), body: nil)
        }
        transport.shutdown()
    }

    @Test func `an upload over the limit is refused before anything is sent`() async throws {
        let transport = URLSessionTransport(configuration: .init(maxUploadSize: 10))
        await #expect(throws: ODataError.self) {
            _ = try await transport.send(
                request(.put, port: 1, "/"), body: ByteStream([UInt8](repeating: 0, count: 11)))
        }
        transport.shutdown()
    }
}
