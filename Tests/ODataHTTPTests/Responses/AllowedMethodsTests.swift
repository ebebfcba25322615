import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataHTTP

/// OPTIONS and 405 (RFC 9110, 9.3.7; OData Protocol 4.01, 9.2.2).
@Suite struct AllowedMethodsTests {
    private func send(_ text: String) async throws -> HTTPResponse {
        let provider = try ScriptedProvider { _ in ODataResponse() }
        let handler = try ODataHandler(provider: provider, serviceRoot: "/service/")
        let (message, body) = Transcript.request(text)
        return await handler.handle(message, body).0
    }

    @Test(arguments: [
        ("Products", "GET, HEAD, POST, PATCH, PUT, OPTIONS"),
        ("Products(1)", "GET, HEAD, PATCH, PUT, DELETE, OPTIONS"),
        ("Contoso", "GET, HEAD, PATCH, PUT, OPTIONS"),
        ("Products(1)/Name/$value", "GET, HEAD, PUT, DELETE, OPTIONS"),
        ("Categories(1)/Products/$ref", "GET, HEAD, POST, PUT, DELETE, OPTIONS"), ("", "GET, HEAD, OPTIONS"),
        ("$metadata", "GET, HEAD, OPTIONS"), ("$batch", "POST, OPTIONS"), ("Products/$count", "GET, HEAD, OPTIONS"),
        ("Reset", "POST, OPTIONS"), ("MostExpensive()", "GET, HEAD, OPTIONS"), ("Products/$query", "POST, OPTIONS"),
    ])
    func `OPTIONS lists the allowed methods`(_ path: String, _ allowed: String) async throws {
        let response = try await send("OPTIONS /service/\(path)\n\n")
        #expect(response.status == .noContent)
        #expect(response.headerFields[.allow] == allowed)
    }

    @Test func `OPTIONS of a missing resource is 404`() async throws {
        #expect(try await send("OPTIONS /service/Nothing\n\n").status == .notFound)
    }

    @Test("9.2.2 405 lists the methods of the resource, also for unknown methods")
    func notAllowed() async throws {
        for method in ["POST", "BREW", "TRACE"] {
            let response = try await send("\(method) /service/Products/$count\n\n")
            #expect(response.status == .methodNotAllowed)
            #expect(response.headerFields[.allow] == "GET, HEAD")
        }
    }
}

/// Paths that try to leave the service root.
@Suite struct PathTests {
    @Test(arguments: [
        "/service/../secret", "/service/%2e%2e/secret", "/service/..%2Fsecret", "/service/Products/../../secret",
        "/service//etc/passwd", "/service/Products%2F1", "/service/%00", "/service/Products(1)/%2e%2e/%2e%2e",
        "/serviceX/Products", "/service/Products/%ZZ", "/service/%C0%AE%C0%AE/", "//service/Products",
    ])
    func `a path that leads out is refused, and the provider does not see it`(path: String) async throws {
        let provider = try ScriptedProvider { _ in ODataResponse(body: .count(1)) }
        let handler = try ODataHandler(provider: provider, serviceRoot: "/service/")
        let (message, body) = Transcript.request("GET \(path)\n\n")
        let (response, _) = await handler.handle(message, body)
        #expect([400, 404].contains(response.status.code), "\(response.status)")
        #expect(provider.requests.isEmpty)
    }

    @Test func `an encoded slash within a key is data`() async throws {
        let provider = try ScriptedProvider { _ in ODataResponse(status: 204) }
        let handler = try ODataHandler(provider: provider, serviceRoot: "/service/")
        let (message, body) = Transcript.request("GET /service/Customers('a%2Fb')\n\n")
        _ = await handler.handle(message, body)
        #expect(provider.requests.first?.url == (try ODataURL.of("Customers('a%2Fb')")))
    }
}
