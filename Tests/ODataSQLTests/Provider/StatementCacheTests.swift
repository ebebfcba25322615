import Foundation
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataSQL

@Suite("Statements are cached by the shape of the query")
struct StatementCacheTests {
    let traders: Traders

    init() throws { traders = try Traders() }

    private func provider() -> StoreProvider {
        var options = StoreProvider.Options()
        options.now = { ODataDateTimeOffset(seconds: 1_700_000_000) }
        return StoreProvider(database: traders.queue, mapping: traders.mapping, options: options)
    }

    private func resolved(_ text: String) throws -> ResolvedURL {
        ResolvedURL(url: try ODataURL(parsing: text), bound: try traders.bind(text), model: traders.model)
    }

    private func json(_ url: String, _ provider: StoreProvider) async throws -> String {
        let request = ODataRequest(.read, try ODataURL(parsing: url), format: ResponseFormat(serviceRoot: "http://nw/"))
        switch try await provider.execute(request).body {
        case .encoded(let stream, _): return String(decoding: try await stream.collect(limit: 1 << 20), as: UTF8.self)
        case let other: return "\(other)"
        }
    }

    @Test("Cached statements are released with their owner")
    func released() throws {
        weak var kept: QueryCache?
        do {
            let (cache, urls) = (QueryCache(), ResolvedURLs())
            let text = "Orders?$filter=Freight gt 20"
            let resolved = try urls.find(try ODataURL(parsing: text), traders.model) { try traders.bind(text) }
            let entry = cache.entry(of: resolved)
            #expect(cache.known(of: resolved) === entry)
            kept = cache
        }
        #expect(kept == nil)
    }

    /// Pairs of requests with the same shape, and pairs with only similar shapes.
    static let pairs = [
        ("Orders?$filter=Freight gt 20", "Orders?$filter=Freight gt 60"),
        ("Orders?$filter=OrderID eq 1 or OrderID eq 2", "Orders?$filter=OrderID eq 3 or OrderID eq 3"),
        ("Orders?$filter=OrderID eq 3 or OrderID eq 3", "Orders?$filter=OrderID eq 1 or OrderID eq 4"),
        (
            "Orders?$filter=OrderID eq cast('1',Edm.Int32) or OrderID eq 2",
            "Orders?$filter=OrderID eq cast('2',Edm.Int32) or OrderID eq 4"
        ),
        (
            "Orders?$filter=cast(5,Edm.String) ne CustomerID and OrderID eq cast('5',Edm.Int32)",
            "Orders?$filter=cast(4,Edm.String) ne CustomerID and OrderID eq cast('5',Edm.Int32)"
        ),
        ("Items?$filter=Price gt 2.5", "Items?$filter=Price gt 2.501"),
        ("Items?$filter=Price gt 2.501", "Items?$filter=Price gt 10"),
        ("Orders?$filter=OrderID lt 2.5", "Orders?$filter=OrderID lt 3.0"),
        ("Orders?$filter=Weight gt 0.1", "Orders?$filter=Weight gt 12345678901234567890.0"),
        ("Orders?$filter=Rating gt 0.5", "Orders?$filter=Rating gt 2e0"),
        ("Orders?$filter=OrderID add 1 eq 2", "Orders?$filter=OrderID add 2 eq 5"),
        ("Orders?$filter=OrderID div 3.5 gt 0.3", "Orders?$filter=OrderID div 3.0 gt 0.6"),
        ("Orders?$filter=OrderID div 3.0 gt 0.6", "Orders?$filter=OrderID div 3.5 gt 0.3"),
        ("Orders?$filter=-OrderID div 3.5 lt -0.3", "Orders?$filter=-OrderID div 3.0 lt -0.6"),
        ("Orders?$filter=100.5 div OrderID gt 0.4", "Orders?$filter=100.0 div OrderID gt 0.4"),
        ("Orders?$filter=OrderID mod 1.5 eq 0", "Orders?$filter=OrderID mod 2.0 eq 0"),
        ("Orders?$orderby=OrderID div 3.5 desc", "Orders?$orderby=OrderID div 4.0 desc"),
        ("Orders?$filter=OrderID gt 2.5", "Orders?$filter=OrderID gt 2.0"),
        ("Orders?$filter=OrderDate ge 2024-01-15", "Orders?$filter=OrderDate ge 2024-02-01"),
        ("Orders?$filter=Placed gt 2024-01-15T08:00:00Z", "Orders?$filter=Placed gt 2024-01-15T07:00:00Z"),
        ("Orders?$filter=Seen ge 2023-11-14T22:13:20Z", "Orders?$filter=Seen ge 2023-11-14T22:13:20.5Z"),
        ("Orders?$filter=Took gt duration'PT1H'", "Orders?$filter=Took gt duration'PT2H'"),
        (
            "Orders?$filter=Token eq 0f8fad5b-d9cb-469f-a165-70867728950e",
            "Orders?$filter=Token eq 0f8fad5b-d9cb-469f-a165-70867728950f"
        ),
        ("Customers?$filter=startswith(Name,'B')", "Customers?$filter=startswith(Name,'O')"),
        ("Customers?$filter=startswith(Name,'B')", "Customers?$filter=startswith(Name,'\u{10FFFF}')"),
        ("Customers?$filter=startswith(Name,'B')", "Customers?$filter=startswith(Name,'')"),
        ("Customers?$filter=contains(Name,'O')", "Customers?$filter=contains(Name,'B')"),
        ("Customers?$filter=Tags/any(t:t eq 'new')", "Customers?$filter=Tags/any(t:t eq 'big')"),
        ("Customers?$filter=Country in ('USA','Germany')", "Customers?$filter=Country in ('USA','germany')"),
        ("Customers?$filter=Size eq 5", "Customers?$filter=Size eq 6"),
        (
            "Customers?$filter=ID lt 'C'&$expand=Orders($filter=OrderID gt 1)",
            "Customers?$filter=ID lt 'B'&$expand=Orders($filter=OrderID gt 2)"
        ),
        ("Customers?$apply=filter(ID eq 'A')", "Customers?$apply=filter(ID eq 'B')"),
        ("Orders?$filter=OrderID eq @p&@p=1", "Orders?$filter=OrderID eq @p&@p=2"),
        ("Orders?$orderby=OrderID mul 2 desc&$top=1", "Orders?$orderby=OrderID mul 3 desc&$top=2"),
        ("Orders?$skip=1&$top=1&$count=true", "Orders?$skip=2&$top=3&$count=true"), ("Orders(1)", "Orders(2)"),
        ("Items(OrderID=1,Line=1)", "Items(OrderID=1,Line=2)"), ("Customers('A')/Orders", "Customers('B')/Orders"),
        ("Employees?$search=a", "Employees?$search=b"),
    ]

    @Test("A request gets its own result after a request of the same shape", arguments: pairs)
    func answers(first: String, second: String) async throws {
        let warm = provider()
        _ = try await json(first, warm)
        #expect(try await json(second, warm) == json(second, provider()))
        #expect(try await json(first, warm) == json(first, provider()))
        let (kept, fresh) = (
            try? warm.statement(for: ODataURL(parsing: second)),
            try? provider().statement(for: ODataURL(parsing: second))
        )
        #expect(kept?.sql == fresh?.sql)
        #expect(kept?.sqlFragment.arguments == fresh?.sqlFragment.arguments)
    }

    @Test(
        "Canonically equivalent texts make different requests",
        arguments: [
            "Customers?$compute=length(Name) as NAME&$select=ID,NAME",
            "Customers?$compute=length('NAME') as L&$select=ID,L",
            "Customers?$filter=Name eq 'NAME'", "Customers('NAME')", "Customers?$filter=contains(Name,'NAME')",
            "Customers?$apply=aggregate($count as NAME)", "Customers?$search=NAME",
            "Customers?$orderby=concat(Name,'NAME')&$top=1",
        ])
    func spellings(pattern: String) async throws {
        func bytes(_ url: String, _ provider: StoreProvider) async -> [UInt8] {
            do { return Array(try await json(url, provider).utf8) } catch { return Array("\(error)".utf8) }
        }
        let urls = ["\u{E9}", "e\u{301}"].map { pattern.replacing("NAME", with: $0) }
        for pair in [urls, urls.reversed()] {
            let warm = provider()
            for url in pair + pair { #expect(await bytes(url, warm) == bytes(url, provider()), "\(url)") }
            let statements = try? pair.map { try warm.statement(for: ODataURL(parsing: $0)).sqlFragment.arguments }
            let fresh = try? pair.map { try provider().statement(for: ODataURL(parsing: $0)).sqlFragment.arguments }
            for (kept, made) in zip(statements ?? [], fresh ?? []) {
                #expect(zip(kept, made).allSatisfy { $0.isIdentical(to: $1) })
            }
        }
    }

    @Test("A request with more literals than maxLiterals shares no statement")
    func limit() throws {
        func shape(_ count: Int) throws -> QueryShape? {
            let filter = (1...count).map { "OrderID eq \($0)" }.joined(separator: " or ")
            return QueryCache().entry(of: try resolved("Orders?$filter=\(filter)")).shape
        }
        #expect(try shape(QueryCache.maxLiterals)?.parameters.count == QueryCache.maxLiterals)
        #expect(try shape(QueryCache.maxLiterals + 1) == nil)
    }

    @Test(
        "Another literal uses the same statement, and other SQL another one",
        arguments: [
            (
                "Orders?$filter=Freight gt 20.5 and startswith(CustomerID,'A')&$top=3",
                "Orders?$filter=Freight gt 61.5 and startswith(CustomerID,'B')&$top=4", true
            ),
            ("Orders(1)", "Orders(2)", true),
            ("Customers?$filter=contains(Name,'x')", "Customers?$filter=contains(Name,'y')", true),
            ("Items?$filter=Price gt 2.5", "Items?$filter=Price gt 2.501", false),
            ("Orders?$filter=OrderID eq 1 or OrderID eq 2", "Orders?$filter=OrderID eq 3 or OrderID eq 4", true),
            ("Orders?$filter=OrderID eq 1 or OrderID eq 1", "Orders?$filter=OrderID eq 3 or OrderID eq 4", false),
            ("Orders?$filter=OrderID eq 1", "Orders?$filter=OrderID eq 3000000000", false),
            ("Customers?$filter=startswith(Name,'B')", "Customers?$filter=startswith(Name,'')", false),
        ])
    func sharing(first: String, second: String, isShared: Bool) throws {
        let cache = QueryCache()
        let options = SQLCompiler.Options(now: ODataDateTimeOffset(seconds: 0))
        func entry(_ text: String) throws -> QueryCache.Entry {
            cache.entry(of: try resolved(text))
        }
        let one = try entry(first)
        let query = try #require(one.url.query)
        let compiler = SQLCompiler(mapping: traders.mapping, options: options)
        one.keep(
            try compiler.compile(query, at: one.url.resource.steps, literals: one.shape?.parameters ?? []), options)
        #expect((try entry(second).find(options, traders.model) != nil) == isShared)
    }
}
