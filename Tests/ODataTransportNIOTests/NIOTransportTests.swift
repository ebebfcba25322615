import HTTPTypes
import ODataHTTP
import ODataServer
import ODataService
import ODataTransportNIO
import Synchronization
import Testing

@Suite struct NIOTransportTests {
    static func request(
        _ method: HTTPRequest.Method = .get, port: Int, _ path: String, scheme: String = "http",
        host: String = "127.0.0.1"
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: scheme, authority: "\(host):\(port)", path: path)
    }

    /// Runs a body with a transport and shuts it down whatever happens.
    static func withTransport<Result>(
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

    static func withServer<Result>(
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

    @Test func `a request and its body arrive, and so do the response and its body`() async throws {
        try await Self.withServer { request, body in
            let text = try? await body.collect(limit: 1000)
            var response = HTTPResponse(status: .created)
            response.headerFields[.contentType] = request.headerFields[.contentType]
            return (response, ByteStream(Array("\(request.method) \(request.path ?? "")|".utf8) + (text ?? [])))
        } _: { server in
            try await Self.withTransport { transport in
                var request = Self.request(.post, port: server.port, "/a/b?$top=1")
                request.headerFields[.contentType] = "text/x"
                let (response, body) = try await transport.send(request, body: ByteStream(Array("hello".utf8)))
                #expect(response.status == .created)
                #expect(response.headerFields[.contentType] == "text/x")
                let text = String(decoding: try await body.collect(limit: 1000), as: UTF8.self)
                #expect(text == "POST /a/b?$top=1|hello")
            }
        }
    }

    @Test func `a slow reader holds the producer back`() async throws {
        let produced = Mutex(0)
        try await Self.withServer { _, _ in
            let body = ByteStream {
                let count = produced.withLock { count in
                    count += 1
                    return count
                }
                return count > 8000 ? nil : [UInt8](repeating: 65, count: 16_384)
            }
            return (HTTPResponse(status: .ok), body)
        } _: { server in
            try await Self.withTransport { transport in
                let (_, body) = try await transport.send(Self.request(port: server.port, "/"), body: nil)
                var total = try await body.next()?.count ?? 0
                try await Task.sleep(for: .milliseconds(500))
                let held = produced.withLock { $0 }
                try await Task.sleep(for: .milliseconds(300))
                // 131 MB would come; the kernel's buffers hold up to 40, and then nothing more is produced.
                #expect(produced.withLock { $0 } == held)
                #expect(held < 4000)
                while let chunk = try await body.next() { total += chunk.count }
                #expect(produced.withLock { $0 } == 8001)
                #expect(total == 8000 * 16_384)
            }
        }
    }

    @Test func `a request body of unknown length is sent as it is produced`() async throws {
        try await Self.withServer { request, body in
            var count = 0
            while let chunk = try? await body.next() { count += chunk.count }
            return (HTTPResponse(status: .ok), ByteStream(Array("\(count) \(body.length ?? -1)".utf8)))
        } _: { server in
            try await Self.withTransport { transport in
                let left = Mutex(300)
                let upload = ByteStream {
                    let more = left.withLock { left in
                        left -= 1
                        return left >= 0
                    }
                    return more ? [UInt8](repeating: 1, count: 10_000) : nil
                }
                let (_, body) = try await transport.send(Self.request(.put, port: server.port, "/"), body: upload)
                #expect(String(decoding: try await body.collect(limit: 100), as: UTF8.self) == "3000000 -1")
            }
        }
    }

    @Test func `what the producer of a request body throws reaches the caller`() async throws {
        try await Self.withServer { _, body in
            while (try? await body.next()) != nil {}
            return (HTTPResponse(status: .ok), ByteStream([]))
        } _: { server in
            try await Self.withTransport { transport in
                let upload = ByteStream { throw ODataError(status: 410, code: "X", message: "gone") }
                await #expect(throws: ODataError.self) {
                    _ = try await transport.send(Self.request(.put, port: server.port, "/"), body: upload)
                }
            }
        }
    }

    @Test func `a transport that is only dropped traps nothing, one that is shut down twice neither`() async throws {
        try await Self.withServer { _, _ in
            (HTTPResponse(status: .ok), ByteStream([]))
        } _: { server in
            do {
                let dropped = try NIOTransport()
                _ = try await dropped.send(Self.request(port: server.port, "/"), body: nil)
            }
            let transport = try NIOTransport()
            try await transport.shutdown()
            await #expect(throws: TransportError.self) {
                _ = try await transport.send(Self.request(port: server.port, "/"), body: nil)
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    @Test func `a cancelled task gives up at once`() async throws {
        let server = try await RawServer(sends: "", then: .silence)
        try await Self.withTransport { transport in
            let task = Task { try await transport.send(Self.request(port: server.port, "/"), body: nil) }
            try await Task.sleep(for: .milliseconds(100))
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
        }
        try await server.stop()
    }
}
