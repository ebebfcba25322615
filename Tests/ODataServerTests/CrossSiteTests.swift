import Foundation
import HTTPTypes
import ODataServer
import ODataService
import Testing

/// Requests of foreign pages from a browser that has a user's password or cookie.
@Suite struct CrossSiteTests {
    private static let ok: ODataServer.IdentifiedHandler = { _, body, _ in
        _ = try? await body.collect(limit: 1 << 20)
        return (HTTPResponse(status: .ok), ByteStream([65]))
    }

    private static let site = HTTPField.Name("Sec-Fetch-Site") ?? .origin

    private func status(
        _ server: RunningServer, _ fields: HTTPFields, method: HTTPRequest.Method = .post
    ) async throws -> Int {
        try await server.send("/Items", method: method, fields, body: ByteStream([65])).response.status.code
    }

    @Test("a change from a page of another origin is refused for any media type")
    func refused() async throws {
        try await withServer(handler: Self.ok) { (server: RunningServer) async throws in
            let own = "http://127.0.0.1:\(server.port)"
            for type in ["text/plain", "multipart/form-data; boundary=x", "image/png", "application/json"] {
                for origin in [
                    "http://attacker.example", "null", "http://127.0.0.1:1", "https://127.0.0.1", own + ".x",
                ] {
                    #expect(
                        try await status(server, [.origin: origin, .contentType: type]) == 403, "\(origin) \(type)")
                }
                for site in ["cross-site", "same-site"] {
                    #expect(try await status(server, [Self.site: site, .contentType: type]) == 403)
                }
                #expect(try await status(server, [.origin: own, .contentType: type]) == 200)
                #expect(try await status(server, [.origin: own, Self.site: "same-origin", .contentType: type]) == 200)
                #expect(try await status(server, [.contentType: type]) == 200, "no browser")
            }
            for method in [HTTPRequest.Method.patch, .put, .delete] {
                #expect(try await status(server, [.origin: "http://attacker.example"], method: method) == 403)
            }
            let read = try await server.send("/Items", [.origin: "http://attacker.example", Self.site: "cross-site"])
            #expect(read.response.status == .ok, "what it reads, the browser keeps from the page")
        }
    }

    @Test("an allowed origin may change data, and other origins need a preflight request")
    func allowed() async throws {
        let shop = "https://shop.example"
        let policy = CrossOriginPolicy(origins: .these([shop]))
        try await withServer(.init(crossOrigin: policy), handler: Self.ok) { (server: RunningServer) async throws in
            #expect(
                try await status(server, [.origin: shop, Self.site: "cross-site", .contentType: "text/plain"]) == 200)
            #expect(try await status(server, [.origin: shop + ".x", .contentType: "text/plain"]) == 403)
        }
        let anybody = ODataServer.Configuration(crossOrigin: CrossOriginPolicy(origins: .any))
        let simple = ["text/plain;charset=utf-8", "application/x-www-form-urlencoded", "multipart/form-data", "x"]
        try await withServer(anybody, handler: Self.ok) { (server: RunningServer) async throws in
            #expect(try await status(server, [.origin: shop, .contentType: "application/json"]) == 200)
            for type in simple {
                #expect(try await status(server, [.origin: shop, .contentType: type]) == 403, "\(type)")
            }
            #expect(try await status(server, [.origin: shop]) == 403)
        }
    }

    @Test("every response forbids media type guessing and referrers")
    func fields() async throws {
        try await withServer(.init(pathPrefix: "/odata/"), handler: Self.ok) { (server: RunningServer) async throws in
            for path in ["/odata/", "/elsewhere"] {
                let fields = try await server.send(path).response.headerFields
                #expect(fields[.xContentTypeOptions] == "nosniff")
                #expect(HTTPField.Name("Referrer-Policy").flatMap { fields[$0] } == "no-referrer")
            }
        }
    }

    @Test("a CSRF token is valid only for its user and session")
    func tokens() async throws {
        let token = try #require(HTTPField.Name("X-CSRF-Token"))
        let basic = BasicAuthentication(users: ["ann": "a", "bob": "b"])
        let (ann, bob) = ("Basic YW5uOmE=", "Basic Ym9iOmI=")
        try await withServer(.init(authentication: [basic], csrf: CSRFProtection()), handler: Self.ok) {
            (server: RunningServer) async throws in
            func session(_ user: String) async throws -> (token: String, cookie: String) {
                let fields = try await server.send("/", [.authorization: user, token: "Fetch"]).response.headerFields
                return (
                    try #require(fields[token]), String(try #require(fields[.setCookie]).prefix { $0 != ";" })
                )
            }
            let (first, second) = (try await session(ann), try await session(bob))
            for (user, value, cookie, expected) in [
                (ann, first.token, first.cookie, 200), (bob, first.token, first.cookie, 403),
                (bob, second.token, second.cookie, 200), (ann, first.token, second.cookie, 403),
            ] {
                let fields: HTTPFields = [.authorization: user, token: value, .cookie: cookie]
                #expect(try await status(server, fields) == expected)
            }
        }
    }
}
