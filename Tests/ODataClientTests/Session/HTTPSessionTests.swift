import HTTPTypes
import ODataClient
import ODataHTTP
import ODataService
import Testing

@Suite("A session around a transport") struct HTTPSessionTests {
    @Test("The fields for intermediaries are computed for each sending, repeats included")
    func fields() async throws {
        let counter = Counter()
        let wire = ScriptedWire { number, _ in number == 1 ? answer(503, [.retryAfter: "0"]) : answer() }
        var configuration = HTTPSession.Configuration()
        configuration.retry = RetryPolicy(random: { 0 }, sleep: { _ in })
        configuration.fields = { [.userAgent: "farm \(counter.next())", .cookie: "edge=1"] }
        let session = try HTTPSession(wire, serviceRoot: "https://service.test/", configuration: configuration)
        var message = request()
        message.headerFields[.cookie] = "own=2"
        _ = try await session.send(message, body: nil)
        #expect(wire.sent.map { $0.request.headerFields[.userAgent] } == ["farm 1", "farm 2"])
        #expect(wire.sent[0].request.headerFields[.cookie] == "own=2; edge=1")
        _ = try await session.send(request(.get, "https://elsewhere.test/"), body: nil)
        #expect(wire.sent[2].request.headerFields[.userAgent] == nil)
    }

    @Test("At most five requests run at once in order, and each holds its place until its body is read")
    func limit() async throws {
        let running = Counter()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let wire = ScriptedWire { _, _ in
            running.next()
            return answer(200, [:], "x")
        }
        let session = try HTTPSession(wire, serviceRoot: "https://service.test/")
        let tasks = (0..<8).map { number in
            Task {
                let (_, stream) = try await session.send(request(.get, "https://service.test/\(number)"), body: nil)
                for await _ in gate { break }
                return try await stream.text
            }
        }
        while running.value < 5 { try await Task.sleep(for: .milliseconds(5)) }
        try await Task.sleep(for: .milliseconds(100))
        #expect(running.value == 5)
        #expect(session.queue.size == 8)
        #expect(session.isInUse)
        open.finish()
        for task in tasks { #expect(try await task.value == "x") }
        #expect(session.queue.size == 0)
        #expect(!session.isInUse)
    }

    @Test("A root that is no http URL is refused", arguments: ["shop/", "/shop/", "ftp://a/", "https://u:p@a/"])
    func roots(url: String) {
        #expect(throws: TransportError.self) {
            _ = try HTTPSession(LoopbackTransport { _, _ in answer() }, serviceRoot: url)
        }
    }

    @Test("The total time of a request is limited for each session and each request") func wholeTimeout()
        async throws
    {
        let wire = ScriptedWire { _, request in
            if request.path == "/slow-head" { try await Task.sleep(for: .seconds(60)) }
            return (
                HTTPResponse(status: .ok),
                ByteStream {
                    try await Task.sleep(for: .seconds(60)); return nil
                }
            )
        }
        var configuration = HTTPSession.Configuration()
        configuration.wholeTimeout = .milliseconds(100)
        configuration.retry = .none
        let session = try HTTPSession(wire, serviceRoot: "https://service.test/", configuration: configuration)
        let begin = ContinuousClock.now
        await #expect(throws: TransportError.timedOut(host: "service.test")) {
            _ = try await session.send(request(.get, "https://service.test/slow-head"), body: nil)
        }
        let (_, stream) = try await session.send(request(), body: nil)
        await #expect(throws: TransportError.timedOut(host: "service.test")) { _ = try await stream.text }
        #expect(ContinuousClock.now - begin < .seconds(50))
        #expect(session.queue.size == 0)
        let (_, patient) = try await session.send(
            request(), body: nil, options: TransferOptions(wholeTimeout: .seconds(3600)))
        let reading = Task { try await patient.text }
        try await Task.sleep(for: .milliseconds(200))
        reading.cancel()
        await #expect(throws: CancellationError.self) { _ = try await reading.value }
    }

    @Test("A client on a plain transport sends up to five requests at once and repeats safe requests")
    func ofAClient() async throws {
        let running = Counter()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let wire = ScriptedWire { number, request in
            if request.path == "/$metadata" { return answer(200, [.contentType: "application/xml"], ShopMetadata.v4()) }
            if number == 2 { throw TransportError.cannotConnect(host: "service.test", reason: "it starts") }
            running.next()
            for await _ in gate { break }
            return answer(200, [.contentType: "application/json"], "{\"value\":[]}")
        }
        let client = try await ODataClient("https://service.test/", transport: wire)
        let tasks = (0..<8).map { _ in Task { try await DataService(client).entities("Orders").count } }
        while running.value < 5 { try await Task.sleep(for: .milliseconds(5)) }
        try await Task.sleep(for: .milliseconds(50))
        #expect(running.value == 5)
        #expect(client.session?.queue.size == 8)
        open.finish()
        for task in tasks { #expect(try await task.value == 0) }
        #expect(wire.sent.count == 1 + 8 + 1)
    }

    @Test(
        "A client on a session, or on a wrapper of one, adds no second session", arguments: [false, true])
    func notTwice(isWrapped: Bool) async throws {
        let wire = ScriptedWire { _, request in
            request.path == "/$metadata"
                ? answer(200, [.contentType: "application/xml", .setCookie: "a=1"], ShopMetadata.v4()) : answer(503)
        }
        var configuration = HTTPSession.Configuration()
        configuration.retry = RetryPolicy(maxAttempts: 3, sleep: { _ in })
        let session = try HTTPSession(wire, serviceRoot: "https://service.test/", configuration: configuration)
        let client = try await ODataClient(
            "https://service.test/", transport: isWrapped ? MeteredTransport(session) : session)
        await #expect(throws: ODataError.self) { _ = try await DataService(client).entities("Orders") }
        // Three attempts are unchanged, and three are without the fields that the client adds.
        #expect(wire.sent.count == 1 + 3 + 3)
        #expect(wire.sent.dropFirst().allSatisfy { $0.request.headerFields[.cookie] == "a=1" })
        #expect((client.session === session) == !isWrapped)
    }

    @Test(
        "Credentials and fields go to named additional origins and to no others",
        arguments: [
            ("https://service.test/a", true), ("https://media.test/a", true), ("https://media.test:443/a", true),
            ("https://media.test:8443/a", false), ("http://media.test/a", false), ("https://x.media.test/a", false),
            ("https://test/a", false),
        ])
    func furtherOrigins(url: String, isTrusted: Bool) async throws {
        let wire = ScriptedWire { _, _ in answer() }
        let media = try #require(Origin(scheme: "https", authority: "media.test"))
        let session = try HTTPSession(
            wire, serviceRoot: "https://service.test/",
            configuration: .init(
                authentication: .basic(user: "ann", password: "secret"), furtherOrigins: [media],
                fields: { [.userAgent: "farm"] }))
        _ = try await session.send(request(.get, url), body: nil)
        #expect((wire.sent[0].request.headerFields[.authorization] != nil) == isTrusted)
        #expect((wire.sent[0].request.headerFields[.userAgent] == "farm") == isTrusted)
    }
}
