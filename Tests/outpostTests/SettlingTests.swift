import Foundation
import Testing

@Suite("Commands for the maintenance of a clone")
struct SettlingTests {
    /// A refused request in the JSON output.
    private struct Request: Decodable {
        struct Versions: Decodable {
            var property: String
            var was: Int
            var mine: Int
            var theirs: Int
        }

        var versions: [Versions]
    }

    @Test("conflicts shows all versions, and mine overrides the server version")
    func conflicts() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        let other = site.path("other")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        #expect(try await tool.run("clone", site.url, other).code == 0)
        #expect(try await tool.run("update", other, "Products(6)", "Stock=1").code == 0)
        #expect(try await tool.run("push", other).code == 0)
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=2").code == 0)
        #expect(try await tool.run("push", clone).code == 3)
        let shown = try await tool.run("conflicts", clone)
        #expect(shown.output.contains("mine 2, theirs 1"), "\(shown.output) \(shown.errors)")
        for command in ["conflicts", "errors"] {
            let report = try await tool.run(command, clone, "--json").output
            let requests = try JSONDecoder().decode([Request].self, from: Data(report.utf8))
            #expect(requests.map(\.versions.count) == [1], "\(report)")
            let versions = try #require(requests.first?.versions.first)
            #expect(versions.property == "Stock" && versions.mine == 2 && versions.theirs == 1, "\(report)")
            #expect(versions.was != versions.mine && versions.was != versions.theirs)
        }
        #expect(try await tool.run("doubts", clone).output == "No change is in doubt.\n")
        #expect(try await tool.run("conflicts", "theirs", clone, "99").code == 1)
        let mine = try await tool.run("conflicts", "mine", clone, "--json")
        #expect(mine.output.contains("\"retried\" : 1"), "\(mine.output) \(mine.errors)")
        #expect(try await tool.run("push", clone).code == 0)
        #expect(try await tool.run("conflicts", clone).output == "There is no conflict.\n")
    }

    @Test("explain shows the download of each query and the plan of a query")
    func explain() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        let query = "mine=Orders?$filter=EmployeeID eq 1&$expand=Order_Lines"
        #expect(try await tool.run("clone", site.url, clone, "--query", query).code == 0)
        let parts = try await tool.run("explain", clone)
        #expect(parts.output.contains("Order_Lines: split"), "\(parts.output) \(parts.errors)")
        #expect(try await tool.run("explain", clone, "--json").output.contains("\"expands\""))
        let plan = try await tool.run("explain", clone, "Orders?$filter=sap.islocal()")
        #expect(plan.output.contains("outpost_queue"), "\(plan.output) \(plan.errors)")
        #expect(try await tool.run("query", clone, "Orders?$filter=sap.islocal()").code == 0)
    }

    @Test("export writes each set, or the rows of a query, as JSON or CSV")
    func export() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        let folder = site.path("backup")
        let report = try await tool.run("export", clone, "--to", folder, "--json")
        #expect(report.output.contains("\"Customers\""), "\(report.errors)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/Customers.json"))
        let rows = try #require(try JSONSerialization.jsonObject(with: bytes) as? [[String: Any]])
        #expect(rows.count == 40 && rows[0]["CustomerID"] as? String == "C0001")
        let lines = try await tool.run(
            "export", clone, "--query", "Categories?$orderby=CategoryID&$top=2", "--format", "csv")
        #expect(lines.output.hasPrefix("CategoryID,Name\n1,"), "\(lines.output) \(lines.errors)")
        for query in ["Categories/$count", "Categories?$filter=Nam eq 1"] {
            let refused = try await tool.run("export", clone, "--query", query)
            #expect(refused.code != 0 && refused.output.isEmpty, "\(query): \(refused.output)")
        }
        #expect(try await tool.run("export", clone).code == 2)
        #expect(try await tool.run("export", clone, "--to", folder).code == 2, "nothing is overwritten")
    }

    @Test("repair saves the readable rows of damaged files, and the next sync brings the rest")
    func damaged() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=4").code == 0)
        #expect(try await tool.run("gc", clone).code == 0)
        #expect(try await tool.run("verify", clone, "--json").output.contains("\"isWhole\" : true"))
        let path = URL(fileURLWithPath: clone + "/store.db")
        var bytes = try Data(contentsOf: path)
        let pages = bytes.count / 4096
        for page in [pages / 2 - 3, pages / 2] { bytes[page * 4096 + 777] ^= 0x20 }
        try bytes.write(to: path)
        let found = try await tool.run("verify", clone, "--json")
        #expect(found.code == 1)
        #expect(found.output.contains("not a page as it was written"), "\(found.output) \(found.errors)")
        let repaired = try await tool.run("repair", clone)
        #expect(repaired.code == 0, "\(repaired.errors)")
        #expect(repaired.output.contains("1 change and"), "\(repaired.output)")
        #expect(try await tool.run("verify", clone).code == 0)
        #expect(try await tool.run("status", clone).output.contains("Products(6)"))
        #expect(try await tool.run("sync", clone).code == 0)
        #expect(try await tool.run("query", clone, "Customers/$count").output == "40\n")
        #expect(try await tool.run("status", clone).output.contains("Nothing to push."))
    }

    @Test("Every command has an abstract and an example")
    func help() async throws {
        let tool = try Site().tool
        let root = try await tool.run("--help").output
        let section = try #require(root.components(separatedBy: "SUBCOMMANDS:").last)
        let names = section.split(separator: "\n").compactMap { line -> String? in
            guard line.hasPrefix("  "), !line.hasPrefix("   ") else { return nil }
            return line.split(separator: " ").first.map { String($0.filter { $0 != "," }) }
        }
        #expect(names.count > 25)
        for name in names {
            let result = try await tool.run(name, "--help")
            #expect(result.code == 0 && result.output.contains("EXAMPLE"), "\(name)")
        }
    }

    @Test("Help fills lines of 79 characters without early breaks")
    func helpLines() async throws {
        let tool = try Site().tool
        for command in try await [[]] + tool.commands() {
            let help = try await tool.run(command + ["--help"]).output
            let lines = help.components(separatedBy: "USAGE:")[0].components(separatedBy: "\n")
            for (line, next) in zip(lines, lines.dropFirst()) where !line.isEmpty && line.first != " " {
                guard let word = next.split(separator: " ").first, next.first != " " else { continue }
                #expect(line.count + 1 + word.count >= 80, "\(command): \(line)")
            }
        }
    }

    @Test("repair and gc report their steps and keep rows and queue")
    func maintenance() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=4").code == 0)
        #expect(try await tool.run("repair", clone).output.contains("nothing to mend"))
        let report = try await tool.run("gc", clone, "--json")
        #expect(report.output.contains("\"after\""), "\(report.errors)")
        #expect(try await tool.run("status", clone).output.contains("Products(6)"))
        #expect(try await tool.run("query", clone, "RequestQueue?$select=Entity").output.contains("Products(6)"))
    }
}
