import Foundation
import ODataModel
import Testing

@testable import ODataQuery

@Suite("Printed queries read back")
struct RoundTripTests {
    @Test("Random expressions read back to equal trees")
    func expressions() throws {
        var random = RandomQuery(seed: 1)
        for _ in 0..<1500 {
            let tree = random.expression(depth: 4)
            let text = tree.description
            let back = try CommonExpression(parsing: text)
            #expect(back == tree, "\(text)\n\(back)")
        }
    }

    @Test(
        "A quote ends a text even if a combining mark follows",
        arguments: ["'\u{301}", "\u{301}'", "\u{600}'", "a'\u{200C}b''\u{FE0F}", "'\u{73B}'"])
    func combiningMarks(text: String) throws {
        for dialect in [QueryDialect.v4, .v2] {
            let key = KeyPredicate.single(.literal(Literal(.string(text))))
            let url = ODataURL(path: ResourcePath([.name("Orders", .key(key))]))
            for written in [url.urlEncoded(dialect: dialect), url.description] {
                let read = try ODataURL(parsing: written, options: ParsingOptions(dialect: dialect))
                guard case .name(_, .key(.single(.literal(let literal))))? = read.path.segments.first,
                    case .string(let back) = literal.value
                else {
                    Issue.record("\(written) has no such key")
                    continue
                }
                #expect(back.utf8.elementsEqual(text.utf8), "\(written)")
            }
        }
    }

    @Test("Words of $search are read back even with combining marks")
    func combiningMarksInSearch() throws {
        // A word cannot begin with a quote, so it is written as a phrase.
        let words: [(SearchExpression, SearchExpression)] = [
            (.word("'\u{301}a"), .phrase("'\u{301}a")), (.word("a;\u{301}b"), .word("a;\u{301}b")),
        ]
        for (word, expected) in words {
            var url = ODataURL(path: ResourcePath([.name("Orders", .none)]))
            url.options.search = word
            #expect(try ODataURL(parsing: url.urlEncoded()).options.search == expected)
        }
    }

    @Test("No word of $search begins with a quote", arguments: ["a AND 'b", "a AND '\tb", "NOT 'b'", "('b')"])
    func quoteBeforeWord(text: String) {
        #expect(throws: QueryError.self) { try ODataURL(parsing: "Orders?$search=\(text)") }
    }

    @Test(
        "The deepest possible expression, and keys behind annotations, read back to equal trees",
        arguments: [
            String(repeating: "-", count: 64) + "5", String(repeating: "- ", count: 63) + "5", "-(1 has 2)",
            "- 1 in [1]",
            "s/@t/1", "s/@V.t/1", "s/t/1", "-(1 add 2)", "--5", "-(a)", "- null", "all/all/1", "s/all/1/F()",
            "(not)", "(not) add 5", "a/not", "(not) eq 1", "not (in)", "not (in has x)", "not (EQ in [1])",
            "(a in not) and b", "a in NOT", "not (not)", "not not (and)", "x/min((not true))", "x/f()((a eq b))",
            "Fn((1 add 2),3)", "Fn(1,(not true))",
        ])
    func numbers(text: String) throws {
        let expression = try CommonExpression(parsing: text)
        #expect(try CommonExpression(parsing: expression.description) == expression, "\(expression.description)")
    }

    @Test("$count within $expand and $select has the words of V4 in every dialect")
    func nestedCount() throws {
        let text = "Orders?$expand=Items($count=true),Ship($expand=Items($count=false))&$select=Items($count=true)"
        for dialect in [QueryDialect.v4, .v2] {
            let url = try ODataURL(parsing: text, options: ParsingOptions(dialect: dialect))
            #expect(
                try ODataURL(parsing: url.urlEncoded(dialect: dialect), options: ParsingOptions(dialect: dialect))
                    == url)
        }
    }

    @Test("Random URLs read back to equal trees, in both forms")
    func urls() throws {
        var random = RandomQuery(seed: 2)
        for _ in 0..<500 {
            let tree = random.url()
            for text in [tree.urlEncoded(), tree.description] {
                do {
                    let back = try ODataURL(parsing: text)
                    #expect(back == tree, "\(text)\n\(back)")
                } catch {
                    Issue.record("\(text)\n\(error)")
                }
            }
            #expect(tree.urlEncoded().utf8.allSatisfy { $0 > 32 && $0 < 127 })
        }
    }

    @Test(
        "V2 prints its own literals",
        arguments: [
            "Orders?$filter=OrderDate gt datetime'2000-01-01T00:00:00' and Token eq guid'01234567-89ab-cdef-0123-456789abcdef'",
            "Orders?$filter=Total eq 10L and Freight gt 1.5M and Ratio lt 0.5f and Weight lt 2.0d",
            "Orders?$filter=Scan eq X'1AFF' and Opens gt time'PT13H20M'&$inlinecount=allpages",
            "Orders?$filter=substringof('a',ShipCity) and When lt datetimeoffset'2000-01-01T00:00:00Z'",
            "Orders(1L)/$links/Items", "Orders?$filter=isof(Customer,'Shop.Customer')",
        ])
    func v2(text: String) throws {
        let url = try ODataURL(parsing: text, options: ParsingOptions(dialect: .v2))
        let printed = url.urlEncoded(dialect: .v2)
        #expect(printed.removingPercentEncoding == text)
        #expect(try ODataURL(parsing: printed, options: ParsingOptions(dialect: .v2)) == url)
    }

    @Test(
        "V4 refuses V2 literals",
        arguments: [
            "Orders?$filter=A eq datetime'2000-01-01T00:00:00'", "Orders?$filter=A eq 10L",
            "Orders?$filter=substringof('a',A)", "Orders?$inlinecount=none",
            "Orders?$filter=A eq X'1A'",
        ])
    func notV4(text: String) {
        #expect(throws: QueryError.self) { try ODataURL(parsing: text) }
    }

    @Test(
        "Two numbers around a colon in case() are no time of day",
        arguments: [
            "case(Floor eq 10:15,true:0)", "case(Floor eq 10 :15,true:0)", "case(Floor eq 10:(15),true:0)",
            "case(Floor eq 10:15 ,true:0)",
        ])
    func colonBehindNumber(text: String) throws {
        let tree = CommonExpression.call(
            "case",
            [
                .binary(.equal, .path([.name("Floor")]), .literal(Literal(.integer(10)))),
                .literal(Literal(.integer(15))), .literal(Literal(.boolean(true), type: .boolean)),
                .literal(Literal(.integer(0))),
            ])
        #expect(try CommonExpression(parsing: text) == tree)
        #expect(tree.description == "case(Floor eq 10:(15),true:0)")
        var url = try ODataURL(parsing: "Rooms")
        url.options.filter = .binary(.equal, tree, .literal(Literal(.integer(1))))
        #expect(url.urlEncoded() == "Rooms?$filter=case(Floor%20eq%2010:(15),true:0)%20eq%201")
        #expect(try ODataURL(parsing: url.urlEncoded()) == url)
    }

    @Test(
        "A number before a colon in case() is a number unless it begins a time of day",
        arguments: [
            ("54:54", "54", "54"), ("24:00", "24", "0"), ("15:20e1", "15", "200.0e0"), ("15:10.5", "15", "10.5"),
            ("15:100", "15", "100"), ("99:'a'", "99", "'a'"), ("15:20 add 1", "15", "20 add 1"),
        ])
    func noTimeOfDay(text: String, number: String, value: String) throws {
        let tree = try CommonExpression(parsing: "case(Floor lt \(text),true:0)")
        guard case .call("case", let pairs) = tree, case .binary(.less, _, let right) = pairs[0] else {
            Issue.record("\(tree)")
            return
        }
        #expect(right.description == number)
        #expect(pairs[1].description == value)
        #expect(try CommonExpression(parsing: tree.description) == tree)
    }

    @Test(
        "A time of day in a condition of case() is kept",
        arguments: [
            "case(Opens eq 10:15 :1)", "case(Opens eq 10:15:00:20)", "case((Opens eq 10:15):20)",
            "case(Opens eq 10:15:20:15:00)", "case(case(Floor eq 10:15) eq 10:15,true:10:15)",
        ])
    func timeBeforeColon(text: String) throws {
        let tree = try CommonExpression(parsing: text)
        #expect(try CommonExpression(parsing: tree.description) == tree)
        guard case .call("case", let pairs) = tree, case .binary(.equal, let left, let right) = pairs[0] else {
            Issue.record("\(tree)")
            return
        }
        guard case .literal(let literal) = right else {
            Issue.record("\(right)")
            return
        }
        if case .call = left {
            #expect(literal.value == .integer(10))
            #expect(pairs.last?.description == "10:15:00")
        } else {
            #expect(literal.type == .timeOfDay)
        }
    }

    @Test("A missing colon in case() is refused")
    func noColon() {
        #expect(throws: QueryError.self) { try CommonExpression(parsing: "case(Opens eq 10:15:20,true:0)") }
        #expect(throws: QueryError.self) { try CommonExpression(parsing: "case(Opens eq 10,true:0)") }
        #expect(throws: QueryError.self) {
            try CommonExpression(parsing: "case(At eq 2020-01-01T00:00:00+10:15,true:0)")
        }
    }

    @Test("Slashes, ampersands and plus signs within values are encoded")
    func delimiters() throws {
        var url = ODataURL(
            path: ResourcePath([.name("Tags", .key(.single(.literal(Literal("a/b?c", type: .string)))))]))
        url.options.filter = .binary(.equal, .path([.name("Name")]), .literal(Literal("x&y+z#1 100%", type: .string)))
        #expect(
            url.urlEncoded() == "Tags('a%2Fb%3Fc')?$filter=Name%20eq%20'x%26y%2Bz%231%20100%25'")
        #expect(url.description == "Tags('a%2Fb%3Fc')?$filter=Name eq 'x%26y%2Bz%231 100%25'")
    }

    @Test(
        "A key segment stays a key and does not become a call",
        arguments: [
            "a/1", "a/1/b", "a/b/1", "a/b/1/2", "$it/1", "S.T/1/b", "a/01234567-89ab-cdef-0123-456789abcdef/b",
            "a/2020-01-01", "a/$filter(x eq 1)/1", "a/$count/1",
        ])
    func keySegments(text: String) throws {
        let expression = try CommonExpression(parsing: text)
        let printed = expression.description
        #expect(try CommonExpression(parsing: printed) == expression, "\(printed)")
    }

    @Test("An encoded slash in a content reference stays encoded")
    func contentReference() throws {
        let url = try ODataURL(parsing: "$1%2F2/Items")
        for text in [url.urlEncoded(), url.description] {
            #expect(text == "$1%2F2/Items")
            #expect(try ODataURL(parsing: text) == url)
        }
    }

    @Test("V2 refuses numbers outside the range of their types", arguments: ["1e99f", "-1e99f", "1e999d"])
    func infinite(number: String) throws {
        let options = ParsingOptions(dialect: .v2)
        let error = #expect(throws: QueryError.self) {
            try ODataURL(parsing: "Orders?$filter=A eq \(number)", options: options)
        }
        #expect(error?.description.contains("beyond every numeric type") == true)
    }

    @Test("A plus sign is literal unless the server expects form encoding")
    func plus() throws {
        let text = "Orders?$filter=Name+eq+'a'&x=1+1"
        #expect(throws: QueryError.self) { try ODataURL(parsing: text) }
        let url = try ODataURL(parsing: text, options: ParsingOptions(plusIsSpace: true))
        #expect(url.options.filter == .binary(.equal, .path([.name("Name")]), .literal(Literal("a", type: .string))))
        #expect(url.options.custom == [.init(name: "x", value: "1 1")])
        #expect(try ODataURL(parsing: "Orders?x=1+1").options.custom == [.init(name: "x", value: "1+1")])
    }
}
