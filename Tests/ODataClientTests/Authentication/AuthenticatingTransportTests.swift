import HTTPTypes
import ODataClient
import ODataHTTP
import ODataService
import Testing

/// A step that answers each challenge with its next password.
private final class Passwords: AuthenticationStep {
    private let counter = Counter()
    let answers: Int

    init(answers: Int = 1) { self.answers = answers }

    func prepare(_ request: inout HTTPRequest) async throws {
        request.headerFields[.authorization] = "Basic \(counter.value)"
    }

    func answer(_ challenge: AuthenticationChallenge) async throws -> AuthenticationAnswer {
        counter.next() <= answers ? .retry : .decline
    }
}

@Suite("Authentication of the client") struct AuthenticatingTransportTests {
    private let origins: Set<Origin> = [Origin(scheme: "https", authority: "service.test")].reduce(into: []) {
        set, origin in
        if let origin { set.insert(origin) }
    }

    private func transport(_ wire: ScriptedWire, _ step: any AuthenticationStep) -> AuthenticatingTransport {
        AuthenticatingTransport(wire, authentication: Authentication(step), origins: origins)
    }

    @Test("A challenge repeats the request with its body, and progress starts again")
    func repeats() async throws {
        let wire = ScriptedWire { number, _ in
            number == 1 ? answer(401, [.wwwAuthenticate: "Basic realm=\"shop\""], "who?") : answer(201, [:], "done")
        }
        let reports = Reports()
        let measured = AuthenticatingTransport(
            ProgressTransport(wire), authentication: Authentication(Passwords()), origins: origins)
        let (response, stream) = try await measured.send(
            request(.post), body: ByteStream(Array("order".utf8)), options: TransferOptions(report: reports.report))
        #expect(response.status == .created)
        #expect(try await stream.text == "done")
        #expect(wire.sent.map(\.body) == ["order", "order"])
        #expect(wire.sent.map { $0.request.headerFields[.authorization] } == ["Basic 0", "Basic 1"])
        #expect(
            reports.lines == [
                "sent 5/5", "received 4/4", "needed service.test shop false", "sent 0/5", "received 0/-1", "sent 5/5",
                "received 4/4",
            ])
    }

    @Test(
        "Credentials go only to the origin of the service",
        arguments: [
            "https://elsewhere.test/shop/", "https://service.test:8443/shop/", "http://service.test/shop/",
            "https://service.test.evil.test/shop/", "https://sub.service.test/",
        ])
    func ownOrigin(url: String) async throws {
        let wire = ScriptedWire { _, _ in answer(401, [.wwwAuthenticate: "Basic realm=\"x\""]) }
        let (response, _) = try await transport(wire, Passwords(answers: 5)).send(request(.get, url), body: nil)
        #expect(response.status == .unauthorized)
        #expect(wire.sent.count == 1)
        #expect(wire.sent[0].request.headerFields[.authorization] == nil)
    }

    @Test(
        "Letter case and an explicit default port do not change an origin",
        arguments: [
            "https://SERVICE.test/shop/", "HTTPS://service.test:443/shop/",
        ])
    func sameOrigin(url: String) async throws {
        let wire = ScriptedWire { _, _ in answer() }
        _ = try await transport(wire, Passwords()).send(request(.get, url), body: nil)
        #expect(wire.sent[0].request.headerFields[.authorization] == "Basic 0")
    }

    @Test("An unanswered challenge is returned to the caller with its body")
    func unanswered() async throws {
        let wire = ScriptedWire { _, _ in answer(401, [.wwwAuthenticate: "Negotiate"], "sign in first") }
        let (response, stream) = try await transport(wire, Passwords(answers: 0)).send(request(), body: nil)
        #expect(response.status == .unauthorized)
        #expect(try await stream.text == "sign in first")
        #expect(wire.sent.count == 1)
    }

    @Test("Repeated challenges end after three answers")
    func endless() async throws {
        let wire = ScriptedWire { _, _ in answer(401) }
        let (response, _) = try await transport(wire, Passwords(answers: 100)).send(request(), body: nil)
        #expect(response.status == .unauthorized)
        #expect(wire.sent.count == 1 + AuthenticatingTransport.maxAnswers)
    }

    @Test("A body that cannot be repeated is sent once, and the challenge is returned to the caller")
    func unrepeatable() async throws {
        let wire = ScriptedWire { _, _ in answer(401) }
        let chunks = Counter()
        let body = ByteStream { chunks.next() == 1 ? [1] : nil }
        let (response, _) = try await transport(wire, Passwords()).send(request(.post), body: body)
        #expect(response.status == .unauthorized)
        #expect(wire.sent.count == 1)
    }

    @Test("Authentication steps run in order, and the first answer counts")
    func order() async throws {
        let wire = ScriptedWire { _, _ in answer() }
        let both = Authentication.header("X-Step", "1").then(.header("X-Step", "2")).then(.header("X-Other", "3"))
        let transport = AuthenticatingTransport(wire, authentication: both, origins: origins)
        _ = try await transport.send(request(), body: nil)
        let fields = wire.sent[0].request.headerFields
        #expect(HTTPField.Name("X-Step").map { fields[$0] } == "2")
        #expect(HTTPField.Name("X-Other").map { fields[$0] } == "3")
    }

    @Test("A challenge of a proxy goes to the proxy step, and its answer to the transport")
    func proxy() async throws {
        let wire = ScriptedWire { number, _ in
            if number == 1 { throw TransportError.proxyAuthenticationRequired(proxy: "proxy.test:3128") }
            return answer()
        }
        let step = ChallengedCredentials { challenge, _ in
            #expect(challenge.isProxy)
            return UserCredentials(user: "ann", password: "pw")
        }
        let (response, _) = try await transport(wire, step).send(request(), body: nil)
        #expect(response.status == .ok)
        #expect(wire.sent[1].options.proxyAuthorization == "Basic YW5uOnB3")
        #expect(wire.sent[1].request.headerFields[.authorization] == nil)
        let refusing = AuthenticatingTransport(
            ScriptedWire { _, _ in throw TransportError.proxyAuthenticationRequired(proxy: "p") },
            authentication: Authentication(ChallengedCredentials()), origins: origins)
        await #expect(throws: TransportError.proxyAuthenticationRequired(proxy: "p")) {
            _ = try await refusing.send(request(), body: nil)
        }
    }

    @Test("No description contains a secret") func redacted() {
        let authentication = Authentication.basic(user: "ann", password: "topsecret")
        let credentials = UserCredentials(user: "ann", password: "topsecret")
        let tokens = OAuth2Tokens(accessToken: "topsecret", refreshToken: "topsecret", expires: nil)
        let identity = ClientIdentity.pkcs12(Array("topsecret".utf8), passphrase: "topsecret")
        let options = TransferOptions(clientIdentity: identity, proxyAuthorization: "topsecret")
        var text = "\(authentication) \(credentials) \(tokens) \(identity) \(options)"
        dump(authentication, to: &text)
        dump(credentials, to: &text)
        dump(tokens, to: &text)
        dump(identity, to: &text)
        dump(options, to: &text)
        #expect(!text.contains("topsecret"))
    }
}
