import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataHTTP

@Suite("The resolved URL of a request")
struct RequestResolutionTests {
    private func request(_ text: String, _ model: EntityDataModel) throws -> ODataRequest {
        var request = ODataRequest(.read, try ODataURL(parsing: text))
        request.resolve(in: model)
        return request
    }

    @Test("A request URL is resolved against the model of the provider")
    func decoded() async throws {
        let provider = try ScriptedProvider { _ in ODataResponse(body: .page(EntityPage())) }
        let handler = try ODataHandler(provider: provider, serviceRoot: ExampleService.root)
        for text in ["Products?$top=2", "Products?$filter=Stock%20gt%201", "Products"] {
            let (message, body) = Transcript.request("GET /service/\(text)\n\n")
            _ = await handler.handle(message, body)
            let request = try #require(provider.requests.last)
            let resolution = try #require(request.resolution, "\(text)")
            #expect(resolution.model === provider.scriptedModel)
            #expect(resolution.url == request.url)
            #expect(resolution.bound == (try Binder(model: provider.scriptedModel).bind(request.url)))
        }
        #expect(
            provider.requests.first?.resolution !== provider.requests.last?.resolution,
            "each URL has its own")
    }

    @Test("A repeated URL has the same resolution")
    func again() async throws {
        let provider = try ScriptedProvider { _ in ODataResponse(body: .page(EntityPage())) }
        let handler = try ODataHandler(provider: provider, serviceRoot: ExampleService.root)
        for _ in 0..<2 {
            let (message, body) = Transcript.request("GET /service/Products?$top=3&$skip=4711\n\n")
            _ = await handler.handle(message, body)
        }
        let resolutions = provider.requests.map(\.resolution)
        #expect(resolutions.count == 2 && resolutions[0] != nil && resolutions[0] === resolutions[1])
    }

    @Test("Requests of a batch are resolved, except those that refer to other requests")
    func batch() async throws {
        let provider = try ScriptedProvider { request in
            guard case .batch(let items) = request.body else { return ODataResponse(status: 204) }
            return ODataResponse(
                body: .batch(items.map { BatchResult(id: $0.id, result: .success(ODataResponse(status: 204))) }))
        }
        let handler = try ODataHandler(provider: provider, serviceRoot: ExampleService.root)
        let (message, body) = Transcript.request(
            """
            POST /service/$batch
            Content-Type: application/json

            {"requests":[{"id":"1","method":"get","url":"Products(1)"},
            {"id":"2","dependsOn":["1"],"method":"delete","url":"$1"}]}
            """)
        _ = await handler.handle(message, body)
        let items = provider.requests.flatMap { request -> [BatchItem] in
            if case .batch(let items) = request.body { items } else { [] }
        }
        #expect(items.count == 2)
        #expect(items.first?.request.resolution != nil)
        #expect(items.last?.request.resolution == nil)
    }

    @Test("A request with a changed URL has no resolution")
    func changed() throws {
        let model = try ExampleService.model()
        let changes: [(String, (inout ODataRequest) throws -> Void)] = [
            ("another URL", { $0.url = try ODataURL(parsing: "Categories") }),
            ("an option", { $0.url.options.top = 1 }),
            ("a segment", { $0.url.path.segments.append(.count) }),
            (
                "a followed link",
                { request in
                    request.link = "Products?$skiptoken=1"
                    request = try request.parsingLink()
                }
            ),
        ]
        for (name, change) in changes {
            var request = try request("Products", model)
            #expect(request.resolution != nil)
            try change(&request)
            #expect(request.resolution == nil, "\(name)")
            #expect(try request.bound(in: model) == Binder(model: model).bind(request.url), "\(name)")
        }
        var kept = try request("Products", model)
        kept.preferences.maxPageSize = 1
        kept.context.principal = Principal(name: "ann")
        #expect(kept.resolution != nil)
    }

    @Test("A resolution for another model object is not used")
    func otherModel() throws {
        let (model, other) = (try ExampleService.model(), try ExampleService.model())
        let request = try request("Products?$top=1", model)
        let bound = try request.bound(in: other)
        #expect(bound == (try Binder(model: other).bind(request.url)))
        var again = request
        again.resolve(in: other)
        #expect(again.resolution?.model === other)
    }

    @Test("A URL that does not fit the model stays unresolved and is refused when it is used")
    func unknown() throws {
        let model = try ExampleService.model()
        let request = try request("Nothing", model)
        #expect(request.resolution == nil)
        #expect(throws: QueryError.self) { try request.bound(in: model) }
    }
}

@Suite("The context of a request")
struct RequestContextTests {
    private struct Color: RequestContextValue, Equatable { var name: String }
    private struct Size: RequestContextValue, Equatable { var height: Int }

    @Test("holds one argument of each type, and sends none of them")
    func arguments() async throws {
        var context = RequestContext()
        #expect(context[Color.self] == nil)
        context[Color.self] = nil
        context[Color.self] = Color(name: "red")
        context[Size.self] = Size(height: 2)
        #expect(context[Color.self] == Color(name: "red") && context[Size.self] == Size(height: 2))
        context[Color.self] = Color(name: "blue")
        #expect(context[Color.self] == Color(name: "blue"))
        context[Size.self] = nil
        #expect(context[Size.self] == nil && context[Color.self] != nil)
        var request = ODataRequest(.read, try ODataURL(parsing: "Products"))
        let plain = request
        request.context = context
        request.context.principal = Principal(name: "ann")
        let encoder = try ExampleService.encoder()
        let (message, other) = (try encoder.encode(request), try encoder.encode(plain))
        #expect("\(message)" == "\(other)")
    }
}
