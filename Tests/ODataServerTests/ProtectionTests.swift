import Foundation
import HTTPTypes
import JWTKit
import ODataHTTP
import ODataServer
import ODataService
import Testing

/// Authentication, roles and cross-origin access.
@Suite struct ProtectionTests {
    /// Answers with the name and roles of the principal.
    private static let who: ODataServer.IdentifiedHandler = { _, body, principal in
        _ = try? await body.collect(limit: 1 << 20)
        let text = principal.map { "\($0.name) \($0.roles.sorted().joined(separator: ","))" } ?? "nobody"
        return (HTTPResponse(status: .ok), ByteStream(Array(text.utf8)))
    }

    private struct Claims: JWTPayload {
        var iss = "https://login.example/"
        var aud: [String] = ["shop", "other"]
        var sub = "ann"
        var exp: Double? = Date().timeIntervalSince1970 + 60
        var nbf: Double?
        var scope = "read write"
        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    @Test func `a bearer token lets its subject in, with its scopes as roles`() async throws {
        let key = ES256PrivateKey()
        let signer = await JWTKeyCollection().add(ecdsa: key, kid: "k1")
        let parameters = try #require(key.publicKey.parameters)
        let set = """
            {"keys":[{"kty":"EC","crv":"P-256","alg":"ES256","kid":"k1","x":"\(parameters.x)","y":"\(parameters.y)"}]}
            """
        let keys = try await BearerAuthentication.Keys(jsonWebKeySet: Data(set.utf8))
        let bearer = BearerAuthentication(issuer: "https://login.example/", audience: "shop", keys: keys)
        let basic = BasicAuthentication(user: "bob", password: "b")
        try await withServer(.init(authentication: [bearer, basic]), handler: Self.who) { server in
            func status(_ authorization: String) async throws -> (Int, String) {
                let answer = try await server.send("/", [.authorization: authorization])
                return (answer.response.status.code, String(decoding: answer.bytes, as: UTF8.self))
            }
            func token(_ claims: Claims) async throws -> String { try await signer.sign(claims, kid: "k1") }
            let good = try await token(Claims())
            #expect(try await status("Bearer \(good)") == (200, "ann read,write"))
            #expect(try await status("Basic Ym9iOmI=") == (200, "bob "))
            #expect(try await status("Bearer \(token(Claims(iss: "https://evil.example/")))").0 == 401)
            #expect(try await status("Bearer \(token(Claims(aud: ["other"])))").0 == 401)
            #expect(try await status("Bearer \(token(Claims(exp: 1)))").0 == 401)
            #expect(try await status("Bearer \(token(Claims(exp: nil)))").0 == 401)
            #expect(try await status("Bearer \(token(Claims(nbf: Date().timeIntervalSince1970 + 60)))").0 == 401)
            #expect(try await status("Bearer \(token(Claims(sub: "")))").0 == 401)
            #expect(try await status("Bearer \(good.dropLast(3))AAA").0 == 401)
            let forged = await JWTKeyCollection().add(ecdsa: ES256PrivateKey(), kid: "k1")
            #expect(try await status("Bearer \(forged.sign(Claims(), kid: "k1"))").0 == 401)
            // A token with the algorithm `none`, which needs no signature.
            let none = "eyJhbGciOiJub25lIn0." + good.split(separator: ".")[1] + "."
            #expect(try await status("Bearer \(none)").0 == 401)
            let refused = try await server.send("/")
            #expect(refused.response.headerFields[values: .wwwAuthenticate].count == 2)
        }
    }

    @Test func `a token with an unknown critical header is refused`() async throws {
        let (signer, set) = try await issuer()
        let keys = try await BearerAuthentication.Keys(jsonWebKeySet: Data(set.utf8))
        let bearer = BearerAuthentication(issuer: "https://login.example/", audience: "shop", keys: keys)
        func name(_ header: JWTHeader) async throws -> String? {
            let token = try await signer.sign(Claims(), kid: "k1", header: header)
            let fields: HTTPFields = [.authorization: "Bearer \(token)"]
            let request = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/", headerFields: fields)
            return await bearer.principal(of: request, certificate: nil)?.name
        }
        #expect(try await name([:]) == "ann")
        #expect(try await name(["typ": "at+jwt"]) == "ann")
        #expect(try await name(["crit": ["zzz"], "zzz": 1]) == nil)
        #expect(try await name(["crit": ["exp"], "exp": 1]) == nil)
        #expect(try await name(["crit": []]) == nil)
        #expect(try await name(["b64": false]) == nil)
        #expect(try await name(["typ": "logout+jwt"]) == nil)
    }

    @Test func `keys for encryption, and keys that sign and verify alike, verify no token`() async throws {
        let (signer, set) = try await issuer()
        let secret = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3I"
        let symmetric = #"{"keys":[{"kty":"oct","alg":"HS256","kid":"k1","k":"\#(secret)"}]}"#
        for (text, isAccepted) in [
            (set, true), (set.replacing(#""alg""#, with: #""use":"sig","alg""#), true),
            (set.replacing(#""alg""#, with: #""use":"enc","alg""#), false),
            (set.replacing(#""alg""#, with: #""key_ops":["encrypt"],"alg""#), false), (symmetric, false),
        ] {
            let keys = try? await BearerAuthentication.Keys(jsonWebKeySet: Data(text.utf8))
            guard let keys else {
                #expect(!isAccepted)
                continue
            }
            let bearer = BearerAuthentication(issuer: "https://login.example/", audience: "shop", keys: keys)
            let token = try await signer.sign(Claims(), kid: "k1")
            let fields: HTTPFields = [.authorization: "Bearer \(token)"]
            let request = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/", headerFields: fields)
            #expect(await (bearer.principal(of: request, certificate: nil) != nil) == isAccepted, "\(text)")
        }
    }

    /// Returns an issuer that signs tokens, and its published keys.
    private func issuer() async throws -> (signer: JWTKeyCollection, keySet: String) {
        let key = ES256PrivateKey()
        let signer = await JWTKeyCollection().add(ecdsa: key, kid: "k1")
        let parameters = try #require(key.publicKey.parameters)
        let set = """
            {"keys":[{"kty":"EC","crv":"P-256","alg":"ES256","kid":"k1","x":"\(parameters.x)","y":"\(parameters.y)"}]}
            """
        return (signer, set)
    }

    @Test func `keys are fetched when a token needs them, and not again for every wrong one`() async throws {
        let (signer, set) = try await issuer()
        let fetches = Counter()
        let transport = LoopbackTransport { _, _ in
            await fetches.count()
            return (HTTPResponse(status: .ok), ByteStream(Array(set.utf8)))
        }
        let keys = try BearerAuthentication.Keys(url: "https://login.example/keys", transport: transport)
        let bearer = BearerAuthentication(issuer: "https://login.example/", audience: "shop", keys: keys)
        var request = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/")
        request.headerFields[.authorization] = "Bearer \(try await signer.sign(Claims(), kid: "k1"))"
        #expect(await bearer.principal(of: request, certificate: nil)?.name == "ann")
        #expect(await bearer.principal(of: request, certificate: nil)?.roles == ["read", "write"])
        for _ in 0..<3 {
            request.headerFields[.authorization] = "Bearer a.b.c"
            #expect(await bearer.principal(of: request, certificate: nil) == nil)
        }
        #expect(await fetches.value == 1)
    }

    @Test func `tokens wait for the keys that are being fetched, and a failure does not shut out for long`()
        async throws
    {
        let (signer, set) = try await issuer()
        let fetches = Counter()
        let transport = LoopbackTransport { _, _ in
            await fetches.count()
            guard await fetches.value > 1 else { return (HTTPResponse(status: .serviceUnavailable), ByteStream([])) }
            try? await Task.sleep(for: .milliseconds(300))
            return (HTTPResponse(status: .ok), ByteStream(Array(set.utf8)))
        }
        let keys = try BearerAuthentication.Keys(url: "https://login.example/keys", transport: transport)
        let bearer = BearerAuthentication(issuer: "https://login.example/", audience: "shop", keys: keys)
        var request = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/")
        request.headerFields[.authorization] = "Bearer \(try await signer.sign(Claims(), kid: "k1"))"
        #expect(await bearer.principal(of: request, certificate: nil) == nil)
        #expect(await bearer.principal(of: request, certificate: nil) == nil, "not at once again")
        #expect(await fetches.value == 1)
        try await Task.sleep(for: BearerAuthentication.Keys.pauseAfterFailure + .milliseconds(50))
        let known = await withTaskGroup(of: Bool.self) { [request] group in
            for _ in 0..<4 { group.addTask { await bearer.principal(of: request, certificate: nil)?.name == "ann" } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(known == [true, true, true, true])
        #expect(await fetches.value == 2)
    }

    private actor Counter {
        private(set) var value = 0
        func count() { value += 1 }
    }

    @Test func `a change needs the token that a GET gave`() async throws {
        let token = try #require(HTTPField.Name("X-CSRF-Token"))
        try await withServer(.init(csrf: CSRFProtection()), handler: Self.who) { server in
            #expect(try await server.send("/").response.headerFields[token] == nil)
            let refused = try await server.send("/", method: .post, body: ByteStream([1]))
            #expect(refused.response.status == .forbidden)
            #expect(refused.response.headerFields[token] == "Required")
            let fetched = try await server.send("/", [token: "Fetch"]).response.headerFields
            let value = try #require(fetched[token])
            let cookie = try #require(fetched[.setCookie]?.split(separator: ";").first.map(String.init))
            #expect(fetched[.setCookie]?.contains("HttpOnly") == true)
            let changed = try await server.send(
                "/", method: .post, [token: value, .cookie: "a=b; \(cookie)"], body: ByteStream([1]))
            #expect(changed.response.status == .ok)
            for fields: HTTPFields in [
                [token: value], [token: value, .cookie: "outpost-csrf=0123456789abcdef0123456789abcdef"],
                [.cookie: cookie], [token: value + "0", .cookie: cookie],
            ] {
                #expect(try await server.send("/", method: .delete, fields).response.status == .forbidden)
            }
            let again = try await server.send("/", [token: "fetch", .cookie: cookie]).response.headerFields
            #expect(again[token] == value && again[.setCookie] == nil)
        }
    }

    @Test(arguments: ["\u{301}x", ":", "\r\n", "\u{200C}"])
    func `a password may begin with anything`(password: String) async throws {
        let basic = BasicAuthentication(user: "ann", password: password)
        let fields: HTTPFields = [.authorization: "Basic \(Data("ann:\(password)".utf8).base64EncodedString())"]
        let request = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/", headerFields: fields)
        #expect(await basic.principal(of: request, certificate: nil)?.name == "ann")
    }

    @Test func `scripts of allowed origins may use the service, others may not`() async throws {
        let policy = CrossOriginPolicy(origins: .these(["https://app.example"]), allowsCredentials: true)
        let configuration = ODataServer.Configuration(
            authentication: [BasicAuthentication(user: "a", password: "b")], crossOrigin: policy)
        try await withServer(configuration, handler: Self.who) { server in
            let preflight = try await server.send(
                "/Orders", method: .options,
                [
                    .origin: "https://app.example", .accessControlRequestMethod: "PATCH",
                    .accessControlRequestHeaders: "content-type, if-match",
                ]
            ).response
            #expect(preflight.status == .noContent)
            #expect(preflight.headerFields[.accessControlAllowOrigin] == "https://app.example")
            #expect(preflight.headerFields[.accessControlAllowMethods]?.contains("PATCH") == true)
            #expect(preflight.headerFields[.accessControlAllowHeaders] == "content-type, if-match")
            #expect(preflight.headerFields[.accessControlAllowCredentials] == "true")
            let other = try await server.send(
                "/", method: .options, [.origin: "https://evil.example", .accessControlRequestMethod: "GET"]
            ).response
            #expect(other.headerFields[.accessControlAllowOrigin] == nil && other.headerFields[.vary] == "Origin")
            let read = try await server.send("/", [.origin: "https://app.example", .authorization: "Basic YTpi"])
            #expect(read.response.headerFields[.accessControlExposeHeaders]?.contains("OData-EntityId") == true)
        }
        try await withServer(.init(crossOrigin: .init(origins: .any)), handler: Self.who) { server in
            let read = try await server.send("/", [.origin: "https://any.example"]).response
            #expect(read.headerFields[.accessControlAllowOrigin] == "*")
            #expect(read.headerFields[.accessControlAllowCredentials] == nil)
        }
    }

    @Test func `the health endpoint needs no password and stands beside the service`() async throws {
        let configuration = ODataServer.Configuration(
            pathPrefix: "/odata/", authentication: [BasicAuthentication(user: "a", password: "b")],
            health: HealthEndpoint())
        try await withServer(configuration, handler: Self.who) { server in
            let well = try await server.send("/health")
            #expect(well.response.status == .ok && String(decoding: well.bytes, as: UTF8.self) == #"{"status":"pass"}"#)
            #expect(try await server.send("/health", method: .post).response.status == .methodNotAllowed)
            #expect(try await server.send("/odata/").response.status == .unauthorized)
        }
        let ailing = ODataServer.Configuration(health: HealthEndpoint(path: "/up") { false })
        try await withServer(ailing, handler: Self.who) { server in
            let answer = try await server.send("/up")
            #expect(answer.response.status == .serviceUnavailable)
        }
    }
}
