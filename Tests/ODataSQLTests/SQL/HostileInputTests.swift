import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataSQL

/// Malicious requests, each of which must have a response or a typed error within a time limit.
@Suite("Hostile input")
struct HostileInputTests {
    private static let isInstrumented = ProcessInfo.processInfo.environment["OUTPOST_SANITIZER"] != nil

    /// Returns whether a request has a successful response.
    ///
    /// - Throws: Errors other than those of an invalid request.
    private func isAnswered(_ url: String, _ traders: Traders) async throws -> Bool {
        do {
            _ = try await traders.json(url)
            return true
        } catch let error as QueryError {
            #expect(!error.message.isEmpty)
        } catch let error as ODataError {
            #expect(error.status == 400, "\(url): \(error)")
        }
        return false
    }

    @Test(
        "Every arithmetic overflow is refused",
        arguments: [
            "OrderID add 9223372036854775807 gt 0", "-9223372036854775808 sub OrderID lt 0",
            "OrderID mul 9223372036854775807 gt 0", "-(-9223372036854775808 add OrderID sub OrderID) gt 0",
            "(-9223372036854775808 add OrderID sub OrderID) div (OrderID sub OrderID sub 1) gt 0",
            "Weight mul 99999999999999999999999999999999999999 mul 99999999999999999999999999999999999999 gt 0",
        ])
    func overflow(condition: String) async throws {
        let traders = try Traders()
        #expect(try await !isAnswered("Orders?$filter=\(condition)", traders), "\(condition)")
        #expect(
            try await !isAnswered("Orders?$compute=\(condition.replacing(" gt 0", with: "")) as X&$select=X", traders)
                || !condition.hasSuffix(" gt 0"), "\(condition)")
    }

    @Test(
        "Sums, averages and floating-point values give a result or a refusal",
        arguments: [
            "Orders?$apply=aggregate(OrderID mul 4611686018427387904 with sum as S)",
            "Orders?$apply=aggregate(Weight with average as A)", "Orders?$filter=Rating mul 1e308 mul 1e308 gt 0",
            "Orders?$filter=Took mul 9223372036854775807 gt Took",
            "Orders?$filter=Took add duration'P999999999D' gt Took",
            "Orders?$filter=-9223372036854775808 mod (OrderID sub OrderID sub 1) eq 0",
            "Orders?$compute=Placed add duration'P99999999D' as X",
            "Orders?$compute=Placed sub duration'P99999999D' as X",
            "Orders?$compute=OrderDate add duration'P9999999D' as X",
            "Orders?$compute=Placed add duration'P999999999D' as X",
            "Orders?$compute=Placed sub duration'P999999999D' as X",
            "Orders?$compute=OrderDate add duration'P999999999D' as X",
            "Orders?$filter=year(now() sub Took mul 1000000) lt 0",
            "Orders?$filter=round(Rating mul 1e308) gt 0", "Orders?$filter=cast(Rating mul 1e300,Edm.Int64) eq null",
            "Orders?$filter=Weight divby 0.00000000000000000000000000000000000001 gt 0",
            "Orders?$filter=substring('abc',-9223372036854775808,9223372036854775807) eq 'abc'",
            "Orders?$top=9223372036854775807&$skip=9223372036854775807",
            "Orders?$apply=topcount(9223372036854775807,OrderID)", "Orders?$apply=toppercent(1e300,Freight)",
            "Orders?$expand=Items($top=9223372036854775807;$skip=9223372036854775807)",
            "Orders?$apply=orderby(OrderID)/skip(9223372036854775807)/top(9223372036854775807)",
        ])
    func extremes(url: String) async throws { _ = try await isAnswered(url, try Traders()) }

    @Test(
        "Division by zero is null, or infinity or NaN for floating types",
        arguments: [
            "OrderID mod (OrderID sub OrderID)", "OrderID divby 0", "OrderID div (OrderID sub OrderID)",
            "Freight div (OrderID sub OrderID)", "Freight mod (Freight sub Freight)",
            "Freight divby (Freight sub Freight)", "Weight divby 0",
        ])
    func divisionByZero(expression: String) async throws {
        let traders = try Traders()
        #expect(try await traders.keys("Orders?$filter=\(expression) eq null") == ["1", "2", "3", "4", "5"])
        #expect(
            try await traders.json("Orders?$filter=OrderID eq 1&$compute=\(expression) as X&$select=X")
                .contains(#""X":null"#))
    }

    @Test(
        "URL 5.1.1.2.5, 5.1.1.2.6 a request with a literal division by zero fails",
        arguments: [
            "OrderID div 0", "OrderID mod 0", "Freight div 0", "Freight mod 0.0", "Rating mod 0", "1 div 0",
            "Weight mod cast(0,Edm.Decimal)",
        ])
    func divisionByLiteralZero(expression: String) async throws {
        let error = await #expect(throws: QueryError.self) {
            try await Traders().json("Orders?$filter=\(expression) eq 1")
        }
        #expect(error?.message.contains("by zero") == true)
    }

    @Test("Floating-point division by zero is infinite or NaN")
    func floatingDivisionByZero() async throws {
        let traders = try Traders()
        let text = try await traders.json("Orders?$compute=Rating div 0 as X&$select=X&$filter=OrderID in (1,4,5)")
        let values = text.components(separatedBy: "\"X\":").dropFirst().map { String($0.prefix { $0 != "}" }) }
        #expect(values == ["\"INF\"", "\"-INF\"", "\"NaN\""], "\(text)")
        #expect(try await isAnswered("Orders?$compute=Rating mod (Rating sub Rating) as X&$select=X", traders))
    }

    /// The maximum duration of a request.
    private static var limit: Duration { isInstrumented ? .seconds(60) : .seconds(6) }

    @Test(
        "A million operands, ten thousand levels and a megabyte of parentheses are refused quickly",
        arguments: ["or", "depth", "parentheses", "in", "filters", "nots"])
    func large(kind: String) async throws {
        let text =
            switch kind {
            case "or": (0..<1_000_000).map { "OrderID eq \($0)" }.joined(separator: " or ")
            case "depth": String(repeating: "not (", count: 10_000) + "true" + String(repeating: ")", count: 10_000)
            case "parentheses": String(repeating: "(", count: 1 << 20)
            case "in": "OrderID in (\((0..<1_000_000).map(String.init).joined(separator: ",")))"
            case "nots": String(repeating: "not ", count: 10_000) + "true"
            default: (0..<10_000).map { "Items/any(i:i/Line eq \($0))" }.joined(separator: " and ")
            }
        let traders = try Traders()
        let clock = ContinuousClock.now
        _ = try await isAnswered("Orders?$filter=\(text)", traders)
        #expect(ContinuousClock.now - clock < Self.limit * 10, "\(kind)")
        if kind != "filters" { #expect(throws: QueryError.self) { try traders.bind("Orders?$filter=\(text)") } }
    }

    @Test(
        "A query that doubles with each step is refused before it uses much memory",
        arguments: ["compute", "apply", "casts", "replace", "concat", "collections"])
    func doubling(kind: String) async throws {
        func chain(_ first: String, _ next: (String) -> String) -> String {
            ([first] + (1..<40).map { "\(next("A\($0)")) as A\($0 + 1)" }).joined(separator: ",")
        }
        let a = String(repeating: "a", count: 1_000)
        let url =
            switch kind {
            case "compute": "Orders?$compute=\(chain("OrderID add 0 as A1") { "\($0) add \($0)" })&$select=A40"
            case "apply":
                "Orders?$apply=compute(OrderID add 0 as A1)"
                    + (1..<40).map { "/compute(A\($0) add A\($0) as A\($0 + 1))" }.joined()
            case "casts":
                "Orders?$filter="
                    + (0..<14).reduce("CustomerID") { text, _ in "cast(cast(\(text),Edm.Int32),Edm.String)" }
                    + " eq 'A'"
            case "replace":
                "Orders?$filter=length(replace(replace(replace('aaaaaaaaaa','a','\(a)'),'a','\(a)'),'a','\(a)')) gt 0"
            case "concat":
                "Orders?$compute=\(chain("concat('\(a)','\(a)') as A1") { "concat(\($0),\($0))" })&$select=A40"
            default: "Customers?$compute=\(chain("concat(Tags,Tags) as A1") { "concat(\($0),\($0))" })&$select=A40"
            }
        let clock = ContinuousClock.now
        #expect(try await !isAnswered(url, try Traders()), "\(kind)")
        #expect(ContinuousClock.now - clock < Self.limit * 10, "\(kind)")
    }

    @Test(
        "A query of the allowed depth is answered, or refused as too complex",
        arguments: ["add", "nested", "case", "concat"])
    func deep(kind: String) async throws {
        let url =
            switch kind {
            case "add": "Orders?$filter=OrderID\(String(repeating: " add 1", count: 60)) gt 0"
            case "nested":
                "Orders?$filter=" + String(repeating: "(OrderID add ", count: 50) + "1"
                    + String(repeating: ")", count: 50) + " gt 0"
            case "case":
                "Orders?$filter=" + String(repeating: "case(OrderID gt 9:1,true:", count: 50) + "2"
                    + String(repeating: ")", count: 50) + " gt 0"
            default:
                "Orders?$apply=concat(\(Array(repeating: "aggregate($count as N)", count: 600).joined(separator: ",")))"
            }
        _ = try await isAnswered(url, try Traders())
    }

    @Test("Nearly equal texts are searched only once")
    func alike() {
        let text = String(repeating: "a", count: 200_000)
        let part = String(repeating: "a", count: 100_000) + "b"
        let clock = ContinuousClock.now
        #expect(TextOperations.index(of: part, in: text) == -1)
        #expect(TextOperations.index(of: part, in: text + "b") == 100_000)
        #expect(ContinuousClock.now - clock < Self.limit)
    }

    @Test("A catastrophic pattern over many rows ends quickly")
    func pattern() async throws {
        let traders = try Traders()
        let text = String(repeating: "a", count: 2_000)
        for pattern in ["^(a+)+$b", "(a*)*c", "^(a|aa)+$b"] {
            let clock = ContinuousClock.now
            _ = try await isAnswered("Orders?$filter=matchesPattern('\(text)','\(pattern)')", traders)
            #expect(ContinuousClock.now - clock < Self.limit * 10, "\(pattern)")
        }
        #expect(try await !isAnswered("Orders?$filter=matchesPattern(CustomerID,'((a{100}){100}){100}')", traders))
    }
}
