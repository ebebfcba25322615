import Foundation
import ODataModel
import TestCorpus
import TestModels
import Testing

@testable import ODataQuery

private func longChain(_ operand: String, _ symbol: String, _ count: Int) -> String {
    Array(repeating: operand, count: count).joined(separator: " \(symbol) ")
}

@Suite("No client input causes a crash")
struct ParserRobustnessTests {
    /// Whether `scripts/sanitize.sh` runs the tests. Instrumented code is slower and needs more stack, so the
    /// limits are exact only without instrumentation.
    static let isInstrumented = ProcessInfo.processInfo.environment["OUTPOST_SANITIZER"] != nil
    /// The factor by which the time limits are extended. Quadratic time for a megabyte still exceeds them.
    static let slowdown = isInstrumented ? 10 : 1
    /// The factor by which the stack limits are extended.
    static let stackGrowth = isInstrumented ? 4 : 1

    static let urls = [
        "Orders?$filter=Freight gt 50 and startswith(ShipCity,'B')&$expand=Items($filter=Quantity gt 1;$top=2)",
        "Orders(OrderID=1,ProductID='a%20b')/Items/$count?$search=red AND (NOT \"blue green\" OR x)",
        "$crossjoin(A,B)?$apply=filter(A/ID eq B/ID)/groupby((A/Name,rollup($all,B/X)),aggregate(A/Amount with sum as Total))",
        "Orders?$apply=groupby((rolluprecursive($root/Orgs,H,Org/ID,descendants($root/Orgs,H,ID,filter(ID eq 'E'),2,keep start))),aggregate($count as N))/traverse($root/Orgs,H,Org/ID,preorder,Name desc)",
        "Orders?$filter=geo.distance(Loc,geography'SRID=4326;Point(1.5 -2)') lt 10&@p=[1,{\"a\":\"b\\u00e4\"},'x']",
        "Orders?$select=A/B,Ns.*,Ns.F(a,b),C($select=D)&$compute=case(X gt 0:1,true:-1) as S&$orderby=A/$count($filter=x) desc",
        "Orders?$filter=A in ('x','y') or not (B has Ns.C'D,3') or cast(E,Edm.Int32) eq -5 or F/any(f:f/G/all(g:g eq $it/H))",
        "Orders?$filter=D gt 2012-09-03T22:09:02.5+01:00 or T lt 11:22:33 or G eq 01234567-89ab-cdef-0123-456789abcdef or P eq duration'-P1DT2H'",
        "Customers/O'Neil/Smartphone%2FTablet/$filter(A/B eq 'x/y')/Ns.F(a=@b)(2)/$each?@b=$root/X('%F0%9F%99%82')/Y&$levels=2",
        "$metadata#Customers(Name,Orders+(ID))/$entity",
    ]

    @Test("Every prefix of a URL is read or refused with its place", arguments: urls)
    func prefixes(url: String) {
        for length in 0...url.count {
            let prefix = String(url.prefix(length))
            for dialect in [QueryDialect.v4, .v2] {
                do throws(QueryError) {
                    _ = try ODataURL(parsing: prefix, options: ParsingOptions(dialect: dialect))
                } catch {
                    let offset = error.offset ?? -1
                    #expect(offset >= 0 && offset <= prefix.count, "\(prefix): \(error)")
                    #expect(error.text == prefix)
                }
            }
        }
    }

    @Test("Every prefix of a random expression is read or refused")
    func expressionPrefixes() {
        var random = RandomQuery(seed: 3)
        for _ in 0..<50 {
            let text = random.expression(depth: 4).description
            for end in text.indices { _ = try? CommonExpression(parsing: String(text[..<end])) }
        }
    }

    @Test("URLs with bytes changed at random are read or refused", arguments: urls)
    func mutations(url: String) throws {
        var generator = SeededGenerator(seed: 4)
        let alphabet = Array("()'\"/%$,;:=&?@*+- ab0\u{0}\u{e4}#{}[]\\".utf8)
        let model = try ShopModel.make()
        for _ in 0..<300 {
            var bytes = Array(url.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[place] = alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
            }
            guard let parsed = try? ODataURL(parsing: String(decoding: bytes, as: UTF8.self)) else { continue }
            _ = try? Binder(model: model).bind(parsed)
            _ = parsed.urlEncoded()
        }
    }

    @Test(
        "A megabyte of one construct is refused quickly at a limit",
        arguments: [
            "(", "not ", "-", "a(", "[", "{\"a\":", "x/any(y:", "concat(", "case(", "x/", "x in (",
            "$it/x/$count($filter=", "%27 ",
            "cast(", "1 add ", "true and ", "a eq ", "@", "geo.distance(", "-(", "x/aggregate(", "x/$filter(", "not(",
            "1 in ",
        ])
    func megabyte(piece: String) throws {
        let count = 1_000_000 / piece.utf8.count
        let text = String(repeating: piece, count: count)
        let time = try processorTime {
            let error = try #require(throws: QueryError.self) {
                try CommonExpression(parsing: text, isPercentEncoded: true)
            }
            if piece == "(" { #expect(error.kind == .limit(name: "maxDepth")) }
        }
        #expect(time < .seconds(2) * Self.slowdown)
    }

    @Test(
        "A megabyte of one construct in an option is refused quickly at a limit",
        arguments: [
            "$expand=", "$search=", "$apply=", "$select=", "$orderby=", "$compute=",
        ])
    func megabyteOption(option: String) throws {
        let pieces = [
            "$expand=": ["A($expand=", "A/", "*,", "A,"], "$search=": ["(", "NOT ", "a ", "a OR ", "\"a\" AND "],
            "$apply=": [
                "concat(", "identity/", "groupby((a),", "groupby((", "filter(", "nest(", "ancestors($root/A,H,I,",
                "traverse($root/A,H,I,preorder,", "aggregate(", "expand(A,", "aggregate(a/", "search(",
            ],
            "$select=": ["A($select=", "A/", "A,", "*,"], "$orderby=": ["a,", "a desc,", "("],
            "$compute=": ["a as b,", "("],
        ]
        for piece in pieces[option] ?? [] {
            let text = option + String(repeating: piece, count: 1_000_000 / piece.utf8.count)
            let time = processorTime { _ = try? QueryOptions(parsing: text) }
            #expect(time < .seconds(3) * Self.slowdown, "\(piece)")
        }
    }

    @Test("A long chain becomes a balanced tree")
    func chain() throws {
        let text = (0..<12_000).map { "a eq \($0)" }.joined(separator: " or ")
        let tree = try CommonExpression(parsing: text)
        #expect(try CommonExpression(parsing: tree.description) == tree)
        let tooLong = (0..<100_000).map { "a eq \($0)" }.joined(separator: " or ")
        let error = try #require(throws: QueryError.self) { try CommonExpression(parsing: tooLong) }
        #expect([.limit(name: "maxNodes"), .limit(name: "maxLength")].contains(error.kind))
    }

    @Test("Each limit accepts its value and refuses one more")
    func limits() throws {
        func nested(_ count: Int) -> String {
            String(repeating: "(", count: count) + "true" + String(repeating: ")", count: count)
        }
        // The expression itself is the first level.
        _ = try CommonExpression(parsing: nested(QueryLimits.maxDepth - 1))
        #expect(
            try #require(throws: QueryError.self) { try CommonExpression(parsing: nested(QueryLimits.maxDepth)) }.kind
                == .limit(name: "maxDepth"))
        let name = String(repeating: "n", count: QueryLimits.maxIdentifierLength)
        _ = try CommonExpression(parsing: name)
        #expect(
            try #require(throws: QueryError.self) { try CommonExpression(parsing: name + "n") }.kind
                == .limit(name: "maxIdentifierLength"))
        let string = "'" + String(repeating: "s", count: QueryLimits.maxLength - 2) + "'"
        _ = try CommonExpression(parsing: string)
        #expect(
            try #require(throws: QueryError.self) { try CommonExpression(parsing: string + " ") }.kind
                == .limit(name: "maxLength"))
        // A list is one node, and each of its members is another.
        func list(_ count: Int) -> String { "[" + Array(repeating: "1", count: count).joined(separator: ",") + "]" }
        _ = try CommonExpression(parsing: list(QueryLimits.maxNodes - 1))
        #expect(
            try #require(throws: QueryError.self) { try CommonExpression(parsing: list(QueryLimits.maxNodes)) }.kind
                == .limit(name: "maxNodes"))
    }

    @Test(
        "A text at a limit stays within the limit after printing",
        arguments: [
            "A/1", "A/1/B", "NS.T/1", "A/NS.T/1/B", "A/any/1", "A/aggregate/1", "aggregate/1", "A(1)", "A/B(1)",
            "A/NS.T(1)", "A/NS.F(p=1)/B",
            "A in [1,2]", "A in (1,2)", "A/f(p=\"s\")", "f(\"s\")", "NS.f(\"s\")", "- A", "-(1)", "not A eq B",
            "A add (B add C)", "A eq B eq C eq D", "case(A eq 10:15,true:0)", "case(A eq 10:(15),true:0)",
            "A/$count($filter=B/1 eq 1)", "A/any(x:x/B/1 eq 1)", "A/$filter(B/1 eq 1)/C", "A/aggregate(B/1 with max)",
            "cast(A/1,NS.T)", "isof(NS.T)", "{\"a\":[1,{\"b\":2}]}", "A in []", "A/all/1", "$root/A/1/B", "@a/B/1",
            longChain("A", "or", 20), longChain("A/1", "and", 40), longChain("(A and B)", "and", 17),
            "(A and B) and (not C) and \(longChain("(A and (B or C))", "and", 35))",
            "A or \(longChain("B", "and", 20))", "(\(longChain("B", "and", 20))) and A",
        ])
    func limitsOfPrinted(text: String) throws {
        func count(_ text: String) throws -> (nodes: Int, height: Int) {
            var parser = QueryParser(
                try SourceText(Array(text.utf8)[...], base: 0, isPercentEncoded: false), dialect: .v4)
            _ = try parser.expression()
            return (parser.nodes, parser.height)
        }
        let printed = try CommonExpression(parsing: text).description
        let (read, again) = (try count(text), try count(printed))
        #expect(again.nodes <= read.nodes && again.height <= read.height, "\(printed): \(again), and before: \(read)")

        for (before, behind) in [
            ("$expand=A(", ")"), ("(", ")"), ("not (", ")"), ("- (", ")"), ("concat(", ",B)"), ("f(", ")"),
            ("NS.f(", ")"), ("A eq (", ")"), ("A/any(x:", ")"), ("A in [", "]"), ("A/$filter(", ")"),
            ("A/NS.f(p=", ")"),
            ("cast(", ",NS.T)"), ("case(true:", ")"), ("A/$count($filter=", ")"), ("A/aggregate(", " with max)"),
            ("A(", ")"),
        ] {
            func url(_ depth: Int) -> String {
                let isExpanded = before.hasPrefix("$")
                let inner = (isExpanded ? "$filter=" : "") + text
                let deep = String(repeating: before, count: depth) + inner + String(repeating: behind, count: depth)
                return "Orders?" + (isExpanded ? "" : "$filter=") + deep
            }
            // The maximum depth.
            var (depth, tooDeep) = (0, QueryLimits.maxDepth + 1)
            while tooDeep - depth > 1 {
                let middle = (depth + tooDeep) / 2
                if (try? ODataURL(parsing: url(middle))) == nil { tooDeep = middle } else { depth = middle }
            }
            let tree = try ODataURL(parsing: url(depth))
            for printed in [tree.urlEncoded(), tree.description] {
                let back = try? ODataURL(parsing: printed)
                #expect(back == tree, "\(depth) times \(before)")
            }
        }
    }

    @Test("The deepest tree fits into a stack of half a megabyte")
    func smallStack() async throws {
        let depth = QueryLimits.maxDepth - 1
        let text =
            String(repeating: "not (Items/any(x:", count: depth / 4) + "true"
            + String(repeating: "))", count: depth / 4)
        let parentheses = String(repeating: "(", count: depth) + "true" + String(repeating: ")", count: depth)
        let sums = String(repeating: "1 add (", count: depth / 2) + "Pieces" + String(repeating: ")", count: depth / 2)
        /// Returns a text with the maximum number of nested calls.
        func calls(_ name: String, _ argument: String = "") -> String? {
            (1...depth).reversed().lazy.map { count in
                String(repeating: name + "(" + argument, count: count) + "1" + String(repeating: ")", count: count)
            }.first { (try? CommonExpression(parsing: $0)) != nil }
        }
        let nested = [calls("NS.f"), calls("f"), calls("NS.f", "p="), calls("length"), calls("f", "p=")]
        let model = try ShopModel.make()
        let isDone: Bool = await withCheckedContinuation { continuation in
            let thread = Thread {
                let shape = model.shape(ofSet: "Orders")
                for text in [text, parentheses, sums] + nested.compactMap({ $0 }) {
                    guard let tree = try? CommonExpression(parsing: text) else { continue }
                    if let shape, let bound = try? Binder(model: model).bind(tree, shape: shape, set: nil) {
                        let evaluator = Evaluator(model: model, source: Nothing(), now: ODataDateTimeOffset(seconds: 0))
                        _ = try? evaluator.evaluate(bound, on: ODataEntity(shape: shape, [:]))
                    }
                    _ = tree.description
                }
                continuation.resume(returning: true)
            }
            thread.stackSize = 512 * 1024 * Self.stackGrowth
            thread.start()
        }
        #expect(isDone)
    }

    /// An unoptimised build needs up to four times the stack of an optimised one, which needs at most 360 KB.
    @Test(
        "Without optimisation, the deepest queries fit into a stack of a megabyte and a half",
        arguments: [
            ("$filter=", "1 add (", "1", ")"), ("$filter=", "A and (", "B", ")"), ("$filter=", "A/any(x:", "B", ")"),
            ("$filter=", "not (A/all(x:", "B", "))"), ("$filter=", "A/$filter(", "B", ")"),
            ("$filter=", "A/B(", "1", ")"), ("$filter=", "A/B(p=", "1", ")"), ("$filter=", "A/NS.f(p=", "1", ")"),
            ("$filter=", "A/$filter(B)(", "1", ")"), ("$filter=", "A/NS.f(a=1)(", "1", ")"),
            ("$filter=", "A/NS.f(a=1)(p=", "1", ")"), ("$filter=", "$it/A(", "1", ")"),
            ("$filter=", "A/$count($filter=", "B", ")"), ("$filter=", "A/aggregate(", "B", " with max)"),
            ("", "$expand=A(", "$filter=B", ")"), ("", "$select=A(", "$select=B", ")"), ("$search=", "NOT (", "B", ")"),
            ("$apply=", "concat(identity,", "identity", ")"), ("$apply=", "groupby((A),", "identity", ")"),
            ("$apply=", "nest(", "identity", " as B)"), ("$apply=", "addnested(A,", "identity", " as B)"),
            ("$apply=", "join(A as B,", "identity", ")"), ("$apply=", "expand(A,", "filter(B)", ")"),
            ("$apply=", "ancestors($root/A,B,C,", "identity", ")"),
            ("$apply=", "groupby((rolluprecursive($root/A,B,C,", "identity", ")))"),
        ])
    func smallStackOfPaths(option: String, before: String, innermost: String, behind: String) async throws {
        let urls = (1...QueryLimits.maxDepth + 1).map { depth in
            "Orders?" + option + String(repeating: before, count: depth) + innermost
                + String(repeating: behind, count: depth)
        }
        let deepest = try #require(urls.last { (try? ODataURL(parsing: $0)) != nil })
        let printed: String? = await withCheckedContinuation { continuation in
            let thread = Thread {
                continuation.resume(returning: (try? ODataURL(parsing: deepest))?.description)
            }
            thread.stackSize = 3 * 512 * 1024 * Self.stackGrowth
            thread.start()
        }
        #expect(printed != nil)
    }
}

/// A service without entities.
private struct Nothing: EvaluationSource {
    func rows(of set: String) -> [any EvaluationRow] { [] }
    func singleton(_ name: String) -> (any EvaluationRow)? { nil }
}
