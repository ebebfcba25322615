import Foundation
import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization
import Testing

@testable import ODataClient

/// An authorization server in memory that issues the tokens `a1`, `a2`, …, each with a limited lifetime.
private final class AuthorizationServer: Sendable {
    let issued = Counter()
    let forms = Mutex<[[String: String]]>([])
    let lifetime: Int
    let givesRefreshTokens: Bool

    init(lifetime: Int = 3600, givesRefreshTokens: Bool = false) {
        self.lifetime = lifetime
        self.givesRefreshTokens = givesRefreshTokens
    }

    var transport: LoopbackTransport {
        LoopbackTransport { request, body in
            let form = FormEncoding.decode((try? await body.text) ?? "")
            self.forms.withLock { $0.append(form) }
            if form["refresh_token"] == "over" { return answer(400, [:], "{\"error\":\"invalid_grant\"}") }
            let number = self.issued.next()
            let refresh = self.givesRefreshTokens ? ",\"refresh_token\":\"r\(number)\"" : ""
            return answer(
                200, [:],
                "{\"access_token\":\"a\(number)\",\"token_type\":\"Bearer\",\"expires_in\":\(self.lifetime)\(refresh)}")
        }
    }
}

@Suite("OAuth 2.0 (RFC 6749)") struct OAuth2Tests {
    private let clock = TestClock()

    private func oauth(
        _ server: AuthorizationServer, grant: OAuth2.Grant = .clientCredentials,
        store: any OAuth2TokenStore = MemoryTokenStore()
    ) throws -> OAuth2 {
        try OAuth2(
            .init(
                tokenEndpoint: "https://login.test/token", clientID: "my app", grant: grant, clientSecret: "s:1",
                scopes: ["read", "write"], parameters: ["audience": "shop"]),
            transport: server.transport, store: store, now: { [clock] in clock.now })
    }

    private func session(_ wire: ScriptedWire, _ oauth: OAuth2) throws -> HTTPSession {
        try HTTPSession(
            wire, serviceRoot: "https://service.test/",
            configuration: .init(authentication: Authentication(oauth), retry: .none))
    }

    private func tokens(of wire: ScriptedWire) -> [String?] {
        wire.sent.map { $0.request.headerFields[.authorization] }
    }

    @Test("Descriptions of the configuration and the step contain no secret") func printed() throws {
        let configuration = OAuth2.Configuration(
            tokenEndpoint: "https://login.test/token", clientID: "app", grant: .clientCredentials,
            clientSecret: "topsecret", parameters: ["assertion": "topsecret"])
        let oauth = try OAuth2(configuration, transport: AuthorizationServer().transport)
        var text = "\(configuration) \(String(reflecting: configuration)) \(oauth)"
        dump(configuration, to: &text)
        dump(oauth, to: &text)
        #expect(!text.contains("topsecret"), "\(text)")
    }

    @Test("4.4 Client credentials get a token, which is renewed before it ends") func renewed() async throws {
        let server = AuthorizationServer(lifetime: 300)
        let wire = ScriptedWire { _, _ in answer() }
        let session = try session(wire, try oauth(server))
        for _ in 0..<2 { _ = try await session.send(request(), body: nil) }
        clock.now += 239
        _ = try await session.send(request(), body: nil)
        clock.now += 1
        _ = try await session.send(request(), body: nil)
        #expect(tokens(of: wire) == ["Bearer a1", "Bearer a1", "Bearer a1", "Bearer a2"])
        let form = server.forms.withLock { $0[0] }
        #expect(form == ["grant_type": "client_credentials", "scope": "read write", "audience": "shop"])
    }

    @Test(
        "A lifetime may be a text or missing",
        arguments: [("\"300\"", 2), ("300", 2), ("\"soon\"", 1), ("null", 1), ("[1]", 1), ("\"1e999\"", 1)])
    func lifetime(text: String, tokens: Int) async throws {
        let issued = Counter()
        let transport = LoopbackTransport { _, _ in
            answer(200, [:], "{\"access_token\":\"a\(issued.next())\",\"expires_in\":\(text)}")
        }
        let oauth = try OAuth2(
            .init(tokenEndpoint: "https://login.test/token", clientID: "x", grant: .clientCredentials),
            transport: transport, store: MemoryTokenStore(), now: { [clock] in clock.now })
        let session = try session(ScriptedWire { _, _ in answer() }, oauth)
        _ = try await session.send(request(), body: nil)
        clock.now += 300
        _ = try await session.send(request(), body: nil)
        #expect(issued.value == tokens)
    }

    @Test("A refused token is renewed once, and a second refusal is returned to the caller") func refused()
        async throws
    {
        let server = AuthorizationServer()
        let wire = ScriptedWire { _, request in answer(request.headerFields[.authorization] == "Bearer a2" ? 200 : 401)
        }
        #expect(try await session(wire, try oauth(server)).send(request(), body: nil).0.status == .ok)
        let never = ScriptedWire { _, _ in answer(401) }
        #expect(try await session(never, try oauth(server)).send(request(), body: nil).0.status == .unauthorized)
        #expect(never.sent.count == 2)
    }

    @Test("A token that expires during a large upload is renewed, and the upload starts again")
    func longTransfer() async throws {
        let server = AuthorizationServer()
        let wire = ScriptedWire { _, request in answer(request.headerFields[.authorization] == "Bearer a2" ? 201 : 401)
        }
        let reports = Reports()
        let body = ByteStream([UInt8](repeating: 65, count: 300_000))
        let (response, _) = try await session(wire, try oauth(server)).send(
            request(.put), body: body, options: TransferOptions(report: reports.report))
        #expect(response.status == .created)
        #expect(wire.sent.map(\.body.count) == [300_000, 300_000])
        #expect(
            reports.lines.filter { $0.hasPrefix("sent") } == [
                "sent 300000/300000", "sent 0/300000", "sent 300000/300000",
            ])
    }

    @Test("Concurrent requests for a token ask for it once") func singleFlight() async throws {
        let server = AuthorizationServer()
        let wire = ScriptedWire { _, _ in answer() }
        let session = try session(wire, try oauth(server))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = try await session.send(request(), body: nil) } }
            try await group.waitForAll()
        }
        #expect(server.issued.value == 1)
    }

    @Test("6 Refresh tokens renew the sign-in, expired ones need a new one, and tokens survive a restart")
    func refresh()
        async throws
    {
        let server = AuthorizationServer(givesRefreshTokens: true)
        let store = MemoryTokenStore(OAuth2Tokens(accessToken: "a0", refreshToken: "over", expires: clock.now + 1000))
        let wire = ScriptedWire { _, _ in answer() }
        let session = try session(wire, try oauth(server, store: store))
        _ = try await session.send(request(), body: nil)
        clock.now += 1000
        _ = try await session.send(request(), body: nil)
        clock.now += 3600
        _ = try await session.send(request(), body: nil)
        #expect(tokens(of: wire) == ["Bearer a0", "Bearer a1", "Bearer a2"])
        #expect(
            server.forms.withLock { $0.map { $0["grant_type"] ?? "" } }
                == ["refresh_token", "client_credentials", "refresh_token"])
        #expect(server.forms.withLock { $0.last?["refresh_token"] } == "r1")
        #expect(await store.tokens()?.accessToken == "a2")
    }

    @Test("RFC 7636, appendix B: the proof key of the example") func proofKey() {
        let key = ProofKey(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(key.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        #expect(ProofKey.random().count == 43)
        #expect(ProofKey.random() != ProofKey.random())
    }

    @Test("4.1 A browser sign-in returns a code, which is exchanged for a token with the proof key") func code()
        async throws
    {
        let server = AuthorizationServer()
        let challenge = Mutex("")
        let grant = OAuth2.Grant.authorizationCode(
            endpoint: "https://login.test/authorize", redirectURI: "app://back"
        ) { url in
            let query = FormEncoding.decode(url.drop { $0 != "?" }.dropFirst())
            #expect(query["response_type"] == "code")
            #expect(query["code_challenge_method"] == "S256")
            #expect(query["redirect_uri"] == "app://back")
            challenge.withLock { $0 = query["code_challenge"] ?? "" }
            return "app://back?code=c%2F1&state=\(query["state"] ?? "")#x"
        }
        let wire = ScriptedWire { _, _ in answer() }
        _ = try await session(wire, try oauth(server, grant: grant)).send(request(), body: nil)
        #expect(tokens(of: wire) == ["Bearer a1"])
        let form = server.forms.withLock { $0[0] }
        #expect(form["code"] == "c/1")
        #expect(ProofKey(verifier: form["code_verifier"] ?? "").challenge == challenge.withLock { $0 })
    }

    @Test(
        "A redirect from the browser is checked before it is used",
        arguments: [
            ("app://back?code=c&state=other", OAuth2Error.stateMismatch), ("app://back", .stateMismatch),
            ("app://back?error=access_denied&state=STATE", .refused(code: "access_denied", description: nil)),
            ("app://back?state=STATE", .noCode),
        ] as [(String, OAuth2Error)])
    func badCode(landing: String, expected: OAuth2Error) async throws {
        let grant = OAuth2.Grant.authorizationCode(endpoint: "https://login.test/a", redirectURI: "app://back") { url in
            let state = FormEncoding.decode(url.drop { $0 != "?" }.dropFirst())["state"] ?? ""
            return landing.replacingOccurrences(of: "STATE", with: state)
        }
        let session = try session(ScriptedWire { _, _ in answer() }, try oauth(AuthorizationServer(), grant: grant))
        await #expect(throws: expected) { _ = try await session.send(request(), body: nil) }
    }

    @Test(
        "Endpoints without TLS are refused",
        arguments: [
            "http://login.test/token", "login.test/token", "ftp://login.test/", "",
        ])
    func insecure(url: String) {
        #expect(throws: OAuth2Error.insecureEndpoint(url)) {
            _ = try OAuth2(
                .init(tokenEndpoint: url, clientID: "x", grant: .clientCredentials),
                transport: LoopbackTransport { _, _ in answer() })
        }
    }

    @Test(
        "An invalid response of an endpoint is reported",
        arguments: [
            (200, "{}", OAuth2Error.invalidResponse(status: 200, reason: "it holds no access token")),
            (
                200, "{\"access_token\":\"x\",\"token_type\":\"mac\"}",
                .invalidResponse(status: 200, reason: "its tokens are not bearer tokens")
            ),
            (502, "<html>", .invalidResponse(status: 502, reason: "it is no error of OAuth")),
            (
                401, "{\"error\":\"invalid_client\",\"error_description\":\"who?\"}",
                .refused(code: "invalid_client", description: "who?")
            ),
        ] as [(Int, String, OAuth2Error)])
    func wrongAnswers(status: Int, body: String, expected: OAuth2Error) async throws {
        let oauth = try OAuth2(
            .init(tokenEndpoint: "http://localhost:1/token", clientID: "x", grant: .clientCredentials),
            transport: LoopbackTransport { _, _ in answer(status, [:], body) })
        let session = try session(ScriptedWire { _, _ in answer() }, oauth)
        await #expect(throws: expected) { _ = try await session.send(request(), body: nil) }
    }
}
