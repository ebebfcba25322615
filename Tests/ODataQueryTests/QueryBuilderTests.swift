import ODataModel
import TestModels
import Testing

@testable import ODataQuery

@Suite("Queries built in Swift are those that the parser reads")
struct QueryBuilderTests {
    @Test("The builder and the parser give the same tree")
    func same() throws {
        let query = ResourceQuery("Orders")
            .filter(.property("Freight") > 50 && .property("ShipCity").startsWith("B"))
            .orderBy(.property("OrderDate"), descending: true)
            .expand("Items") { $0.filter(.property("Quantity") >= 2).select("ProductID").top(3) }
            .expand("Employee/Manager", levels: .max)
            .select("OrderID", "Address/City")
            .compute(.property("Freight") * 1.1, as: "Gross")
            .skip(20).top(10).count().search(.and(.word("red"), .phrase("big wheel")))
        let text =
            "Orders?$filter=Freight gt 50 and startswith(ShipCity,'B')&$orderby=OrderDate desc"
            + "&$expand=Items($filter=Quantity ge 2;$select=ProductID;$top=3),Employee/Manager($levels=max)"
            + "&$select=OrderID,Address/City&$compute=Freight mul 1.1 as Gross&$skip=20&$top=10&$count=true"
            + "&$search=red AND \"big wheel\""
        #expect(try query.url == ODataURL(parsing: text))
        #expect(try ODataURL(parsing: query.url.urlEncoded()) == query.url)
    }

    @Test("Every operator and method builds the syntax of the same name")
    func operators() throws {
        let a = QueryExpression.property("A")
        let cases: [(QueryExpression, String)] = [
            (a == nil, "A eq null"), (a != true, "A ne true"), (a < -1, "A lt -1"), (a <= 2, "A le 2"),
            (!(a || a == 1), "not (A or A eq 1)"), (a + 1 - 2 * a / 3 % 4, "A add 1 sub 2 mul A div 3 mod 4"),
            ((a + 1) * 2, "(A add 1) mul 2"), (-a, "-A"), (a.divided(by: 2), "A divby 2"),
            (a.has(.enumeration("N.E", "X,Y")), "A has N.E'X,Y'"), (a.isIn(1, 2), "A in (1,2)"),
            (a.isIn(collection: "Tags"), "A in Tags"), (a.contains("x"), "contains(A,'x')"),
            (a.endsWith("O'N"), "endswith(A,'O''N')"),
            (a.substring(from: 1, length: 2), "substring(A,1,2)"), (a.length, "length(A)"),
            (a.lowercased, "tolower(A)"),
            (a.year == 2020, "year(A) eq 2020"), (.now, "now()"), (a.cast(to: "Edm.String"), "cast(A,Edm.String)"),
            (a.isOf("N.T"), "isof(A,N.T)"), (a.any { $0["B"] == 1 }, "A/any(x:x/B eq 1)"),
            (a.all("y") { $0["B/C"] == .property("$it/D") }, "A/all(y:y/B/C eq $it/D)"), (a.isNotEmpty, "A/any()"),
            (a.count > 1, "A/$count gt 1"), (a.count(where: .property("B") > 1), "A/$count($filter=B gt 1)"),
            (a == .value(.guid(ODataGuid(high: 1, low: 2))), "A eq 00000000-0000-0001-0000-000000000002"),
            (a.isIn([]), "A in ()"), (.alias("p"), "@p"), (a.matches(pattern: "^x"), "matchesPattern(A,'^x')"),
        ]
        for (built, text) in cases {
            #expect(built.expression.description == text)
            #expect(try CommonExpression(parsing: text) == built.expression, "\(text)")
        }
    }

    @Test("Keys and navigation build paths")
    func paths() throws {
        let key = EntityKey([.init(name: "OrderID", value: 1), .init(name: "ProductID", value: "a/b")])
        #expect(
            ResourceQuery("Items").key(key).navigate("Product").description
                == "Items(OrderID=1,ProductID='a%2Fb')/Product")
        #expect(
            ResourceQuery("Orders").key(10248).navigate("Items").countOnly.description == "Orders(10248)/Items/$count")
    }

    @Test("A thousand joined conditions stay shallow and read back")
    func many() throws {
        let conditions = (0..<1000).map { QueryExpression.property("ID") == .value(.integer($0)) }
        let query = ResourceQuery("Orders").filter(.any(of: conditions))
        #expect(try ODataURL(parsing: query.url.urlEncoded()) == query.url)
        _ = try Binder(model: ShopModel.make()).bind(ResourceQuery("Employees").filter(.any(of: conditions)).url)
    }

    @Test("A built query is bound like a parsed one")
    func bound() throws {
        let model = try ShopModel.make()
        let url = ResourceQuery("Orders").filter(.property("Freight") > 1.5).apply(.identity).url
        let bound = try Binder(model: model).bind(url)
        #expect(bound.query?.filter != nil)
        let error = #expect(throws: QueryError.self) {
            try Binder(model: model).bind(ResourceQuery("Orders").select("Frieght").url)
        }
        #expect(error?.offset == nil)
        #expect(error?.suggestions == ["Freight"])
    }
}
