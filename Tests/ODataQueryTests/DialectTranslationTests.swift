import ODataModel
import ODataQuery
import Testing

@Suite("Queries of 4.01 for older services")
struct DialectTranslationTests {
    @Test(
        "Queries are translated for older versions",
        arguments: [
            (
                "Orders?$filter=contains(Name,'a') and Placed gt 2024-01-02",
                "Orders?$filter=substringof('a',Name) and Placed gt datetime'2024-01-02T00:00:00'"
            ),
            (
                "Orders?$filter=Opens lt 08:30:00 and ID in (1,2)",
                "Orders?$filter=Opens lt time'PT8H30M' and (ID eq 1 or ID eq 2)"
            ),
            (
                "Orders?$expand=Items($expand=Product),Customer&$count=true",
                "Orders?$inlinecount=allpages&$expand=Items/Product,Customer"
            ),
            ("Orders?$expand=Items($select=Quantity)&$select=ID", "Orders?$select=ID,Items/Quantity&$expand=Items"),
            (
                "Orders?$expand=Tags,Customer($select=Title)",
                "Orders?$select=*,Tags,Customer/Title&$expand=Tags,Customer"
            ),
            (
                "Orders?$expand=Customer($select=Title),Tags",
                "Orders?$select=*,Customer/Title,Tags&$expand=Customer,Tags"
            ),
            (
                "Orders?$expand=Tags($expand=Orders($select=Name),Owner)",
                "Orders?$select=*,Tags/*,Tags/Orders/Name,Tags/Owner&$expand=Tags/Orders,Tags/Owner"
            ),
            (
                "Orders?$expand=Tags($select=Name;$expand=Owner)",
                "Orders?$select=*,Tags/Name,Tags/Owner&$expand=Tags/Owner"
            ),
            ("Orders?$select=ID&$expand=Items($expand=Product)", "Orders?$select=ID,Items&$expand=Items/Product"),
            ("Orders?$select=ID,Items&$expand=Items($select=Name)", "Orders?$select=ID,Items/Name&$expand=Items"),
            ("Orders(1)/Items/$ref", "Orders(1)/$links/Items"), ("Orders/$count", "Orders/$count"),
            (
                "Orders(ID=01234567-89ab-cdef-0123-456789abcdef)",
                "Orders(ID=guid'01234567-89ab-cdef-0123-456789abcdef')"
            ),
        ])
    func translated(text: String, expected: String) throws {
        let url = try ODataURL(parsing: text).translatedToV2()
        #expect(url.urlEncoded(dialect: .v2).removingPercentEncoding == expected)
        #expect(try ODataURL(parsing: url.urlEncoded(dialect: .v2), options: ParsingOptions(dialect: .v2)) == url)
    }

    @Test(
        "Queries that older versions cannot express are refused",
        arguments: [
            "Orders?$search=x", "Orders?$apply=identity", "Orders?$compute=1 as x", "Orders?$expand=Items($top=1)",
            "Orders?$filter=now() gt A", "Orders?$filter=A has N.E'x'", "Orders?$filter=Items/$count gt 1", "$all",
            "Orders?$filter=A eq @p&@p=1", "Orders?$expand=*", "Orders?$filter=A divby 2 gt 1",
            "Orders/$filter(A eq 1)", "Orders(1)/Items/$ref?$id=Items(2)",
        ])
    func refused(text: String) throws {
        let url = try ODataURL(parsing: text)
        let error = try #require(throws: QueryError.self) { try url.translatedToV2() }
        guard case .unsupported = error.kind else {
            Issue.record("\(error)")
            return
        }
    }
}

@Suite("Query shapes")
struct QueryShapeTests {
    private func shape(_ text: String) throws -> QueryShape { try ODataURL(parsing: text).shape }

    @Test(
        "URLs that differ only in values have the same shape",
        arguments: [
            ("Orders?$filter=A gt 5 and B eq 'x'&$top=1", "Orders?$filter=A gt 7 and B eq 'y<%26s'&$top=20"),
            ("Orders(1)", "Orders(2)"),
            ("Orders?$skiptoken=a", "Orders?$skiptoken=b"),
            ("Orders?$expand=I($filter=A in (1,2))", "Orders?$expand=I($filter=A in (3,4))"),
        ])
    func same(first: String, second: String) throws {
        let (a, b) = (try shape(first), try shape(second))
        #expect(a == b && a.parameters != b.parameters && a.parameters.count == b.parameters.count)
    }

    @Test(
        "Different queries have different shapes",
        arguments: [
            ("Orders?$filter=A gt 5", "Orders?$filter=A gt 5.5"), ("Orders?$filter=A eq null", "Orders?$filter=A eq 1"),
            ("Orders?$filter=A eq true", "Orders?$filter=A eq false"),
            ("Orders?$filter=A in (1,2)", "Orders?$filter=A in (1)"), ("Orders?$top=1", "Orders?$skip=1"),
            ("Orders?x=%3Ci", "Orders?x=1"), ("Orders?$filter=A eq '<i'", "Orders?$filter=A eq 1"),
            ("Orders?$filter=A eq 1", "Orders?$filter=A eq 3000000000"),
        ])
    func different(first: String, second: String) throws {
        #expect(try shape(first) != shape(second))
    }

    @Test("Values are listed in the order of the text")
    func parameters() throws {
        #expect(try shape("Orders(7)?$filter=A gt 5 and B eq 'x'&$top=3").parameters == [7, 5, "x", 3])
    }
}
