import HTTPTypes
import ODataClient
import ODataHTTP
import ODataService
import Testing

@Suite("Credentials that a closure returns") struct CredentialTests {
    private func session(
        _ wire: ScriptedWire, _ step: any AuthenticationStep, root: String = "https://service.test/"
    ) throws -> HTTPSession {
        try HTTPSession(
            wire, serviceRoot: root,
            configuration: .init(authentication: Authentication(step), retry: .none, allowsPlainHTTP: true))
    }

    private static func guarded(_ password: String) -> ScriptedWire {
        ScriptedWire { _, request in
            request.headerFields[.authorization] == "Basic \(password)"
                ? answer(200, [:], "in") : answer(401, [.wwwAuthenticate: "Basic realm=\"R\""])
        }
    }

    @Test("Credentials are sent only after a challenge, and then with each request")
    func stored() async throws {
        let wire = Self.guarded("YW5uOnB3")
        let store = MemoryCredentialStore()
        await store.save(
            UserCredentials(user: "ann", password: "pw"),
            for: ProtectionSpace(host: "service.test", port: 443, scheme: "https", realm: "R"))
        let session = try session(wire, ChallengedCredentials(store: store))
        for _ in 0..<3 { #expect(try await session.send(request(), body: nil).0.status == .ok) }
        #expect(
            wire.sent.map { $0.request.headerFields[.authorization] } == [nil]
                + Array(repeating: "Basic YW5uOnB3", count: 3))
    }

    @Test("After a refusal, the closure is called with the last user name, and its answer is stored")
    func asked() async throws {
        let wire = Self.guarded("Ym9iOm5ldw==")
        let store = MemoryCredentialStore()
        let space = ProtectionSpace(host: "service.test", port: 443, scheme: "https", realm: "R")
        await store.save(UserCredentials(user: "bob", password: "old"), for: space)
        let step = ChallengedCredentials(store: store) { challenge, lastUser in
            #expect(challenge.realm() == "R")
            #expect(lastUser == "bob")
            return UserCredentials(user: "bob", password: "new")
        }
        #expect(try await session(wire, step).send(request(), body: nil).0.status == .ok)
        #expect(await store.credentials(for: space) == UserCredentials(user: "bob", password: "new"))
    }

    @Test("Concurrent challenges of a proxy call the closure once and store its answer")
    func proxyAskedOnce() async throws {
        let asked = Counter()
        // The second challenge is sent only after the first request was answered.
        let wire = ScriptedWire { [begun = Counter()] number, _ in
            begun.next()
            if number == 1 { while begun.value < 2 { try await Task.sleep(for: .milliseconds(5)) } }
            if number == 2 { try await Task.sleep(for: .milliseconds(300)) }
            if number <= 2 { throw TransportError.proxyAuthenticationRequired(proxy: "p") }
            return answer()
        }
        let step = ChallengedCredentials { _, _ in
            asked.next() == 1 ? UserCredentials(user: "ann", password: "pw") : nil
        }
        let session = try session(wire, step)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<2 { group.addTask { try await session.send(request(), body: nil).0.status.code } }
            for try await status in group { #expect(status == 200) }
        }
        #expect(asked.value == 1)
        #expect(wire.sent.map(\.options.proxyAuthorization) == [nil, nil, "Basic YW5uOnB3", "Basic YW5uOnB3"])
    }

    /// A sign-in that ends when the test decides, whether it is cancelled or not.
    private final class Dialogue: Sendable {
        private let (ends, end) = AsyncStream<Void>.makeStream()
        let begun = Counter()

        func run() async {
            begun.next()
            await Task { for await _ in self.ends { break } }.value
        }

        func close() { end.finish() }
    }

    @Test(
        "A cancelled or timed-out request does not wait for another request's sign-in", arguments: [true, false])
    func leaving(isTokens: Bool) async throws {
        let dialogue = Dialogue()
        let step: any AuthenticationStep =
            isTokens
            ? TokenAuthentication(.bearer) { _ in
                await dialogue.run()
                return "t"
            }
            : ChallengedCredentials { _, _ in
                await dialogue.run()
                return UserCredentials(user: "ann", password: "pw")
            }
        let wire = ScriptedWire { _, request in
            request.headerFields[.authorization] == nil
                ? answer(401, [.wwwAuthenticate: "Basic realm=\"R\""]) : answer()
        }
        let session = try session(wire, step)
        let first = Task { try await session.send(request(), body: nil).0.status.code }
        while dialogue.begun.value == 0 { try await Task.sleep(for: .milliseconds(5)) }
        let second = Task { try await session.send(request(), body: nil) }
        let late = Task {
            try await session.send(request(), body: nil, options: TransferOptions(wholeTimeout: .milliseconds(50)))
        }
        await #expect(throws: TransportError.timedOut(host: "service.test")) { _ = try await late.value }
        second.cancel()
        await #expect(throws: CancellationError.self) { _ = try await second.value }
        dialogue.close()
        #expect(try await first.value == 200, "it goes on for the others")
        #expect(dialogue.begun.value == 1)
    }

    @Test("Concurrent challenges call the closure once, and its refusal counts for all")
    func askedOnce() async throws {
        for givesUp in [false, true] {
            let asked = Counter()
            let wire = ScriptedWire { _, request in
                try await Task.sleep(for: .milliseconds(20))
                return request.headerFields[.authorization] == "Basic YW5uOnB3"
                    ? answer() : answer(401, [.wwwAuthenticate: "Basic realm=\"R\""])
            }
            let step = ChallengedCredentials { _, _ in
                asked.next()
                try await Task.sleep(for: .milliseconds(200))
                return givesUp ? nil : UserCredentials(user: "ann", password: "pw")
            }
            let session = try session(wire, step)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<5 { group.addTask { try await session.send(request(), body: nil).0.status.code } }
                for try await status in group { #expect(status == (givesUp ? 401 : 200)) }
            }
            #expect(asked.value == 1)
        }
    }

    @Test("If the closure gives no credentials, the request gets the 401") func givenUp() async throws {
        let wire = Self.guarded("x")
        let (response, _) = try await session(wire, ChallengedCredentials()).send(request(), body: nil)
        #expect(response.status == .unauthorized)
        #expect(wire.sent.count == 1)
    }

    @Test("Credentials for HTTPS are not used for HTTP, nor for another port or realm")
    func spaces() async throws {
        let store = MemoryCredentialStore()
        await store.save(
            UserCredentials(user: "ann", password: "pw"),
            for: ProtectionSpace(host: "service.test", port: 443, scheme: "https", realm: "R"))
        let wire = ScriptedWire { _, _ in answer(401, [.wwwAuthenticate: "Basic realm=\"R\""]) }
        for root in ["http://service.test/", "https://service.test:8443/"] {
            let session = try session(wire, ChallengedCredentials(store: store), root: root)
            _ = try await session.send(request(.get, root), body: nil)
        }
        #expect(wire.sent.allSatisfy { $0.request.headerFields[.authorization] == nil })
        #expect(
            await store.credentials(
                for: ProtectionSpace(host: "SERVICE.test", port: 443, scheme: "HTTPS", realm: "R", isProxy: true))
                == nil)
    }

    @Test(
        "API keys and tokens are sent in their places",
        arguments: [
            (TokenPlacement.bearer, "Authorization: Bearer k=1"), (.cookie("SSO"), "Cookie: SSO=k=1"),
            (.query("api key"), "/shop/Orders?api%20key=k%3D1"),
        ])
    func placements(placement: TokenPlacement, expected: String) async throws {
        let wire = ScriptedWire { _, _ in answer() }
        _ = try await session(wire, TokenAuthentication(placement, key: "k=1")).send(request(), body: nil)
        let sent = wire.sent[0].request
        let all =
            sent.headerFields.map { "\($0.name.canonicalName): \($0.value)".lowercased() } + [sent.path?.lowercased()]
        #expect(all.contains(expected.lowercased()))
    }

    @Test("Concurrent refusals request one token, and a second refusal is returned to the caller")
    func singleFlight() async throws {
        let asked = Counter()
        let step = TokenAuthentication(.bearer) { isRefused in
            let number = asked.next()
            #expect(isRefused == (number > 1))
            try await Task.sleep(for: .milliseconds(50))
            return "t\(number)"
        }
        let wire = ScriptedWire { _, request in
            answer(request.headerFields[.authorization] == "Bearer t2" ? 200 : 401)
        }
        let session = try session(wire, step)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await session.send(request(), body: nil).0.status.code } }
            for try await status in group { #expect(status == 200) }
        }
        #expect(asked.value == 2)
        let never = ScriptedWire { _, _ in answer(401) }
        let fixed = TokenAuthentication(.bearer, key: "same")
        #expect(try await self.session(never, fixed).send(request(), body: nil).0.status == .unauthorized)
        #expect(never.sent.count == 1)
    }

    @Test(
        "A sign-in page instead of data is passed to a closure, whose result is sent", arguments: [true, false])
    func signIn(isRedirect: Bool) async throws {
        let jar = CookieJar()
        let wire = ScriptedWire { _, request in
            if request.headerFields[.cookie] == "SMSESSION=1" {
                return answer(200, [.contentType: "application/json"], "{}")
            }
            return isRedirect
                ? answer(302, [.location: "https://login.test/?to=x"])
                : answer(200, [.contentType: "text/html; charset=utf-8"], "<form action=\"/login\">")
        }
        let step = SignInPage { challenge in
            if !isRedirect { #expect(String(decoding: challenge.page, as: UTF8.self).hasPrefix("<form")) }
            jar.store(answer(200, [.setCookie: "SMSESSION=1; Path=/; Secure"]).0, to: challenge.request)
            return .retry
        }
        let session = try HTTPSession(
            wire, serviceRoot: "https://service.test/",
            configuration: .init(authentication: Authentication(step), cookies: jar))
        var data = request()
        data.headerFields[.accept] = "application/json"
        let (response, stream) = try await session.send(data, body: nil)
        #expect(response.status == .ok)
        #expect(try await stream.text == "{}")
        #expect(wire.sent.count == 2)
        var page = request()
        page.headerFields[.accept] = "text/html"
        #expect(!SignInPage.isUnexpectedPage(answer(200, [.contentType: "text/html"]).0, to: page))
    }

    @Test("A client certificate is given to the transport for each request") func certificate() async throws {
        let counter = Counter()
        let wire = ScriptedWire { _, _ in answer() }
        let step = ClientCertificate { .pkcs12([UInt8(counter.next())], passphrase: nil) }
        let session = try session(wire, step)
        for _ in 0..<2 { _ = try await session.send(request(), body: nil) }
        #expect(
            wire.sent.map(\.options.clientIdentity) == [.pkcs12([1], passphrase: nil), .pkcs12([2], passphrase: nil)])
    }
}
