import HTTPTypes
import ODataClient
import ODataHTTP
import ODataQuery
import ODataService
import Testing

@Suite("Without https, credentials leave this machine only if that is allowed")
struct PlainHTTPTests {
    private static let root = "http://service.test/shop/"
    private static let refusal = TransportError.plainHTTP(host: "http://service.test")

    private static let ways: [(String, Authentication)] = [
        ("Basic", .basic(user: "ann", password: "secret")), ("Bearer", .bearer { "secret" }),
        ("a field", .header("X-Api-Key", "secret")),
        ("a cookie", Authentication(TokenAuthentication(.cookie("MYSAPSSO2"), key: "secret"))),
        ("an option", Authentication(TokenAuthentication(.query("key"), key: "secret"))),
    ]

    private func send(
        _ wire: ScriptedWire, _ configuration: HTTPSession.Configuration, root: String = root
    ) async throws {
        let session = try HTTPSession(wire, serviceRoot: root, configuration: configuration)
        _ = try await session.send(request(.get, root + "Orders"), body: nil)
    }

    @Test("Basic, bearer tokens, fields, sign-in cookies and options", arguments: ways.indices)
    func authentication(way: Int) async throws {
        let wire = ScriptedWire { _, _ in answer() }
        let authentication = Self.ways[way].1
        await #expect(throws: Self.refusal, "\(Self.ways[way].0)") {
            try await send(wire, .init(authentication: authentication))
        }
        #expect(wire.sent.isEmpty)
        try await send(wire, .init(authentication: authentication, allowsPlainHTTP: true))
        try await send(wire, .init(authentication: authentication), root: "http://127.0.0.1:8080/shop/")
        try await send(wire, .init(authentication: authentication), root: "https://service.test/shop/")
        #expect(wire.sent.count == 3)
    }

    @Test("fields for intermediaries")
    func fields() async throws {
        let wire = ScriptedWire { _, _ in answer() }
        let fields: @Sendable () async throws -> HTTPFields = { [.cookie: "sso=secret"] }
        await #expect(throws: Self.refusal) { try await send(wire, .init(fields: fields)) }
        #expect(wire.sent.isEmpty)
        try await send(wire, .init(allowsPlainHTTP: true, fields: fields))
        #expect(wire.sent.count == 1)
    }

    @Test("The user is not asked for a password that would not be sent")
    func challenge() async throws {
        let wire = ScriptedWire { _, _ in answer(401, [.wwwAuthenticate: "Basic realm=\"r\""]) }
        let step = ChallengedCredentials { _, _ in
            Issue.record("somebody was asked")
            return nil
        }
        await #expect(throws: Self.refusal) { try await send(wire, .init(authentication: Authentication(step))) }
        #expect(wire.sent.map { $0.request.headerFields[.authorization] } == [nil])
    }

    @Test("Fields for every request, and fields that may be credentials")
    func clientFields() async throws {
        let wire = WireScript(metadata: ShopMetadata.v4()) { _, _ in .json("{\"value\":[]}") }
        func read(_ configuration: ODataClient.Configuration, _ headers: [String: String] = [:]) async throws {
            let client = try ODataClient(serviceRoot: Self.root, transport: wire, configuration: configuration)
            var request = ODataRequest(.read, ODataURL(set: "Orders"))
            request.headers = headers
            _ = try await client.execute(request)
        }
        await #expect(throws: Self.refusal) { try await read(.init(headers: ["X-Tenant": "blue"])) }
        for name in ["Authorization", "Cookie", "X-Api-Key", "X-Session-Id"] {
            await #expect(throws: Self.refusal, "\(name)") { try await read(.init(), [name: "secret"]) }
        }
        #expect(wire.sent.isEmpty)
        try await read(.init(headers: ["X-Tenant": "blue"], allowsPlainHTTP: true), ["X-Api-Key": "secret"])
        try await read(.init(), ["Slug": "picture"])
        #expect(wire.sent.map { $0["X-Api-Key"] } == ["secret", nil])
    }
}
