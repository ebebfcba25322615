import Foundation
import Testing

@testable import struct outpost.Failure
@testable import enum outpost.TypedQuery

@Suite("Queries of newcomers")
struct NewcomerQueryTests {
    /// A query and the words that its error must have; none for a query that is accepted.
    private static let rows: [(typed: String, words: [String])] = [
        ("Orders?$filter=Freight > 100", ["found “>”", "Write gt for >."]),
        ("Orders?$filter=Freight = 1997", ["found “=”", "Write eq for =."]),
        ("Orders?$filter=CustomerID == 'Germany'", ["Write eq for ==."]),
        ("Orders?$filter=CustomerID != 'Germany'", ["Write ne for !=."]),
        ("Orders?$filter=Freight gt 100 && Freight lt 500", ["Write and for &&"]),
        ("Orders?$filter=Freight gt 100 || Freight lt 5", ["Write or for ||"]),
        ("Orders?$filter=Freight + 5 gt 3", ["Write add for +."]),
        ("Orders?$filter=Freight*2 gt 3", ["Write mul for *."]),
        ("Customers?$filter=CompanyName contains 'chop'", ["found “contains”", "Write contains(CompanyName,'chop')."]),
        ("Orders?$filter=Freight between 1 and 5", ["Write Freight ge 1 and Freight le 5."]),
        ("Orders?$orderby=Freight descending", ["found “descending”", "Write desc for descending."]),
        ("Orders?$filter=Freight gt 900 &$select=OrderID", []),
        ("Orders?$filter=EmployeeID is null", ["Write EmployeeID eq null."]),
        ("Orders?$filter=EmployeeID eq NULL", ["has no property NULL", "Write null."]),
        ("Customers?$filter=Country eq Germany", ["has no property Germany", "single quotes: 'Germany'"]),
        ("Customers?$filter=Country eq \"Germany\"", ["single quotes: 'Germany'"]),
        ("Customers?$filter=Country eq “Germany”", ["single quotes: 'Germany'"]),
        ("Customers?$filter=CompanyName eq 'O'Reilly'", ["Double the quote in a text: 'O''Reilly'."]),
        ("Customers?$filter=CompanyName like '%chop%'", ["Write contains(CompanyName,'chop')."]),
        ("Orders?$filter=Freight gt 100,5", ["Expected an operator or the end, found “,”", "decimal point: 100.5"]),
        ("Orders?$filter = Freight gt 900", []),
        ("Orders?$filter=Customer.Country eq 'x'", ["Write Customer/Country."]),
        ("Orders?$limit=2", ["Write $top instead."]), ("Orders?$distinct", ["$apply=groupby((…))"]),
        ("Orders?$groupby=CustomerID", ["$apply=groupby((…))"]),
        ("/Orders?$top=1", []), ("  Orders?$top=1 ", []), ("ROOT/Orders?$top=1", []), ("ROOT", []),
        ("http://example.org/Orders", ["is not an address of the service"]),
        ("Orders(1999)", ["Orders(1999) is not kept in", "The clone keeps a part of Orders"]),
        ("Customers('NONE')", ["Customers('NONE') does not exist in"]),
        ("Products", ["Products", "outpost add-query"]),
        ("Orders?=Freight gt 900&=2", ["shell", "single quotes"]),
        ("Orders where Freight gt 5", ["Write Orders?$filter= for where."]),
    ]

    @Test("A query in everyday notation is answered, or refused with the OData notation")
    func table() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        let made = try await site.tool.run(
            "clone", site.url, clone, "--query", "few=Orders?$filter=OrderID lt 1010", "--query", "all=Customers")
        #expect(made.code == 0, "\(made.errors)")
        for (typed, words) in Self.rows {
            let root = site.url.hasSuffix("/") ? String(site.url.dropLast()) : site.url
            let result = try await site.tool.run("query", clone, typed.replacing("ROOT", with: root))
            #expect((result.code == 0) == words.isEmpty, "\(typed): \(result.output)\(result.errors)")
            for word in words { #expect(result.errors.contains(word), "\(typed): \(result.errors)") }
            #expect(!result.errors.contains("found a space"), "\(typed): \(result.errors)")
            #expect(!result.errors.contains("404"), "\(typed): \(result.errors)")
        }
        let limited = try await site.tool.run("query", clone, "Orders?limit=2")
        #expect(limited.code == 0 && limited.errors.contains("warning: The clone ignores limit."), "\(limited.errors)")
        for command in ["explain", "watch", "undo"] {
            let result = try await site.tool.run(command, clone, "/Ordres")
            #expect(result.errors.contains("Did you mean Orders?"), "\(command): \(result.errors)")
        }
        let added = try await site.tool.run("add-query", clone, "more= \(site.url)Products?$top=3 ")
        #expect(added.code == 0, "\(added.errors)")
        let update = try await site.tool.run("update", clone, "/Orders(1001)", "OrderedAt=1997-01-01")
        #expect(update.code == 1 && update.errors.contains("Write it as 1997-06-01T00:00:00Z."), "\(update.errors)")
    }

    @Test("A query is relative to the root, and surrounding blanks are removed")
    func normalised() throws {
        let root = "http://host:8080/shop/"
        for (typed, text) in [
            ("Orders", "Orders"), ("/Orders", "Orders"), (" Orders ? $top = 3 & $skip= 1 ", "Orders?$top=3&$skip=1"),
            ("http://host:8080/shop/Orders?$top=3", "Orders?$top=3"), ("HTTP://HOST:8080/shop/Orders", "Orders"),
            ("/shop/Orders(1)", "Orders(1)"), ("http://host:8080/shop", ""), ("", ""),
            ("Orders?$filter=A eq 'x = y'", "Orders?$filter=A eq 'x = y'"),
        ] {
            #expect(try TypedQuery.text(typed, root: root) == text)
        }
        for foreign in [
            "https://host:8080/shop/Orders", "http://host:8080/shopping/Orders", "http://other/shop/Orders",
        ] {
            #expect(throws: Failure.self) { try TypedQuery.text(foreign, root: root) }
        }
    }
}
