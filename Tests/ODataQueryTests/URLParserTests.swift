import ODataModel
import Testing

@testable import ODataQuery

@Suite("URLs are split before they are decoded")
struct URLParserTests {
    func error(_ text: String) throws -> QueryError {
        try #require(throws: QueryError.self) { try ODataURL(parsing: text) }
    }

    @Test("Offsets count the characters of the given URL")
    func offsets() throws {
        let error = try error("Orders?$top=1&$filter=Name%20eq%20'%C3%A4'%20and%20)")
        #expect(error.offset == 51)
        #expect(error.part == "$filter")
        #expect(error.text?.hasPrefix("Orders") == true)
        #expect(try self.error("Ordersä?$top=x").offset == 13)
        #expect(try self.error("Orders?$filter=a eq %2").offset == 20)
        #expect(try self.error("Orders?$filter=a eq '%FF'").offset == 21)
    }

    @Test(
        "A repeated option is refused in any spelling",
        arguments: ["$top=1&$top=2", "$top=1&top=2", "$FILTER=a&filter=b", "@a=1&@a=2", "$expand=A($top=1;top=2)"])
    func duplicates(query: String) throws {
        #expect(try error("Orders?" + query).message.contains("twice"))
    }

    @Test(
        "Unknown system options are refused with a suggestion",
        arguments: [("$fliter=a", "$filter"), ("$orderBye=a", "$orderby"), ("$skiptokn=a", "$skiptoken")])
    func unknownOptions(query: String, suggestion: String) throws {
        #expect(try error("Orders?" + query).suggestions.first == suggestion)
    }

    @Test("Encoded delimiters belong to the value")
    func delimiters() throws {
        let url = try ODataURL(parsing: "Tags('a%2Fb')/X?a%3Db=c%26d%3De&$filter=N%20eq%20'%26'")
        #expect(url.path.segments.count == 2)
        #expect(url.options.custom == [.init(name: "a=b", value: "c&d=e")])
        #expect(url.options.filter == .binary(.equal, .path([.name("N")]), .literal(Literal("&", type: .string))))
    }

    @Test("Operator precedence follows the standard")
    func precedence() throws {
        func same(_ left: String, _ right: String) throws {
            #expect(try CommonExpression(parsing: left) == CommonExpression(parsing: right), "\(left)")
        }
        try same("a or b and c", "a or (b and c)")
        try same("not a and b", "(not a) and b")
        try same("not a eq b", "(not a) eq b")
        try same("a add b mul c eq d", "(a add (b mul c)) eq d")
        try same("a eq b lt c", "a eq (b lt c)")
        try same("-a mul b", "(-a) mul b")
        try same("a sub b sub c", "(a sub b) sub c")
        try same("not s has N.E'x'", "not (s has N.E'x')")
        try same("a divby b mod c", "(a divby b) mod c")
        try same("a add b in (1,2)", "a add (b in (1,2))")
    }

    @Test("Literals keep their exact values")
    func literals() throws {
        func literal(_ text: String) throws -> Literal? {
            guard case .literal(let literal) = try CommonExpression(parsing: text) else { return nil }
            return literal
        }
        #expect(try literal("9223372036854775807")?.value == .integer(.max))
        #expect(try literal("-9223372036854775808")?.value == .integer(.min))
        #expect(try literal("9223372036854775808")?.type == .decimal)
        #expect(try literal("0.10")?.value == .decimal(#require(ODataDecimal("0.1"))))
        #expect(try literal("1e3")?.value == .double(1000))
        #expect(try literal("-INF")?.value == .double(-.infinity))
        #expect(try literal("'O''Neil'")?.value == .string("O'Neil"))
        #expect(try literal("''''")?.value == .string("'"))
        #expect(try literal("binary'-_-_'")?.value == .binary([251, 255, 191]))
        #expect(
            try literal("geography'SRID=0;Point(1.50 -2e1)'")?.value
                == .geo(GeoValue(.geography, .point(.init(x: 1.5, y: -20)), srid: 0))
        )
        #expect(try literal("geometry'Polygon((0 0, 1 0, 0 1, 0 0))'")?.type == .geometryPolygon)
        #expect(
            try CommonExpression(parsing: "\"a\\u00e4\\n\\ud83d\\ude42\"") == .literal(Literal("aä\n🙂", type: .string)))
        for text in [
            "1.", ".5", "1e", "01:60", "2020-02-30", "2020-13-01", "24:00", "duration'P'", "binary'a'",
            "geography'Point(1)'", "'a", "Foo'x'", "N.E'1a'", "1L", "\"\\ud83d\"", "\"\\x\"",
        ] {
            #expect(throws: QueryError.self, "\(text)") { try CommonExpression(parsing: text) }
        }
    }

    @Test("Search: AND binds tighter than OR, and adjacent words mean AND")
    func search() throws {
        func search(_ text: String) throws -> SearchExpression? { try QueryOptions(parsing: "$search=" + text).search }
        #expect(try search("a b OR NOT c") == .or(.and(.word("a"), .word("b")), .not(.word("c"))))
        #expect(try search("a OR b AND c") == .or(.word("a"), .and(.word("b"), .word("c"))))
        #expect(try search("(a OR b) AND \"c \\\" d\"") == .and(.or(.word("a"), .word("b")), .phrase("c \" d")))
        #expect(try search("NOT") == .word("NOT"))
    }
}
