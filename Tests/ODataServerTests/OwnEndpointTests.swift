import HTTPTypes
import Logging
import ODataHTTP
import ODataService
import Synchronization
import Testing

@testable import ODataServer

@Suite("The endpoints of the server itself")
struct OwnEndpointTests {
    private static let handler: ODataServer.IdentifiedHandler = { _, _, _ in
        (HTTPResponse(status: .ok), ByteStream(Array("rows".utf8)))
    }

    // MARK: Health

    @Test("liveness checks nothing, readiness and startup report the real state, as 200 or 503")
    func probes() async throws {
        let isReady = Atomic<Bool>(false)
        let hasStarted = Atomic<Bool>(false)
        let health = HealthEndpoint(
            hasStarted: { hasStarted.load(ordering: .relaxed) }, isReady: { isReady.load(ordering: .relaxed) })
        var configuration = ODataServer.Configuration(
            authentication: [BasicAuthentication(user: "a", password: "b")], health: health)
        configuration.addressLimits = AddressLimits(requestsAtOnce: 1, requestsPerMinute: 1)
        try await withServer(configuration, handler: Self.handler) { server in
            func status(_ path: String) async throws -> Int { try await server.send(path).response.status.code }
            #expect(try await status("/livez") == 200)
            #expect(try await status("/readyz") == 503)
            #expect(try await status("/health") == 503)
            #expect(try await status("/startupz") == 503)
            hasStarted.store(true, ordering: .relaxed)
            isReady.store(true, ordering: .relaxed)
            for path in ["/livez", "/readyz?verbose", "/health", "/startupz"] {
                let answer = try await server.send(path)
                #expect(answer.response.status == .ok, "\(path)")
                #expect(String(decoding: answer.bytes, as: UTF8.self) == #"{"status":"pass"}"#)
                #expect(answer.response.headerFields[.cacheControl] == "no-store")
            }
            #expect(try await server.send("/readyz", method: .post).response.status == .methodNotAllowed)
            #expect(try await status("/readyz/") == 401, "another path belongs to the service")
        }
    }

    @Test("a stopping server is alive and started but not ready")
    func stopping() async throws {
        let health = HealthEndpoint()
        for (path, code) in [("/livez", 200), ("/startupz", 200), ("/readyz", 503), ("/health", 503)] {
            let request = HTTPRequest(method: .get, scheme: "http", authority: "a", path: path)
            #expect(await health.answer(request, isStopping: true)?.0.status.code == code, "\(path)")
        }
        let channels = OpenChannels()
        #expect(!channels.isStopping)
        channels.beginStop()
        #expect(channels.isStopping)
    }

    // MARK: Metrics

    private func configuration(token: String? = nil) -> ODataServer.Configuration {
        var configuration = ODataServer.Configuration(
            authentication: [BasicAuthentication(user: "a", password: "b")],
            crossOrigin: CrossOriginPolicy(origins: .any))
        configuration.metrics = MetricsEndpoint(token: token) { "a 1\n" }
        return configuration
    }

    private func fields(_ pairs: KeyValuePairs<String, String>) throws -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in pairs { fields[try #require(HTTPField.Name(name))] = value }
        return fields
    }

    @Test("a local program reads the metrics without a sign-in")
    func metrics() async throws {
        try await withServer(configuration(), handler: Self.handler) { server in
            let answer = try await server.send("/metrics?x=1")
            #expect(answer.response.status == .ok && String(decoding: answer.bytes, as: UTF8.self) == "a 1\n")
            #expect(answer.response.headerFields[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(try await server.send("/metrics", method: .head).bytes.isEmpty)
            #expect(try await server.send("/metrics", method: .post).response.status == .methodNotAllowed)
            #expect(try await server.send("/metrics/").response.status == .unauthorized)
        }
    }

    @Test(
        "callers of a proxy and browser pages cannot read local metrics",
        arguments: [
            ("Forwarded", "for=192.0.2.1"), ("X-Forwarded-For", "127.0.0.1"), ("X-Forwarded-Proto", "https"),
            ("X-Real-IP", "127.0.0.1"), ("Via", "1.1 proxy"), ("Origin", "https://app.example"), ("Origin", "null"),
            ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"),
        ])
    func strangers(_ name: String, _ value: String) async throws {
        try await withServer(configuration(), handler: Self.handler) { server in
            let answer = try await server.send("/metrics", fields([name: value]))
            #expect(answer.response.status == .forbidden)
            #expect(!String(decoding: answer.bytes, as: UTF8.self).contains("a 1"))
        }
    }

    @Test(
        "a remote caller needs the token for the metrics, and another server name is refused")
    func otherMachines() throws {
        let request = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/metrics")
        let unprotected = MetricsEndpoint { "a 1\n" }
        guard case .failure(let refusal)? = unprotected.answer(request, isFromThisMachine: false) else {
            Issue.record("the metrics were given")
            return
        }
        #expect(refusal.status == .forbidden)
        var signed = request
        signed.headerFields[.authorization] = "bearer secret"
        let closed = MetricsEndpoint(token: "secret") { "a 1\n" }
        guard case .success(let answer)? = closed.answer(signed, isFromThisMachine: false) else {
            Issue.record("the token was refused")
            return
        }
        #expect(answer.0.status == .ok)
    }

    @Test("with a configured token, every caller needs it")
    func token() async throws {
        try await withServer(configuration(token: "0123456789abcdef"), handler: Self.handler) { server in
            func status(_ authorization: String?) async throws -> Int {
                let fields: HTTPFields = authorization.map { [.authorization: $0] } ?? [:]
                return try await server.send("/metrics", fields).response.status.code
            }
            let none = try await server.send("/metrics").response
            #expect(none.status == .unauthorized)
            #expect(none.headerFields[.wwwAuthenticate] == #"Bearer realm="metrics""#)
            #expect(try await status("Bearer 0123456789abcdef") == 200)
            for wrong in [
                "Bearer 0123456789abcde", "Bearer ", "0123456789abcdef", "Basic YTpi", "Bearer 0123456789abcdeff",
            ] {
                #expect(try await status(wrong) == 401, "\(wrong)")
            }
            #expect(
                try await server.send("/", [.authorization: "Bearer 0123456789abcdef"]).response.status
                    == .unauthorized,
                "the token opens nothing else")
        }
    }

    @Test("a page that reaches this machine by another name cannot read the metrics")
    func rebinding() async throws {
        try await withServer(configuration(), handler: Self.handler) { server in
            let connection = try RawConnection(port: server.port)
            defer { connection.close() }
            connection.send("GET /metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n".utf8)
            #expect(await connection.readToEnd().hasPrefix("HTTP/1.1 421"))
        }
    }

    // MARK: Access log

    private final class Lines: LogHandler, Sendable {
        private let lines = Mutex<[[String: String]]>([])
        var all: [[String: String]] { lines.withLock { $0 } }
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
            let fields = (event.metadata ?? [:]).mapValues { "\($0)" }
            lines.withLock { $0.append(fields) }
        }
    }

    @Test("each line of the access log has the client address, also for refused requests")
    func addresses() async throws {
        let lines = Lines()
        var configuration = configuration()
        configuration.accessLog = Logger(label: "test") { _ in lines }
        configuration.trustsForwarded = true
        configuration.health = HealthEndpoint()
        let basic = "Basic YTpi"
        try await withServer(configuration, handler: Self.handler) { server in
            _ = try await server.send("/", fields(["Authorization": basic, "X-Forwarded-For": "192.0.2.7"]))
            _ = try await server.send("/", fields(["X-Forwarded-For": "2001:db8::1:2"]))
            _ = try await server.send("/health", fields(["Forwarded": #"for="[2001:db8::9]:4711""#]))
            _ = try await server.send("/", fields(["X-Forwarded-For": "evil user=root"]))
        }
        #expect(lines.all.map { $0["address"] } == ["192.0.2.7", "2001:db8::1:2", "2001:db8::9", "127.0.0.1"])
        #expect(lines.all.map { $0["user"] } == ["a", nil, nil, nil])
        #expect(lines.all.map { $0["status"] } == ["200", "401", "200", "401"])
    }
}
