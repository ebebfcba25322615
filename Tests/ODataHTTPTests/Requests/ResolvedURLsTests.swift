import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataHTTP

@Suite("URLs that were read before")
struct ResolvedURLsTests {
    private let urls = ResolvedURLs()

    /// Looks up a URL.
    ///
    /// - Returns: whether the URL had to be parsed.
    private func isRead(_ text: String, _ model: EntityDataModel) throws -> Bool {
        var isRead = false
        let found = try urls.find(text, model) { () throws(QueryError) in
            isRead = true
            let url = try ODataURL(parsing: text)
            return ResolvedURL(url: url, bound: try Binder(model: model).bind(url), model: model)
        }
        #expect(found.url == (try ODataURL(parsing: text)))
        return isRead
    }

    @Test("are found by their text and model")
    func again() throws {
        let (model, other) = (try ExampleService.model(), try ExampleService.model())
        for text in ["Products?$filter=Stock gt 1", "Products?$filter=Stock gt 2"] {
            #expect(try isRead(text, model))
            #expect(try !isRead(text, model))
        }
        #expect(try isRead("Products?$filter=Stock gt 1", other))
        #expect(try !isRead("Products?$filter=Stock gt 1", other))
    }

    @Test("are compared by bytes: canonically equivalent texts are different URLs")
    func bytes() throws {
        let model = try ExampleService.model()
        for pair in [["\u{E9}", "e\u{301}"], ["e\u{301}", "\u{E9}"], ["K", "\u{212A}"]] {
            let urls = ResolvedURLs()
            for key in pair {
                let text = "Customers('\(key)')"
                let found = try urls.find(text, model) { () throws(QueryError) in
                    let url = try ODataURL(parsing: text)
                    return ResolvedURL(url: url, bound: try Binder(model: model).bind(url), model: model)
                }
                #expect(found.bound.resource.steps.last == .key(EntityKey("ID", .string(key))))
            }
        }
    }

    @Test("are also found by their syntax trees, byte by byte, for their model")
    func trees() throws {
        let (model, other) = (try ExampleService.model(), try ExampleService.model())
        func isBound(_ url: ODataURL, _ model: EntityDataModel) throws -> Bool {
            var isBound = false
            let found = try urls.find(url, model) {
                isBound = true
                return try Binder(model: model).bind(url)
            }
            #expect(found.url == url && found.model === model)
            return isBound
        }
        for text in ["Products?$filter=Stock gt 1", "Products?$search=\u{E9}", "Products?$search=e\u{301}"] {
            let url = try ODataURL(parsing: text)
            #expect(try isBound(url, model), "\(text)")
            #expect(try !isBound(url, model), "\(text)")
        }
        let url = try ODataURL(parsing: "Products?$filter=Stock gt 1")
        #expect(try isBound(url, other))
        #expect(try !isBound(url, other))
        let alias = try ODataURL(parsing: "Products?$filter=@a&@a=Stock gt 1")
        #expect(try isBound(alias, model))
        #expect(try isBound(alias, model), "a short URL may become a large tree")
    }

    @Test("are evicted, the least recently requested ones first")
    func places() throws {
        let model = try ExampleService.model()
        #expect(try isRead("Products(0)", model))
        #expect(try isRead("Products", model))
        for number in 1...3 * ResolvedURLs.capacity {
            #expect(try isRead("Products(\(number))", model))
            #expect(try !isRead("Products", model))
        }
        #expect(try isRead("Products(0)", model))
    }

    @Test("are not kept if foreign requests could fill the memory")
    func large() throws {
        let model = try ExampleService.model()
        let long = "Products?$filter=Name eq '\(String(repeating: "x", count: ResolvedURLs.maxLength))'"
        for text in [long, "Products?$filter=@a&@a=Stock gt 1", "Products?$filter=%40a&%40a=Stock gt 1"] {
            for _ in 0..<2 { #expect(try isRead(text, model), "\(text.prefix(50))") }
        }
    }
}
