import HTTPTypes
import ODataModel
import ODataService
import Testing

@testable import ODataHTTP

/// Links behind a proxy that removes a part of the path.
@Suite struct ForwardedTests {
    private func answer(_ text: String, _ options: ODataHandler.Options) async throws -> String {
        let provider = try ScriptedProvider { request in
            let root = request.format?.serviceRoot ?? ""
            var page = EntityPage()
            page.nextLink = root + "Products?$skiptoken=1"
            page.deltaLink = root + "Products?$deltatoken=2"
            return ODataResponse(body: .page(page))
        }
        let handler = try ODataHandler(provider: provider, serviceRoot: "/service/", options: options)
        let (message, body) = Transcript.request(text)
        let (response, stream) = await handler.handle(message, body)
        return try await Transcript.text(response, stream)
    }

    private func root(in text: String) -> String {
        String(text.components(after: "context\":\"").prefix { $0 != "$" })
    }

    @Test("4.1 context, next and delta links start with the public URL")
    func publicURL() async throws {
        let options = ODataHandler.Options(publicURL: "https://api.example/shop")
        let text = try await answer("GET /service/Products\nX-Forwarded-Host: evil.example\n\n", options)
        #expect(text.contains("\"@odata.context\":\"https://api.example/shop/$metadata#Products\""))
        #expect(text.contains("\"@odata.nextLink\":\"https://api.example/shop/Products?$skiptoken=1\""))
        #expect(text.contains("\"@odata.deltaLink\":\"https://api.example/shop/Products?$deltatoken=2\""))
    }

    @Test(arguments: [
        (
            "Forwarded: for=1.2.3.4;proto=https;host=\"api.example:8443\", proto=http;host=inner",
            "https://api.example:8443/service/"
        ),
        (
            "X-Forwarded-Proto: https\nX-Forwarded-Host: api.example\nX-Forwarded-Prefix: /a/b/",
            "https://api.example/a/b/service/"
        ),
        ("X-Forwarded-Host: api.example\nX-Forwarded-Port: 8080", "http://api.example:8080/service/"),
        (
            "X-Forwarded-Proto: https\nX-Forwarded-Host: api.example\nX-Forwarded-Port: 443",
            "https://api.example/service/"
        ),
        ("X-Forwarded-Proto: javascript\nX-Forwarded-Host: a\"b/c", "http://host/service/"),
        ("X-Forwarded-Prefix: //evil.example", "http://host/service/"),
    ])
    func `forwarded fields are believed where the configuration says so`(_ fields: String, _ root: String) async throws
    {
        let request = "GET /service/Products\n\(fields)\n\n"
        let trusting = ODataHandler.Options(trustsForwarded: true, forwardedHosts: AcceptedHosts(["api.example"]))
        #expect(self.root(in: try await answer(request, trusting)) == root)
        #expect(self.root(in: try await answer(request, .init())) == "http://host/service/")
    }

    @Test(
        "a forwarded name that is not configured is refused and appears in no link",
        arguments: ["Forwarded: host=evil.example", "X-Forwarded-Host: evil.example:443"])
    func foreignName(_ field: String) async throws {
        let options = ODataHandler.Options(trustsForwarded: true, forwardedHosts: AcceptedHosts(["api.example"]))
        let text = try await answer("GET /service/Products\n\(field)\n\n", options)
        #expect(text.hasPrefix("421\n") && !text.contains("evil"), "\(text)")
    }

    @Test("11.7.7.1 absolute URLs in a batch may be public URLs")
    func batch() async throws {
        let provider = try ScriptedProvider { request in
            guard case .batch(let items) = request.body else { return ODataResponse() }
            return ODataResponse(
                body: .batch(items.map { BatchResult(id: $0.id, result: .success(ODataResponse(body: .count(1)))) }))
        }
        let handler = try ODataHandler(
            provider: provider, serviceRoot: "/service/", options: .init(publicURL: "https://api.example/shop/"))
        let (message, body) = Transcript.request(
            """
            POST /service/$batch
            Content-Type: application/json

            {"requests":[{"id":"1","method":"get","url":"https://api.example/shop/Products/$count"},
            {"id":"2","method":"get","url":"/shop/Products/$count"},{"id":"3","method":"get","url":"Products/$count"}]}
            """)
        let (response, stream) = await handler.handle(message, body)
        let text = try await Transcript.text(response, stream)
        #expect(text.ranges(of: "\"status\":200").count == 3, "\(text)")
    }
}
