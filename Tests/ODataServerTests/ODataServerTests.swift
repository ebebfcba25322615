import HTTPTypes
import Logging
import MetricsTestKit
import ODataHTTP
import ODataServer
import ODataService
import ODataTransportNIO
import Synchronization
import Testing

@Suite struct ODataServerTests {
    private static let echo: ODataServer.Handler = { request, body in
        do {
            let bytes = try await body.collect(limit: 1 << 24)
            return (HTTPResponse(status: .ok), ByteStream(Array("\(request.path ?? "") \(bytes.count)".utf8)))
        } catch let error as ODataError {
            return (HTTPResponse(status: .init(code: error.status)), ByteStream([]))
        } catch {
            return (HTTPResponse(status: .internalServerError), ByteStream([]))
        }
    }

    /// Sends one request to a server and returns status, body and header fields.
    private func exchange(
        _ server: RunningServer, _ path: String, method: HTTPRequest.Method = .get, fields: HTTPFields = [:],
        body: ByteStream? = nil
    ) async throws -> (status: Int, text: String, fields: HTTPFields) {
        let transport = try NIOTransport()
        var request = HTTPRequest(
            method: method, scheme: "http", authority: "127.0.0.1:\(server.port)", path: path)
        request.headerFields = fields
        do {
            let (response, stream) = try await transport.send(request, body: body)
            let text = String(decoding: try await stream.collect(limit: 1 << 20), as: UTF8.self)
            try await transport.shutdown()
            return (response.status.code, text, response.headerFields)
        } catch {
            try await transport.shutdown()
            throw error
        }
    }

    private func with<Result>(
        _ configuration: ODataServer.Configuration, handler: @escaping ODataServer.Handler = Self.echo,
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

    @Test func `port 0 picks a free port of the loopback address and reports it`() async throws {
        try await with(.init()) { first in
            try await with(.init(pathPrefix: "odata")) { second in
                #expect(first.port > 0 && second.port > 0 && first.port != second.port)
                #expect(first.url == "http://127.0.0.1:\(first.port)/")
                #expect(second.url == "http://127.0.0.1:\(second.port)/odata/")
            }
        }
    }

    @Test func `a taken port is a typed error`() async throws {
        try await with(.init()) { first in
            let error = await #expect(throws: ServerStartError.self) {
                _ = try await ODataServer(configuration: .init(port: first.port), handler: Self.echo).start()
            }
            guard case .cannotListen("127.0.0.1", first.port, "another program uses this port") = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func `a certificate that cannot be read is named`() async throws {
        let tls = ODataServer.TLS(certificateChainFile: "/nowhere/chain.pem", privateKeyFile: "/nowhere/key.pem")
        let error = await #expect(throws: ServerStartError.self) {
            _ = try await ODataServer(configuration: .init(tls: tls), handler: Self.echo).start()
        }
        #expect(error?.description.hasPrefix("/nowhere/chain.pem cannot be used for TLS") == true)
    }

    @Test func `requests outside the path prefix do not reach the handler`() async throws {
        try await with(.init(pathPrefix: "/odata/")) { server in
            #expect(try await exchange(server, "/odata/A?x=1").text == "/odata/A?x=1 0")
            #expect(try await exchange(server, "/odata").status == 200)
            let outside = try await exchange(server, "/other")
            #expect(outside.status == 404)
            #expect(outside.text == #"{"error":{"code":"NotFound","message":"The service root is /odata/."}}"#)
        }
    }

    @Test func `a body over the limit is refused, announced or not`() async throws {
        try await with(.init(maxBodySize: 10_000)) { server in
            let within = try await exchange(
                server, "/", method: .post, body: ByteStream([UInt8](repeating: 1, count: 10_000)))
            #expect(within.text == "/ 10000")
            let announced = try await exchange(
                server, "/", method: .post, body: ByteStream([UInt8](repeating: 1, count: 10_001)))
            #expect(announced.status == 413)
            let left = Mutex(3)
            let chunked = ByteStream {
                let more = left.withLock { left in
                    left -= 1
                    return left >= 0
                }
                return more ? [UInt8](repeating: 1, count: 4000) : nil
            }
            #expect(try await exchange(server, "/", method: .post, body: chunked).status == 413)
        }
    }

    @Test func `basic authentication lets only the right user in`() async throws {
        try await with(
            .init(authentication: [BasicAuthentication(realm: "A \"B\"", user: "Ann", password: "pässword")])
        ) { server in
            let refused = try await exchange(server, "/")
            #expect(refused.status == 401)
            #expect(refused.fields[.wwwAuthenticate] == #"Basic realm="A \"B\"", charset="UTF-8""#)
            // The credentials are `Ann:pässword` and `Ann:password` in base64.
            #expect(
                try await exchange(server, "/", fields: [.authorization: "basic QW5uOnDDpHNzd29yZA=="]).status == 200)
            #expect(try await exchange(server, "/", fields: [.authorization: "Basic QW5uOnBhc3N3b3Jk"]).status == 401)
            #expect(try await exchange(server, "/", fields: [.authorization: "Basic rubbish!"]).status == 401)
            #expect(try await exchange(server, "/", fields: [.authorization: "Bearer x"]).status == 401)
        }
    }

    @Test func `stopping waits for requests under way`() async throws {
        let hasBegun = AsyncStream.makeStream(of: Void.self)
        let server = try await ODataServer { _, _ in
            hasBegun.continuation.yield()
            try? await Task.sleep(for: .milliseconds(300))
            return (HTTPResponse(status: .ok), ByteStream(Array("finished".utf8)))
        }.start()
        async let answer = exchange(server, "/")
        for await _ in hasBegun.stream { break }
        await server.stop()
        #expect(try await answer.text == "finished")
        await #expect(throws: TransportError.self) { _ = try await exchange(server, "/") }
    }

    @Test func `a response body that fails midway is cut, never closed as if it were whole`() async throws {
        try await with(.init()) { _, _ in
            let left = Mutex(3)
            let body = ByteStream {
                let count = left.withLock { left in
                    left -= 1
                    return left
                }
                if count < 0 { throw ODataError(status: 500, code: "X", message: "disk") }
                return [UInt8](repeating: 65, count: 1000)
            }
            return (HTTPResponse(status: .ok), body)
        } _: { server in
            let error = await #expect(throws: TransportError.self) { _ = try await exchange(server, "/") }
            guard case .truncated = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func `a page of one chunk is sent with its length, a longer one as it comes`() async throws {
        try await with(.init(compresses: false)) { request, _ in
            let left = Mutex(request.path == "/short" ? 1 : 3)
            let body = ByteStream {
                let isOver = left.withLock { left in
                    left -= 1
                    return left < 0
                }
                return isOver ? nil : Array(#"{"value":[]}"#.utf8)
            }
            return (HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]), body)
        } _: { server in
            let short = try await exchange(server, "/short")
            #expect(short.text == #"{"value":[]}"# && short.fields[.contentLength] == "12")
            let long = try await exchange(server, "/long")
            #expect(long.text.count == 36 && long.fields[.contentLength] == nil)
        }
    }

    @Test func `HEAD gets the head alone`() async throws {
        try await with(.init()) { server in
            let head = try await exchange(server, "/", method: .head)
            #expect(head.status == 200)
            #expect(head.text.isEmpty)
        }
    }

    @Test func `HEAD names the length that GET sends, and the connection stays usable`() async throws {
        let handler: ODataServer.Handler = { request, _ in
            var response = HTTPResponse(status: .ok)
            response.headerFields[.contentLength] = "5"
            return (response, request.method == .head ? ByteStream([]) : ByteStream(Array("12345".utf8)))
        }
        try await with(.init(), handler: handler) { server in
            let transport = try NIOTransport()
            for method in [HTTPRequest.Method.head, .get, .head, .get] {
                let request = HTTPRequest(
                    method: method, scheme: "http", authority: "127.0.0.1:\(server.port)", path: "/")
                let (response, stream) = try await transport.send(request, body: nil)
                #expect(response.headerFields[.contentLength] == "5")
                let text = String(decoding: try await stream.collect(limit: 100), as: UTF8.self)
                #expect(text == (method == .head ? "" : "12345"))
            }
            try await transport.shutdown()
        }
    }

    @Test func `requests are counted and timed by method and status, and invented methods together`() async throws {
        let metrics = TestMetrics()
        var configuration = ODataServer.Configuration(pathPrefix: "/s/")
        configuration.metricsFactory = metrics
        try await with(configuration) { server in
            for path in ["/s/a", "/s/b", "/elsewhere"] { _ = try await exchange(server, path) }
            for name in ["PROPFIND", "LOCK"] {
                _ = try await exchange(server, "/s/", method: try #require(HTTPRequest.Method(name)))
            }
        }
        // The names and attributes of OpenTelemetry's semantic conventions for HTTP servers.
        func dimensions(_ method: String, _ status: String) -> [(String, String)] {
            [("http.request.method", method), ("url.scheme", "http"), ("http.response.status_code", status)]
        }
        let label = "http.server.request.duration"
        #expect(try metrics.expectTimer(label, dimensions("GET", "200")).values.count == 2)
        #expect(try metrics.expectTimer(label, dimensions("GET", "404")).values.count == 1)
        #expect(try metrics.expectTimer(label, dimensions("_OTHER", "200")).values.count == 2)
        let sizes = try metrics.expectRecorder("http.server.response.body.size", dimensions("GET", "200"))
        #expect(sizes.values == Array(repeating: Double("/s/a 0".utf8.count), count: 2))
        let active = try metrics.expectMeter(
            "http.server.active_requests", [("http.request.method", "GET"), ("url.scheme", "http")])
        #expect(active.values.count == 6 && active.lastValue == 0)
    }

    @Test func `the access log shows paths, not queries or credentials`() async throws {
        let lines = LogLines()
        let logger = Logger(label: "test") { _ in lines }
        try await with(
            .init(authentication: [BasicAuthentication(user: "Ann", password: "secret")], accessLog: logger)
        ) { server in
            _ = try await exchange(
                server, "/A?$filter=Name%20eq%20'x'", fields: [.authorization: "Basic QW5uOnNlY3JldA=="])
            _ = try await exchange(server, "/B", fields: [.authorization: "Basic QW5uOndyb25n"])
        }
        #expect(lines.all.map(\.message) == ["GET /A", "GET /B"])
        #expect(lines.all.map { $0.metadata["status"] } == ["200", "401"])
        #expect(lines.all.map { $0.metadata["address"] } == ["127.0.0.1", "127.0.0.1"])
        #expect(lines.all.map { $0.metadata["user"] } == ["Ann", nil])
        let text = "\(lines.all)"
        for secret in ["secret", "wrong", "QW5u", "Name"] { #expect(!text.contains(secret)) }
    }
}

/// Records log lines.
private final class LogLines: LogHandler, Sendable {
    struct Line: Sendable {
        let message: String
        let metadata: [String: String]
    }

    private let lines = Mutex<[Line]>([])
    var all: [Line] { lines.withLock { $0 } }
    var logLevel: Logger.Level {
        get { .info }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        let line = Line(
            message: "\(event.message)", metadata: (event.metadata ?? [:]).mapValues { "\($0)" })
        lines.withLock { $0.append(line) }
    }
}
