import Foundation
import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization
import Testing

@testable import ODataClient

/// A token endpoint that gives scripted responses and records the forms and paths of its requests.
private final class ScriptedServer: Sendable {
    let forms = Mutex<[[String: String]]>([])
    let paths = Mutex<[String]>([])
    private let responses: Mutex<[(Int, String)]>

    init(_ responses: [(Int, String)]) { self.responses = Mutex(responses) }

    var transport: LoopbackTransport {
        LoopbackTransport { request, body in
            let form = FormEncoding.decode((try? await body.text) ?? "")
            self.forms.withLock { $0.append(form) }
            self.paths.withLock { $0.append(request.path ?? "") }
            let response = self.responses.withLock { $0.isEmpty ? (500, "") : $0.removeFirst() }
            return answer(response.0, [:], response.1)
        }
    }
}

private let tokens = "{\"access_token\":\"a1\",\"token_type\":\"Bearer\",\"expires_in\":3600,\"refresh_token\":\"r1\"}"

private func server(issuer: String? = nil, sendsIssuer: Bool = false) throws -> OAuth2Server {
    try OAuth2Server(
        issuer: issuer, authorizationEndpoint: "https://login.test/authorize",
        tokenEndpoint: "https://login.test/token",
        deviceEndpoint: "https://login.test/device", sendsIssuer: sendsIssuer)
}

private let configuration = OAuth2.Configuration(
    tokenEndpoint: "https://login.test/token", clientID: "app", scopes: ["read", "offline_access"])

@Suite("A sign-in on another device (RFC 8628)") struct OAuth2DeviceFlowTests {
    private let clock = TestClock()
    private static let offer = """
        {"device_code":"secret-device-code","user_code":"ABCD-EFGH","verification_uri":"https://login.test/enter",
        "verification_uri_complete":"https://login.test/enter?code=ABCD-EFGH","expires_in":900,"interval":7}
        """

    private func signIn(_ script: ScriptedServer) async throws -> (OAuth2Tokens, [Int64], OAuth2DeviceFlow.Prompt?) {
        let clock = clock
        let sleeps = Sleeps()
        let flow = try OAuth2DeviceFlow(
            configuration, server: try server(), transport: script.transport, now: { clock.now },
            sleep: { time in
                sleeps.add(time.components.seconds)
                clock.now += time.components.seconds
            })
        let shown = Mutex<OAuth2DeviceFlow.Prompt?>(nil)
        let tokens = try await flow.signIn { prompt in shown.withLock { $0 = prompt } }
        return (tokens, sleeps.all, shown.withLock { $0 })
    }

    private final class Sleeps: Sendable {
        private let seconds = Mutex<[Int64]>([])
        var all: [Int64] { seconds.withLock { $0 } }
        func add(_ value: Int64) { seconds.withLock { $0.append(value) } }
    }

    private static func error(_ code: String) -> (Int, String) { (400, "{\"error\":\"\(code)\"}") }

    @Test("3.4, 3.5: Polling follows the interval, and slow_down adds five seconds") func polling()
        async throws
    {
        let script = ScriptedServer([
            (200, Self.offer), Self.error("authorization_pending"), Self.error("slow_down"),
            Self.error("authorization_pending"), (200, tokens),
        ])
        let (signedIn, sleeps, prompt) = try await signIn(script)
        #expect(signedIn.accessToken == "a1")
        #expect(signedIn.refreshToken == "r1")
        #expect(sleeps == [7, 7, 12, 12])
        #expect(prompt?.userCode == "ABCD-EFGH")
        #expect(prompt?.verificationURL == "https://login.test/enter")
        #expect(prompt?.completeURL == "https://login.test/enter?code=ABCD-EFGH")
        #expect(prompt?.expires == 1_000_900)
        let forms = script.forms.withLock { $0 }
        #expect(forms.first == ["client_id": "app", "scope": "read offline_access"])
        #expect(
            forms.last == [
                "client_id": "app", "device_code": "secret-device-code",
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
            ])
    }

    @Test("A server failure doubles the interval and does not stop polling") func failures() async throws {
        let script = ScriptedServer([(200, Self.offer), (503, "<html>"), (429, ""), (200, tokens)])
        let (_, sleeps, _) = try await signIn(script)
        #expect(sleeps == [7, 14, 28])
    }

    @Test(
        "A code that expires or is refused ends the sign-in",
        arguments: [
            ("expired_token", OAuth2Error.expired),
            ("access_denied", .refused(code: "access_denied", description: nil)),
            ("invalid_client", .refused(code: "invalid_client", description: nil)),
        ] as [(String, OAuth2Error)])
    func refused(code: String, expected: OAuth2Error) async throws {
        let script = ScriptedServer([(200, Self.offer), Self.error(code)])
        await #expect(throws: expected) { _ = try await signIn(script) }
    }

    @Test("A code is not polled after its expiry") func expiry() async throws {
        let offer = Self.offer.replacingOccurrences(of: "900", with: "20")
        let pending = Self.error("authorization_pending")
        let script = ScriptedServer([(200, offer), pending, pending, pending, pending, pending])
        await #expect(throws: OAuth2Error.expired) { _ = try await signIn(script) }
        #expect(script.forms.withLock { $0.count } == 3)
    }

    @Test("Cancelling the task stops polling") func cancelled() async throws {
        let script = ScriptedServer([(200, Self.offer)])
        let flow = try OAuth2DeviceFlow(configuration, server: try server(), transport: script.transport)
        let task = Task { try await flow.signIn { _ in } }
        task.cancel()
        await #expect(throws: (any Error).self) { _ = try await task.value }
        #expect(script.forms.withLock { $0.count } <= 1)
    }

    @Test(
        "A response without a usable code is refused",
        arguments: [
            ("\"ABCD-EFGH\"", "5"), ("\"ABCD-EFGH\"", "\"\""), ("https://login.test/enter\"", "http://evil.test/\""),
            ("https://login.test/enter\"", "javascript:alert(1)\""),
            ("ABCD-EFGH\",\"verification_uri\"", "A\\u001b[31m\",\"verification_uri\""),
            (":900", ":0"), (":900", ":-5"), (":900", ":\"soon\""), ("secret-device-code", ""),
            ("{\"device_code\"", "[\"device_code\""),
        ])
    func wrongOffers(part: String, replacement: String) async throws {
        let offer = Self.offer.replacingOccurrences(of: part, with: replacement)
        #expect(offer != Self.offer)
        await #expect {
            _ = try await signIn(ScriptedServer([(200, offer)]))
        } throws: { error in
            guard let error = error as? OAuth2Error, case .invalidResponse(200, _) = error else { return false }
            return true
        }
    }

    @Test("Invalid intervals and lifetimes are replaced by limits") func bounds() async throws {
        let offer = Self.offer.replacingOccurrences(of: ":7", with: ":-1").replacingOccurrences(
            of: "900", with: "1e300")
        let (_, sleeps, prompt) = try await signIn(ScriptedServer([(200, offer), (200, tokens)]))
        #expect(sleeps == [OAuth2DeviceFlow.standardInterval])
        #expect(prompt?.expires == 1_000_000 + OAuth2DeviceFlow.maxLifetime)
    }

    @Test("No error and no prompt shows a code") func secrets() async throws {
        let script = ScriptedServer([
            (200, Self.offer),
            (400, "{\"error\":\"invalid_grant\",\"error_description\":\"bad\\u001b[31m secret-device-code\"}"),
        ])
        do {
            _ = try await signIn(script)
            Issue.record("the code was accepted")
        } catch {
            #expect(!"\(error)".contains("secret-device-code"))
            #expect(!"\(error)".contains("\u{1B}"))
            #expect("\(error)".contains("‹redacted›"))
        }
        let prompt = OAuth2DeviceFlow.Prompt(
            userCode: "ABCD", verificationURL: "https://x.test/", completeURL: nil, expires: 1)
        #expect(!"\(prompt) \(String(reflecting: prompt))".contains("ABCD"))
    }
}

@Suite("A sign-in with the browser of this machine (RFC 8252, 7636, 9207)") struct OAuth2BrowserFlowTests {
    private func landing(
        _ text: String, issuer: String? = "https://login.test", sendsIssuer: Bool = false
    ) async throws -> OAuth2Tokens {
        let flow = try OAuth2BrowserFlow(
            configuration, server: try server(issuer: issuer, sendsIssuer: sendsIssuer),
            transport: ScriptedServer([(200, tokens)]).transport)
        return try await flow.signIn(redirectURI: "http://127.0.0.1:1/") { url in
            let state = FormEncoding.decode(url.drop { $0 != "?" }.dropFirst())["state"] ?? ""
            return "http://127.0.0.1:1/?" + text.replacingOccurrences(of: "STATE", with: state)
        }
    }

    @Test("The code is exchanged for tokens with the proof key of the same sign-in") func code() async throws {
        let script = ScriptedServer([(200, tokens)])
        let flow = try OAuth2BrowserFlow(configuration, server: try server(), transport: script.transport)
        let challenge = Mutex("")
        _ = try await flow.signIn(redirectURI: "http://127.0.0.1:1/") { url in
            let query = FormEncoding.decode(url.drop { $0 != "?" }.dropFirst())
            #expect(query["code_challenge_method"] == "S256")
            #expect(query["scope"] == "read offline_access")
            challenge.withLock { $0 = query["code_challenge"] ?? "" }
            return "http://127.0.0.1:1/?code=c1&state=\(query["state"] ?? "")"
        }
        let form = script.forms.withLock { $0.first } ?? [:]
        #expect(form["code"] == "c1")
        #expect(form["redirect_uri"] == "http://127.0.0.1:1/")
        #expect(ProofKey(verifier: form["code_verifier"] ?? "").challenge == challenge.withLock { $0 })
    }

    @Test(
        "A redirect for another sign-in or from another server is refused",
        arguments: [
            ("code=c&state=other", OAuth2Error.stateMismatch), ("code=c", .stateMismatch),
            ("code=c&state=STATE&state=STATE", .stateMismatch), ("code=c&code=d&state=STATE", .stateMismatch),
            ("code=c&state=STATE&iss=https://evil.test", .issuerMismatch),
            ("error=access_denied&state=STATE&iss=https://evil.test", .issuerMismatch),
            ("error=access_denied&state=STATE", .refused(code: "access_denied", description: nil)),
            ("state=STATE", .noCode), ("code=&state=STATE", .noCode),
        ] as [(String, OAuth2Error)])
    func wrongLandings(text: String, expected: OAuth2Error) async throws {
        await #expect(throws: expected) { _ = try await landing(text) }
    }

    @Test("RFC 9207: The issuer is checked if present, and required if the server always sends it") func issuer()
        async throws
    {
        #expect(try await landing("code=c&state=STATE").accessToken == "a1")
        #expect(try await landing("code=c&state=STATE&iss=https%3A%2F%2Flogin.test").accessToken == "a1")
        #expect(
            try await landing("code=c&state=STATE&iss=https://login.test", sendsIssuer: true).accessToken == "a1")
        await #expect(throws: OAuth2Error.issuerMismatch) {
            _ = try await landing("code=c&state=STATE", sendsIssuer: true)
        }
    }
}

@Suite("The metadata of an authorization server (RFC 8414)") struct OAuth2ServerTests {
    private static func document(_ issuer: String, _ more: String = "") -> String {
        """
        {"issuer":"\(issuer)","authorization_endpoint":"https://login.test/a","token_endpoint":"https://login.test/t",
        "device_authorization_endpoint":"https://login.test/d","revocation_endpoint":"https://login.test/r"\(more)}
        """
    }

    @Test("3.1: The metadata document is searched at the OAuth path, then at the OpenID Connect path") func places()
        async throws
    {
        let script = ScriptedServer([(404, ""), (200, Self.document("https://login.test/tenant"))])
        let server = try await OAuth2Server.discover("https://login.test/tenant", transport: script.transport)
        #expect(
            script.paths.withLock { $0 } == [
                "/.well-known/oauth-authorization-server/tenant", "/tenant/.well-known/openid-configuration",
            ])
        #expect(server.tokenEndpoint == "https://login.test/t")
        #expect(server.deviceEndpoint == "https://login.test/d")
        #expect(server.revocationEndpoint == "https://login.test/r")
        #expect(server.issuer == "https://login.test/tenant")
    }

    @Test(
        "3.3: A document with another issuer, without endpoints or without TLS is refused",
        arguments: [
            document("https://evil.test/tenant"), document("https://login.test/other"), "{}", "[]", "no",
            document("https://login.test/tenant").replacingOccurrences(
                of: "https://login.test/t\"", with: "http://login.test/t\""),
            document("https://login.test/tenant").replacingOccurrences(
                of: "https://login.test/t\"", with: "http://127.0.0.1/t\""),
            document("https://{tenantid}/tenant"),
        ])
    func refused(text: String) async {
        let script = ScriptedServer([(200, text)])
        await #expect(throws: OAuth2Error.self) {
            _ = try await OAuth2Server.discover("https://login.test/tenant", transport: script.transport)
        }
    }

    @Test("A Microsoft Entra ID tenant may be a placeholder and is then not compared") func tenant()
        async throws
    {
        let script = ScriptedServer([(200, Self.document("https://login.test/{tenantid}/v2.0"))])
        let server = try await OAuth2Server.discover("https://login.test/common/v2.0", transport: script.transport)
        #expect(server.issuer == nil)
    }

    @Test("A server without S256 does not offer the browser flow") func proofKeys() async throws {
        let plain = ",\"code_challenge_methods_supported\":[\"plain\"]"
        let script = ScriptedServer([(200, Self.document("https://login.test", plain))])
        let server = try await OAuth2Server.discover("https://login.test", transport: script.transport)
        #expect(server.authorizationEndpoint == nil)
        #expect(throws: OAuth2Error.self) {
            _ = try OAuth2BrowserFlow(configuration, server: server, transport: script.transport)
        }
    }
}

@Suite("Renewing and revoking the tokens of a sign-in") struct OAuth2RenewalTests {
    private let clock = TestClock()

    /// A store that several clients share, with a lock as several processes have one.
    private actor SharedStore: OAuth2TokenStore {
        private var kept: OAuth2Tokens?
        private var isHeld = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        init(_ tokens: OAuth2Tokens?) { kept = tokens }

        func tokens() -> OAuth2Tokens? { kept }
        func save(_ tokens: OAuth2Tokens?) { kept = tokens }

        func exclusively<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
            if isHeld { await withCheckedContinuation { waiting.append($0) } }
            isHeld = true
            defer {
                if waiting.isEmpty { isHeld = false } else { waiting.removeFirst().resume() }
            }
            return try await body()
        }
    }

    private func session(_ wire: ScriptedWire, _ oauth: OAuth2) throws -> HTTPSession {
        try HTTPSession(
            wire, serviceRoot: "https://service.test/",
            configuration: .init(authentication: Authentication(oauth), retry: .none))
    }

    @Test("RFC 6749, 6: Two clients of one store use a refresh token only once") func rotation() async throws {
        let refreshes = Counter()
        let transport = LoopbackTransport { _, body in
            let form = FormEncoding.decode((try? await body.text) ?? "")
            let number = refreshes.next()
            guard form["refresh_token"] == "r\(number - 1)" else {
                return answer(400, [:], "{\"error\":\"invalid_grant\"}")
            }
            try? await Task.sleep(for: .milliseconds(20))
            return answer(
                200, [:], "{\"access_token\":\"a\(number)\",\"expires_in\":3600,\"refresh_token\":\"r\(number)\"}")
        }
        let store = SharedStore(OAuth2Tokens(accessToken: "a0", refreshToken: "r0", expires: clock.now - 1))
        let clients = try (0..<4).map { _ in
            try OAuth2(configuration, transport: transport, store: store, now: { [clock] in clock.now })
        }
        let wire = ScriptedWire { _, _ in answer() }
        let sessions = try clients.map { try session(wire, $0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for session in sessions { group.addTask { _ = try await session.send(request(), body: nil) } }
            try await group.waitForAll()
        }
        #expect(refreshes.value == 1)
        #expect(wire.sent.map { $0.request.headerFields[.authorization] } == Array(repeating: "Bearer a1", count: 4))
        #expect(await store.tokens()?.refreshToken == "r1")
    }

    @Test(
        "A sign-in that cannot be renewed asks for a new sign-in",
        arguments: ["invalid_grant", "interaction_required"])
    func ended(code: String) async throws {
        let script = ScriptedServer([(400, "{\"error\":\"\(code)\"}")])
        let store = MemoryTokenStore(OAuth2Tokens(accessToken: "a0", refreshToken: "r0", expires: 1))
        let oauth = try OAuth2(configuration, transport: script.transport, store: store, now: { [clock] in clock.now })
        let wire = ScriptedWire { _, _ in answer() }
        await #expect(throws: OAuth2Error.signInNeeded) {
            _ = try await session(wire, oauth).send(request(), body: nil)
        }
        let none = try OAuth2(configuration, transport: script.transport)
        await #expect(throws: OAuth2Error.signInNeeded) {
            _ = try await session(wire, none).send(request(), body: nil)
        }
        #expect(wire.sent.isEmpty)
    }

    @Test(
        "A token with a lifetime below the margin is used for several requests",
        arguments: [
            ("60", 29, 1), ("60", 30, 2), ("30", 14, 1), ("1", 0, 1), ("0", 9_999, 1), ("-5", 9_999, 1),
            ("1e30", 900_000_000, 1),
        ] as [(String, Int64, Int)])
    func shortLives(lifetime: String, later: Int64, requests: Int) async throws {
        let issued = Counter()
        let transport = LoopbackTransport { _, _ in
            answer(200, [:], "{\"access_token\":\"a\(issued.next())\",\"expires_in\":\(lifetime)}")
        }
        let oauth = try OAuth2(
            .init(tokenEndpoint: "https://login.test/token", clientID: "x", grant: .clientCredentials),
            transport: transport, now: { [clock] in clock.now })
        let session = try session(ScriptedWire { _, _ in answer() }, oauth)
        for _ in 0..<3 { _ = try await session.send(request(), body: nil) }
        #expect(issued.value == 1)
        clock.now += later
        _ = try await session.send(request(), body: nil)
        #expect(issued.value == requests)
    }

    @Test(
        "Invalid tokens are refused",
        arguments: [
            "\"a b\"", "\"a\\r\\nX: y\"", "\"a\\u0000\"", "\"ä\"", "\"\"", "5", "null", "[\"a\"]",
            "\"\(String(repeating: "a", count: 16_385))\"",
        ])
    func malformedTokens(token: String) async throws {
        for text in [
            "{\"access_token\":\(token)}", "{\"access_token\":\"good\",\"refresh_token\":\(token)}",
        ] where !(text.contains("good") && ["\"a b\"", "\"\"", "null"].contains(token)) {
            #expect(throws: OAuth2Error.self) {
                _ = try OAuth2TokenResponse.tokens(in: Data(text.utf8), issued: 0)
            }
        }
    }

    @Test("A response that is too large is refused") func largeResponse() async throws {
        let script = ScriptedServer([(200, String(repeating: " ", count: 70_000) + tokens)])
        let oauth = try OAuth2(
            .init(tokenEndpoint: "https://login.test/token", clientID: "x", grant: .clientCredentials),
            transport: script.transport)
        await #expect(throws: (any Error).self) {
            _ = try await session(ScriptedWire { _, _ in answer() }, oauth).send(request(), body: nil)
        }
    }

    @Test("RFC 7009: Signing out revokes the refresh token and removes it even if that fails") func signOut()
        async throws
    {
        for status in [200, 503] {
            let script = ScriptedServer([(status, "")])
            var revoking = configuration
            revoking.revocationEndpoint = "https://login.test/revoke"
            let store = MemoryTokenStore(OAuth2Tokens(accessToken: "a0", refreshToken: "r0", expires: nil))
            let oauth = try OAuth2(revoking, transport: script.transport, store: store)
            do {
                try await oauth.signOut()
                #expect(status == 200)
            } catch {
                #expect(status == 503)
            }
            #expect(await store.tokens() == nil)
            #expect(
                script.forms.withLock { $0 } == [
                    ["client_id": "app", "token": "r0", "token_type_hint": "refresh_token"]
                ])
        }
    }
}

@Suite("The place of a token in a request") struct TokenPlacementTests {
    @Test(
        "Tokens with a common beginning are distinguished",
        arguments: [TokenPlacement.bearer, .header(.accept), .cookie("SSO"), .query("key")])
    func prefixes(placement: TokenPlacement) {
        var sent = HTTPRequest(method: .get, scheme: "https", authority: "service.test", path: "/a?b=1")
        sent.headerFields[.cookie] = "x=1"
        placement.put("token-2", into: &sent)
        #expect(placement.holds("token-2", in: sent))
        #expect(!placement.holds("token", in: sent))
        #expect(!placement.holds("oken-2", in: sent))
    }

    @Test("A token under another name is ignored") func otherNames() {
        var sent = HTTPRequest(method: .get, scheme: "https", authority: "service.test", path: "/token?other=token")
        sent.headerFields[.cookie] = "XSSO=token; SSO2=token"
        #expect(!TokenPlacement.cookie("SSO").holds("token", in: sent))
        #expect(!TokenPlacement.query("key").holds("token", in: sent))
    }

    @Test("After a refusal, a longer new token does not count as already sent") func renewal()
        async throws
    {
        let given = Counter()
        let step = TokenAuthentication(.cookie("SSO")) { _ in given.next() == 1 ? "t" : "t2" }
        let wire = ScriptedWire { _, request in
            answer(request.headerFields[.cookie] == "SSO=t2" ? 200 : 401)
        }
        let session = try HTTPSession(
            wire, serviceRoot: "https://service.test/",
            configuration: .init(authentication: Authentication(step), retry: .none))
        #expect(try await session.send(request(), body: nil).0.status == .ok)
        #expect(given.value == 2)
    }
}
