import Foundation
import HTTPTypes
import ODataServer
import ODataService
import Testing

/// The secret of a service for the person who started it.
@Suite struct TokenSignInTests {
    private static let who: ODataServer.IdentifiedHandler = { request, body, principal in
        _ = try? await body.collect(limit: 1 << 20)
        return (
            HTTPResponse(status: .ok), ByteStream(Array("\(principal?.name ?? "nobody") \(request.path ?? "")".utf8))
        )
    }

    private func served(_ signIn: TokenSignIn, _ body: (RunningServer) async throws -> Void) async throws {
        try await withServer(.init(authentication: [signIn]), handler: Self.who, body)
    }

    @Test("a one-time code is exchanged for a cookie that scripts and other sites cannot use")
    func code() async throws {
        let signIn = TokenSignIn()
        try await served(signIn) { (server: RunningServer) async throws in
            #expect(try await server.send("/Orders").response.status == .unauthorized)
            let exchange = try await server.send("/Orders?$top=1&\(signIn.query)").response
            #expect(exchange.status == .seeOther && exchange.headerFields[.location] == "/Orders?$top=1")
            let cookie = try #require(exchange.headerFields[.setCookie])
            for attribute in ["HttpOnly", "SameSite=Strict", "Path=/"] { #expect(cookie.contains(attribute)) }
            #expect(!cookie.contains("Secure"))
            #expect(exchange.headerFields[.cacheControl] == "no-store")
            let session = String(cookie.prefix { $0 != ";" })
            let answer = try await server.send("/Orders", [.cookie: "a=b; \(session)"])
            #expect(String(decoding: answer.bytes, as: UTF8.self) == "owner /Orders")
            // The code is used up; an existing session continues.
            #expect(try await server.send("/?\(signIn.query)").response.status == .unauthorized)
            let again = try await server.send("/?\(signIn.query)", [.cookie: session]).response
            #expect(again.status == .seeOther && again.headerFields[.setCookie] == nil)
            for wrong in ["\(session)0", String(session.dropLast()), "outpost-session=", session.uppercased()] {
                #expect(try await server.send("/", [.cookie: wrong]).response.status == .unauthorized)
            }
        }
    }

    @Test("a one-time code that is used twice at once admits one caller")
    func race() async throws {
        let signIn = TokenSignIn()
        try await served(signIn) { (server: RunningServer) async throws in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<10 { group.addTask { try await server.send("/?\(signIn.query)").response.status.code } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 303 } == 1 && statuses.count { $0 == 401 } == 9, "\(statuses)")
        }
    }

    @Test("wrong codes, other methods and foreign redirect paths are refused")
    func wrongCodes() async throws {
        let signIn = TokenSignIn()
        try await served(signIn) { (server: RunningServer) async throws in
            for path in ["/?outpost-code=", "/?outpost-code=\(signIn.token)", "/?outpost-code", "/?x=\(signIn.query)"] {
                #expect(try await server.send(path).response.status == .unauthorized, "\(path)")
            }
            #expect(try await server.send("/?\(signIn.query)", method: .post).response.status == .unauthorized)
            let connection = try RawConnection(port: server.port)
            let head =
                "GET //attacker.example/?\(signIn.query) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            connection.send(head.utf8)
            let answer = await connection.readToEnd()
            connection.close()
            #expect(answer.lowercased().contains("location: /attacker.example/"), "\(answer)")
        }
    }

    @Test("scripts send the token as a bearer token or a password")
    func token() async throws {
        let signIn = TokenSignIn()
        try await served(signIn) { (server: RunningServer) async throws in
            func status(_ authorization: String) async throws -> Int {
                try await server.send("/", [.authorization: authorization]).response.status.code
            }
            func basic(_ text: String) -> String { "Basic \(Data(text.utf8).base64EncodedString())" }
            #expect(try await status("Bearer \(signIn.token)") == 200)
            #expect(try await status(basic(":\(signIn.token)")) == 200)
            #expect(try await status(basic("ann:\(signIn.token)")) == 200)
            for wrong in ["Bearer \(signIn.token)0", "Bearer ", basic("\(signIn.token):"), basic("")] {
                #expect(try await status(wrong) == 401, "\(wrong)")
            }
            let refused = try await server.send("/").response
            #expect(refused.headerFields[.wwwAuthenticate]?.contains("Basic realm=") == true)
        }
        #expect(signIn.token.utf8.count == 64 && TokenSignIn().token != signIn.token)
    }
}
