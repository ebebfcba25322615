import ODataModel
import TestModels
import Testing

@testable import ODataQuery

/// Examples for the rules of literals, JSON in URLs, header fields and the dialect of V2 and V3, with accepted and
/// refused texts.
@Suite("Grammar of literals and older versions, rule by rule")
struct GrammarLiteralTests {
    private func literal(_ text: String, _ dialect: QueryDialect = .v4) throws -> Literal? {
        let options = ParsingOptions(dialect: dialect)
        let expression = try CommonExpression(parsing: "X eq \(text)", isPercentEncoded: true, options: options)
        guard case .binary(.equal, _, .literal(let literal)) = expression else { return nil }
        return literal
    }

    @Test(
        "Literals are read in every spelling of the grammar",
        arguments: [
            ("null", ODataValue.null), ("true", true), ("FALSE", false), ("True", true), ("0", 0), ("-0", 0),
            ("%2B7", 7),
            ("007", 7), ("-2147483648", -2_147_483_648), ("'O''Neil'", "O'Neil"), ("'O%27%27Neil'", "O'Neil"),
            ("%27a%20b%27", "a b"), ("''", ""), ("'%E2%82%AC'", "€"), ("'a%26b%3Dc'", "a&b=c"), ("'//%2F'", "///"),
        ])
    func simple(text: String, expected: ODataValue) throws {
        #expect(try literal(text)?.value == expected, "\(text)")
    }

    @Test(
        "Literals are read by their lexical values",
        arguments: [
            ("01234567-89ab-CDEF-0123-456789abcdef", "01234567-89ab-cdef-0123-456789abcdef"),
            ("2012-02-29", "2012-02-29"), ("-0044-03-15", "-0044-03-15"), ("0000-01-01", "0000-01-01"),
            ("10000-01-01", "10000-01-01"), ("07:59", "07:59:00"), ("07:59:59.123456789012", "07:59:59.123456789012"),
            ("2012-12-03T07:16:23Z", "2012-12-03T07:16:23Z"),
            ("2012-12-03T07:16:23%2B01:30", "2012-12-03T07:16:23+01:30"),
            ("2012-12-03T07:16:23+01:30", "2012-12-03T07:16:23+01:30"),
            ("2012-12-03T07:16-05:00", "2012-12-03T07:16:00-05:00"),
            ("2012-12-03T07:16:23.5Z", "2012-12-03T07:16:23.5Z"), ("duration'P1DT2H3M4.5S'", "P1DT2H3M4.5S"),
            ("duration'-PT36H'", "-P1DT12H"), ("Duration'PT0S'", "PT0S"), ("binary'T0RhdGE'", "T0RhdGE"),
            ("binary'T0RhdGE='", "T0RhdGE"), ("BINARY''", ""), ("3.14", "3.14"), ("-3.140", "-3.140"), ("1e3", "1000"),
            ("INF", "INF"), ("-INF", "-INF"), ("NaN", "NaN"),
        ])
    func lexical(text: String, expected: String) throws {
        #expect(try literal(text)?.value.lexicalText?.lowercased() == expected.lowercased(), "\(text)")
    }

    @Test(
        "Geography and geometry literals of every type are read",
        arguments: [
            "Point(1 2)", "Point(1.5 -2 3)", "Point(1 2 3 4)", "LineString(1 2,3 4)", "Polygon((1 1,1 2,2 2,1 1))",
            "Polygon((0 0,0 9,9 9,0 0),(1 1,2 2,1 2,1 1))", "MultiPoint()", "MultiPoint((1 2),(3 4))",
            "MultiLineString()", "MultiLineString((1 2,3 4),(5 6,7 8))", "MultiPolygon()",
            "MultiPolygon(((1 1,1 2,2 2,1 1)))", "GeometryCollection(Point(1 2),LineString(1 2,3 4))",
            "GeometryCollection(GeometryCollection(Point(1 2)),MultiPoint((1 2)))",
        ])
    func geo(text: String) throws {
        for prefix in ["geography'SRID=4326;", "geometry'SRID=0;", "GEOGRAPHY'srid=12345;"] {
            let literal = try #require(try literal("\(prefix)\(text)'"))
            guard case .geo = literal.value else {
                Issue.record("\(prefix)\(text)")
                continue
            }
        }
    }

    @Test(
        "A text that is no literal is refused",
        arguments: [
            "'a", "'a'b'", "3.", ".5", "1e", "1e+", "2012-13-01x", "2012-12-03T25:00:00Z", "2012-12-03T07:60Z",
            "2012-12-03T07:16:23", "binary'T'", "binary'T0=RhdGE'", "binary'ab%20c'", "duration'1D'", "duration'P1DT'",
            "duration'PT1.S'", "geography'Point(1)'", "geography'SRID=0;LineString(1 2)'",
            "geography'SRID=;Point(1 2)'", "geography'SRID=123456;Point(1 2)'",
            "geometry'Circle(1 2)'", "Shop.Kind''", "Shop.Kind'A,'", "Shop.Kind'A B'",
            "01234567-89ab-cdef-0123-456789abcde", "99999999999999999999999999999999999999999999999999x", "%ZZ",
            "'%C3'",
        ])
    func refused(text: String) {
        #expect(throws: QueryError.self, "\(text)") { try literal(text) }
    }

    @Test(
        "JSON in parameter values is read",
        arguments: [
            "@p={}", "@p=[]", "@p={\"a\":\"\\u00e4\\/\\\"\\b\\f\\n\\r\\t\\\\\",\"b\":[1,-1.5e3,true,null,{}]}",
            "@p=%7B%22a%22%3A1%7D", "@p=%5B1%2C2%5D", "@p= [ 1 , 2 ]", "@p=[\"a\",'b',A/B,2012-12-03]",
            "@p={\"@odata.type\":\"#Shop.Place\",\"City\":null}", "@p=[[1],[]]", "@p={\"a b\":{\"c\":[{\"d\":1}]}}",
        ])
    func json(text: String) throws {
        let options = try QueryOptions(parsing: text)
        #expect(options.aliases["p"] != nil)
        #expect(try QueryOptions(parsing: options.description) == options)
    }

    @Test(
        "Invalid JSON is refused",
        arguments: [
            "@p={", "@p=[1", "@p={\"a\"}", "@p={\"a\":}", "@p={\"a\":1,}", "@p=[,1]", "@p=[1,,2]", "@p={a:1}",
            "@p={\"a\":\"\\x\"}", "@p={\"a\":\"\\u12\"}", "@p={}x", "@p=[1]x", "@p={\"a\":1 \"b\":2}",
        ])
    func brokenJSON(text: String) { #expect(throws: QueryError.self, "\(text)") { try QueryOptions(parsing: text) } }

    @Test(
        "Keys are read in every form",
        arguments: [
            "Orders(true)", "Orders(01234567-89ab-cdef-0123-456789abcdef)", "Orders(2012-12-03T07:16:23Z)",
            "Orders(2012-12-03)", "Orders(07:59)", "Orders(1.5)", "Orders(-1)", "Orders('a%2Fb')",
            "Orders(duration'PT1S')",
            "Orders(Shop.Kind'A')", "Orders(A=1,B='x',C=2012-12-03)", "Orders(A=@a,B=1)?@a=2", "Orders/a%2Fb/Items",
            "Orders/%27x%27", "Orders/1/2/Name", "Orders(ID=1)(2)", "Orders( 1 )",
        ])
    func keys(text: String) throws {
        let url = try ODataURL(parsing: text)
        #expect(try ODataURL(parsing: url.description) == url)
    }

    @Test(
        "Expressions of V2 and V3 are read",
        arguments: [
            ("datetime'2012-12-03T07:16:23'", "2012-12-03T07:16:23"),
            ("datetime'2012-12-03T07:16'", "2012-12-03T07:16:00"),
            ("datetime'2012-12-03T07:16:23.1234567'", "2012-12-03T07:16:23.1234567"),
            ("datetimeoffset'2012-12-03T07:16:23Z'", "2012-12-03T07:16:23Z"), ("time'PT13H20M'", "PT13H20M"),
            ("guid'01234567-89ab-cdef-0123-456789abcdef'", "01234567-89ab-cdef-0123-456789abcdef"), ("10L", "10"),
            ("10l", "10"), ("-1.5f", "-1.5"), ("1.5F", "1.5"), ("2.345M", "2.345"), ("2.0m", "2.0"),
            ("1E+10", "10000000000"),
            ("2.5d", "2.5"), ("2D", "2"), ("X'0AFF'", "Cv8"), ("binary'0aff'", "Cv8"), ("true", "true"),
            ("'a''b'", "a'b"),
        ])
    func older(text: String, expected: String) throws {
        let lexical = try literal(text, .v2)?.value.lexicalText
        #expect(lexical == expected || Double(lexical ?? "") == Double(expected) && Double(expected) != nil, "\(text)")
    }

    @Test(
        "URLs of V2 and V3 are read",
        arguments: [
            "Customers('ALFKI')/$links/Orders", "Customers('ALFKI')/$links/Orders(1)", "Orders?$inlinecount=allpages",
            "Orders?$inlinecount=none", "Orders(guid'01234567-89ab-cdef-0123-456789abcdef')/Name/$value",
            "Orders(datetime'2012-12-03T00:00:00')", "Orders(A=10L,B=datetime'2012-12-03T00:00:00')",
            "Orders?$filter=substringof('a',Name) eq true", "Orders?$filter=substringof('a',concat(Name,'x'))",
            "Orders?$filter=replace(Name,'a','b') eq 'b' and not endswith(Name,'c')",
            "Orders?$filter=isof('Shop.Big') or isof(Name,'Edm.String')", "Orders?$filter=cast(Total,'Edm.Int32') gt 1",
            "Orders?$filter=Address/City eq 'x' and Total mod 2L eq 0", "Orders?$orderby=Address/City desc,Total asc",
            "Orders?$expand=Customer/Address,Items&$select=Customer/Name,Items/*,ID", "Orders?$select=*",
            "GetOrders?city='Bern'&count=10L", "Orders/$count?$filter=Total gt 1.5M", "Orders?$skiptoken='a',1",
            "Orders?$filter=Items/any(i:i/Quantity gt 1) and Items/all(i:i/Price lt 2M)", "Orders?$format=atom",
            "Orders(1)?$expand=Items&$top=1", "Orders?$filter=Shipped eq null and -Total lt -(1)", "$batch",
            "$metadata",
        ])
    func olderURLs(text: String) throws {
        let options = ParsingOptions(dialect: .v2)
        let url = try ODataURL(parsing: text, options: options)
        #expect(!url.path.segments.isEmpty)
    }

    @Test("A star behind an expanded navigation property selects all properties, only in V2 and V3")
    func starOfExpanded() throws {
        let text = "Orders?$expand=Items&$select=OrderID,Items/*"
        let url = try ODataURL(parsing: text, options: ParsingOptions(dialect: .v2))
        let query = try #require(try Binder(model: ShopModel.make()).bind(url).query)
        #expect(query.expand.first?.query.projection == .all)
        #expect(throws: QueryError.self) { try ODataURL(parsing: text) }
    }

    @Test(
        "Syntax that V2 and V3 lack is refused",
        arguments: [
            "Orders?$filter=A eq datetime'2012-13-03T00:00:00'", "Orders?$filter=A eq guid'x'",
            "Orders?$filter=A eq X'0'",
            "Orders?$filter=A eq time'1H'", "Orders?$inlinecount=some", "Orders?$filter=A eq 1LL",
            "Orders?$filter=A eq datetime'2012-12-03T00:00:00", "Orders?$top=1L",
        ])
    func refusedOlder(text: String) {
        #expect(throws: QueryError.self, "\(text)") {
            try ODataURL(parsing: text, options: ParsingOptions(dialect: .v2))
        }
    }

    @Test(
        "Header fields are read by their grammar",
        arguments: [
            "AsyncResult: 200", "Content-ID: a-1.b_2~", "OData-Isolation: snapshot", "Isolation:snapshot",
            "OData-EntityID: Orders(1)", "OData-MaxVersion: 4.01", "OData-Version: 4.01", "OData-Version: 4.0",
            "OData-Error: {\"code\":\"x\"}", "Prefer: return=minimal, wait=10", "Prefer: odata.maxpagesize=5",
            "Prefer: respond-async,odata.continue-on-error=false", "Prefer: callback; url=\"http://h/x\"",
            "Prefer: include-annotations=\"-*,Shop.*,display.*#q\"", "Prefer: track-changes, allow-entityreferences",
            "prefer:omit-values=defaults",
        ])
    func headers(text: String) throws { _ = try HeaderField(parsing: text) }

    @Test(
        "Invalid header fields are refused",
        arguments: [
            "AsyncResult: 20", "Content-ID: a b", "OData-Isolation: serializable", "OData-MaxVersion: 4",
            "OData-Version: 3.0",
            "Prefer: maxpagesize=0", "Prefer: wait=x", "Prefer: return=all", "Prefer: omit-values=zeros",
            "Prefer: callback; url=x",
        ])
    func refusedHeaders(text: String) { #expect(throws: QueryError.self, "\(text)") { try HeaderField(parsing: text) } }
}
