import ForeignPrograms
import Foundation
import Testing

@Suite("Queries of a clone with the functions of the store")
struct StateFunctionCommandTests {
    @Test("isLocal and entityExists work in every filter, also through a served clone")
    func everywhere() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        #expect(try await tool.run("update", clone, "Orders(1003)", "Freight=47.25").code == 0)
        site.stop()
        try await site.serve(path: clone, "--open")
        let forms = [
            "Orders?$filter=F&$top=3", "Orders?$orderby=F desc,OrderID&$top=3", "Orders?$filter=F in (true)&$top=3",
            "Orders?$filter=isof(F,Edm.Boolean)&$top=3", "Orders?$compute=F as X&$select=OrderID,X&$top=3",
            "Orders?$apply=filter(F)/aggregate($count as N)",
            "Customers?$expand=Orders($filter=F;$orderby=OrderID)&$top=3",
        ]
        let functions = [
            ("outpost.entityExists(Customer)", "(CustomerID ne null)"), ("outpost.isLocal()", "(OrderID eq 1003)"),
        ]
        // A colon between two letters is within a word, by Unicode.
        let place = /\bF\b/.wordBoundaryKind(.simple)
        for form in forms {
            for (function, condition) in functions {
                let query = form.replacing(place, with: function)
                let same = form.replacing(place, with: condition)
                let found = try await tool.run("query", clone, query, "--json")
                let expected = try await tool.run("query", clone, same, "--json")
                #expect(found.code == 0 && found.output == expected.output, "\(query): \(found.output) \(found.errors)")
                #expect(found.output.count > 5)
                let served = try await rows(query, of: site)
                #expect(try await served == rows(same, of: site) && !served.isEmpty, "\(query): \(served)")
            }
        }
        let plan = try await tool.run("explain", clone, "Orders?$orderby=outpost.entityExists(Customer)")
        #expect(plan.code == 0, "\(plan.errors)")
    }

    /// The answer of the served clone, without its context, which names the query.
    private func rows(_ query: String, of site: Site) async throws -> String {
        let url = site.url + query.replacing(" ", with: "%20")
        let text = try await Command.curl("--header", "Accept: application/json;odata.metadata=none", url)
        #expect(!text.contains("\"error\""), "\(query): \(text)")
        return text.replacing(/"[^"]*@(odata\.)?(context|nextLink)":"[^"]*",?/, with: "")
    }
}
