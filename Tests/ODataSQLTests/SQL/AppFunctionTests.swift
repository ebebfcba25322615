import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataSQL

@Suite("Functions of an app, geometry and collections in SQL")
struct AppFunctionTests {
    private static let functions = FunctionRegistry(
        scalar: [
            ScalarFunction("App.Initial", [.primitive(.string)], returns: .primitive(.string)) { arguments in
                guard case .string(let text) = arguments[0] else { return .null }
                return .string(String(text.prefix(1)))
            },
            ScalarFunction(
                "App.OrZero", [.primitive(.decimal)], returns: .primitive(.decimal), acceptsNull: true
            ) { $0[0].isNull ? .decimal(ODataDecimal(0)) : $0[0] },
            ScalarFunction("App.Fail", [.primitive(.int32)], returns: .primitive(.int32)) { _ in throw Refusal() },
        ],
        aggregate: [
            AggregateFunction("App.first", returns: .primitive(.string)) { values in
                values.compactMap(\.lexicalText).sorted().first.map { .string($0) } ?? .null
            }
        ])

    struct Refusal: Error, CustomStringConvertible { var description: String { "not on my watch" } }

    private func provider(_ traders: Traders) throws -> StoreProvider {
        try traders.queue.write { StoreFunctions.register(Self.functions, in: $0) }
        var options = StoreProvider.Options()
        options.functions = Self.functions
        return StoreProvider(database: traders.queue, mapping: traders.mapping, options: options)
    }

    private func page(_ url: String) async throws -> [ODataEntity] {
        let response = try await provider(try Traders()).execute(ODataRequest(.read, try ODataURL(parsing: url)))
        guard case .page(let page) = response.body else { throw ODataError.notFound(url) }
        return page.entities
    }

    @Test("A registered function is called in filters, orders and computed values, with null if it accepts null")
    func scalar() async throws {
        #expect(try await page("Customers?$filter=App.Initial(Name) eq 'B'").map { $0["ID"] } == ["B"])
        #expect(
            try await page("Orders?$orderby=App.OrZero(Freight),OrderID&$select=OrderID").map { $0["OrderID"] }
                == [4, 5, 2, 1, 3])
        let values = try await page("Orders?$compute=App.OrZero(Freight) as F&$filter=F eq 0&$select=F")
        #expect(values.count == 1)
    }

    @Test("A registered aggregation method receives the non-null values of each group")
    func aggregate() async throws {
        let rows = try await page(
            "Orders?$apply=groupby((Shipped),aggregate(CustomerID with App.first as C))&$orderby=Shipped")
        #expect(rows.map { $0["C"] } == ["B", "A", "A"])
    }

    @Test("An error of a registered function fails the request and names the function")
    func failure() async throws {
        let error = await #expect(throws: ODataError.self) {
            _ = try await page("Orders?$filter=App.Fail(OrderID) eq 1")
        }
        #expect(error?.status == 400 && error?.message.contains("App.Fail: not on my watch") == true)
    }

    @Test("5.1.1.12 Distances, lengths and intersections are geometrically correct")
    func geometry() async throws {
        let point = "geography'SRID=4326;POINT(0 0)'"
        for (condition, count) in [
            // One degree of a great circle is about 111 km.
            ("geo.distance(\(point),geography'SRID=4326;POINT(0 1)') gt 110000", 4),
            ("geo.distance(\(point),geography'SRID=4326;POINT(0 1)') gt 112000", 0),
            ("geo.length(geometry'SRID=1;LINESTRING(0 0,3 4)') eq 5", 4),
            ("geo.intersects(geometry'SRID=0;POINT(1 1)',geometry'SRID=0;POLYGON((0 0,2 0,2 2,0 2,0 0))')", 4),
            ("geo.intersects(geometry'SRID=0;POINT(3 1)',geometry'SRID=0;POLYGON((0 0,2 0,2 2,0 2,0 0))')", 0),
        ] {
            #expect(try await page("Customers?$filter=\(condition)").count == count, "\(condition)")
        }
    }

    @Test("5.1.1.5 Functions on collections, and options nested in $select")
    func collections() async throws {
        let traders = try Traders()
        #expect(try await traders.keys("Customers?$filter=hassubset(Tags,[\"big\"])") == ["A", "D"])
        #expect(try await traders.keys("Customers?$filter=hassubsequence(Tags,[\"big\",\"new\"])") == [])
        #expect(try await traders.keys("Customers?$filter=Tags eq [\"new\",\"big\"]") == ["A"])
        #expect(try await traders.keys("Customers?$filter=length(Tags) eq 2") == ["A"])
        let json = try await traders.json(
            "Customers?$select=ID,Tags($filter=$this ne 'big')&$filter=ID in ('A','D')",
            format: ResponseFormat(metadata: .none))
        #expect(json == #"{"value":[{"ID":"A","Tags":["new"]},{"ID":"D","Tags":[]}]}"#)
    }

    @Test("$root reads other sets and single entities")
    func root() async throws {
        let traders = try Traders()
        #expect(try await traders.keys("Customers?$filter=$root/Orders(1)/CustomerID eq ID") == ["A"])
        #expect(try await traders.keys("Orders?$filter=Freight gt $root/Orders(2)/Freight") == ["1", "3"])
        #expect(
            try await traders.keys("Customers?$filter=$root/Orders/any(o:o/CustomerID eq $it/ID and o/Freight gt 40)")
                == ["B"])
        #expect(try await traders.keys("Customers?$filter=Orders/aggregate(Freight with sum) gt 44") == ["B"])
    }
}
