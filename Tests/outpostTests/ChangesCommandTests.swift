import Foundation
import ODataModel
import OfflineOData
import Secrets
import Testing

@Suite("The changes of a clone: listed, compared and resolved")
struct ChangesCommandTests {
    private struct Line: Decodable {
        var id: Int64
        var state: String
        var isConflict: Bool
        var isHeld: Bool
        var waitsFor: Int64?
        var priority: Int
    }

    private static let date = "OrderedAt=2026-01-01T00:00:00Z"

    private func lines(_ tool: Tool, _ arguments: String...) async throws -> [Line] {
        let result = try await tool.run(["changes"] + arguments + ["--json"])
        #expect(result.code == 0, "\(result.errors)")
        return try JSONDecoder().decode([Line].self, from: Data(result.output.utf8))
    }

    /// A clone with a conflict, a refused creation with a change that waits for it, and a pending change.
    private func troubled(_ site: Site) async throws -> String {
        let tool = site.tool
        try await site.serve()
        let (clone, other) = (site.path("clone"), site.path("other"))
        for directory in [clone, other] { #expect(try await tool.run("clone", site.url, directory).code == 0) }
        #expect(try await tool.run("update", other, "Products(6)", "Stock=1").code == 0)
        #expect(try await tool.run("push", other).code == 0)
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=2").code == 0)
        #expect(try await tool.run("create", clone, "Orders", "CustomerID=NOBOD", Self.date).code == 0)
        let push = try await tool.run("push", clone)
        #expect(push.code == 3, "\(push.output) \(push.errors)")
        #expect(try await tool.run("update", clone, "Products(7)", "Stock=3").code == 0)
        return clone
    }

    @Test("changes lists all of them, and filters leave some")
    func filters() async throws {
        let site = try Site()
        let tool = site.tool
        let clone = try await troubled(site)
        let all = try await lines(tool, clone)
        #expect(all.count == 3)
        #expect(try await lines(tool, clone, "--failed").count == 2)
        #expect(try await lines(tool, clone, "--conflicts").map(\.isConflict) == [true])
        #expect(try await lines(tool, clone, "--pending").map(\.state) == ["pending"])
        #expect(try await lines(tool, clone, "--pending", "--conflicts").count == 2)
        #expect(try await lines(tool, clone, "--doubts").isEmpty)
        #expect(try await tool.run("changes", clone, "--doubts").output == "No change is in doubt.\n")
        #expect(try await tool.run("changes", clone, "--sent").output == "No change is on its way.\n")
        let text = try await tool.run("changes", clone).output
        #expect(
            text.contains("mine 2, theirs 1") && text.contains("conflict") && text.contains("Products(7)"), "\(text)")
        #expect(text.contains("outpost changes retry|discard"), "\(text)")
    }

    @Test("the changes of a copied clone are held")
    func held() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let (clone, copy) = (site.path("clone"), site.path("copy"))
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=2").code == 0)
        try FileManager.default.copyItem(atPath: clone, toPath: copy)
        #expect(try await lines(tool, copy, "--held").map(\.isHeld) == [true])
        #expect(try await tool.run("changes", copy).output.contains("--from-copy"))
        #expect(try await tool.run("changes", clone, "--held").output == "No change is held.\n")
    }

    @Test("changes that an app has not submitted are listed as held, and no push sends them")
    func notSubmitted() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let (clone, key) = (site.path("clone"), site.path("key"))
        try Site.writeKey(to: key)
        #expect(try await tool.run("clone", site.url, clone, "--key-file", key).code == 0)
        let store = try await OfflineStore.open(at: clone, protection: .encrypted(try KeySource(keyFile: key)))
        try await store.changes.transaction(options: ChangeOptions(isHeld: true)) { changes in
            try changes.update("Products(6)", ["Stock": 2])
        }
        try store.close()
        let held = try await lines(tool, clone, "--held", "--key-file", key)
        #expect(held.map(\.isHeld) == [true])
        #expect(held.map(\.state) == ["held"])
        #expect(try await lines(tool, clone, "--pending", "--key-file", key).isEmpty)
        #expect(try await tool.run("changes", clone, "--key-file", key).output.contains("not submitted"))
        #expect(try await tool.run("status", clone, "--key-file", key).output.contains("Not submitted yet:"))
        #expect(try await tool.run("push", clone, "--key-file", key).code == 0)
        #expect(try await lines(tool, clone, "--held", "--key-file", key).count == 1)
    }

    @Test("cancel undoes single changes by number")
    func cancel() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        let before = try await tool.run("query", clone, "Products(6)/Stock").output
        for stock in [71, 72] {
            #expect(try await tool.run("update", clone, "Products(6)", "Stock=\(stock)").code == 0)
        }
        let ids = try await lines(tool, clone).map(\.id)
        #expect(ids.count == 2)
        let cancelled = try await tool.run("changes", "cancel", clone, "\(ids[1])")
        #expect(
            cancelled.output == "Took 1 change back. 1 change to push.\n", "\(cancelled.output) \(cancelled.errors)")
        #expect(try await tool.run("query", clone, "Products(6)/Stock").output == "71\n")
        #expect(
            try await tool.run("changes", "cancel", clone, "\(ids[0])", "--json").output.contains("\"pending\" : 0"))
        #expect(try await tool.run("query", clone, "Products(6)/Stock").output == before)
        let unknown = try await tool.run("changes", "cancel", clone, "99")
        #expect(unknown.code == 1 && unknown.errors.contains("outpost changes"), "\(unknown.errors)")
    }

    @Test("diff shows the values before and after, and those of the service in a conflict")
    func diff() async throws {
        let site = try Site()
        let tool = site.tool
        let clone = try await troubled(site)
        #expect(try await tool.run("delete", clone, "Products(9)").code == 0)
        let all = try await tool.run("diff", clone)
        #expect(all.code == 0, "\(all.errors)")
        #expect(all.output.contains("Before") && all.output.contains("After") && all.output.contains("Service"))
        #expect(all.output.contains("delete Products(9)") && all.output.contains("NOBOD"), "\(all.output)")
        let one = try await tool.run("diff", clone, "Products(7)", "--json").output
        struct Entry: Decodable {
            struct Value: Decodable {
                var property: String
                var was: Int?
                var mine: Int?
            }
            var entity: String
            var properties: [Value]
        }
        let entries = try JSONDecoder().decode([Entry].self, from: Data(one.utf8))
        #expect(entries.map(\.entity) == ["Products(7)"])
        #expect(entries.first?.properties.map(\.property) == ["Stock"])
        #expect(entries.first?.properties.first?.mine == 3 && entries.first?.properties.first?.was != nil, "\(one)")
        #expect(try await tool.run("diff", clone, "Products(8)").output == "There is no change of Products(8).\n")
        #expect(try await tool.run("diff", clone, "Product(8)").code == 1)
    }

    @Test(
        "the former command names work and name the new one",
        arguments: [
            (["errors"], "outpost changes", "--failed"), (["conflicts"], "outpost changes", "--conflicts"),
            (["doubts"], "outpost changes", "--doubts"), (["errors", "retry"], "outpost changes retry", ""),
            (["conflicts", "theirs"], "outpost changes discard", "--conflicts"),
            (["doubts", "resend"], "outpost changes retry", "--doubts"),
        ])
    func formerNames(words: [String], command: String, filter: String) async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        let result = try await site.tool.run(words + [clone, "--json"])
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.errors.contains("\(command) \(clone) \(filter)".trimmingCharacters(in: .whitespaces)))
        let help = try await site.tool.run("--help")
        #expect(!help.output.contains("\n  \(words[0]) "))
    }

    @Test("retry sends a change with an unknown outcome only if it is named")
    func retryWithoutDoubts() async throws {
        let site = try Site()
        let tool = site.tool
        let service = ThingService()
        try await service.serving { url in
            let clone = site.path("clone")
            #expect(try await tool.run("clone", url, clone).code == 0)
            #expect(try await tool.run("create", clone, "Things", "Name=first").code == 0)
            service.loseAnswers(true)
            #expect(try await tool.run("push", clone).code != 0)
            service.loseAnswers(false)
            let push = try await tool.run("push", clone)
            #expect(push.code == 3)
            #expect(push.output.contains("0 refused, 1 in doubt, 0 waiting."), "\(push.output)")
            #expect(push.output.contains("outpost changes \(clone) --doubts"), "\(push.output)")
            #expect(!push.output.contains("--failed") && !push.output.contains("refused  #"), "\(push.output)")
            #expect(try await tool.run("changes", "retry", clone).output == "0 changes to push again.\n")
            #expect(try await tool.run("changes", "retry", clone, "--doubts").output == "1 change to push again.\n")
        }
    }

    @Test("push shows both keys of a created entity, and the target of a refused reference")
    func keysAndReferences() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        #expect(try await tool.run("create", clone, "Categories", "Name=Both").code == 0)
        let key = try SQLite.integer("SELECT MAX(CategoryID) + 1 FROM Categories", in: site.database)
        let push = try await tool.run("push", clone)
        #expect(push.output.contains("create Categories(-1) as Categories(\(key))"), "\(push.output)")
        #expect(try await tool.run("create", clone, "Categories", "Name=More").code == 0)
        let json = try await tool.run("push", clone, "--json").output
        #expect(json.contains("\"newEntity\" : \"Categories(\(key + 1))\""), "\(json)")
        #expect(json.contains("\"state\" : \"accepted\""), "\(json)")
        #expect(try await tool.run("create", clone, "Orders", "CustomerID=NOBOD", Self.date).code == 0)
        let refused = try await tool.run("push", clone)
        #expect(refused.code == 3 && refused.output.contains("Customers('NOBOD')"), "\(refused.output)")
        #expect(refused.output.contains("outpost changes \(clone) --failed"), "\(refused.output)")
    }
}
