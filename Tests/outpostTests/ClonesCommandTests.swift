import Foundation
import Testing

@Suite("Clones: listed, inspected and removed")
struct ClonesCommandTests {
    private struct Listed: Decodable {
        var directory: String
        var exists: Bool
        var key: String
        var service: String?
        var user: String?
        var pending: Int?
    }

    private func list(_ tool: Tool) async throws -> [Listed] {
        try JSONDecoder().decode([Listed].self, from: Data(try await tool.run("list", "--json").output.utf8))
    }

    @Test("list shows each clone with its service, changes and key")
    func list() async throws {
        let site = try Site()
        let tool = site.tool
        #expect(try await tool.run("list").output.contains("There is no clone yet."))
        try await site.serve()
        let (clone, filed, gone) = (site.path("clone"), site.path("filed"), site.path("gone"))
        let key = site.path("key")
        #expect(try await tool.run("keys", "new", key).code == 0)
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        #expect(try await tool.run("clone", site.url, filed, "--key-file", key).code == 0)
        #expect(try await tool.run("clone", site.url, gone).code == 0)
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=2").code == 0)
        #expect(try await tool.run("hand-over", clone, "ada").code == 0)
        try FileManager.default.removeItem(atPath: gone)
        let clones = try await list(tool)
        #expect(clones.count == 3)
        let first = try #require(clones.first { $0.directory.hasSuffix("/clone") })
        #expect(first.service == site.url && first.pending == 1 && first.user == "ada" && first.key.hasPrefix("clone-"))
        #expect(clones.first { $0.directory.hasSuffix("/filed") }?.key == "key file")
        #expect(clones.first { $0.directory.hasSuffix("/gone") }?.exists == false)
        let table = try await tool.run("list").output
        #expect(table.contains("1 change not pushed") && table.contains("missing"), "\(table)")
        #expect(try await tool.run("hand-over", clone).output == "\(clone) is the clone of ada.\n")
    }

    @Test("remove deletes the clone and its key unless changes are pending")
    func remove() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=2").code == 0)
        let refused = try await tool.run("remove", clone)
        #expect(
            refused.code == 1 && refused.errors.contains("1 change in \(clone) is not pushed."), "\(refused.errors)")
        #expect(refused.errors.contains("outpost remove \(clone) --discard"), "\(refused.errors)")
        #expect(try await tool.run("status", clone).code == 0)
        let removed = try await tool.run("remove", clone, "--discard", "--json")
        #expect(
            removed.code == 0 && removed.output.contains("\"lostChanges\" : 1"), "\(removed.output) \(removed.errors)")
        #expect(!FileManager.default.fileExists(atPath: clone))
        #expect(try await tool.run("keys", "list", "--json").output == "[\n\n]\n")
        #expect(try await list(tool).isEmpty)
        #expect(try await tool.run("remove", clone).code == 1)
    }

    @Test("remove keeps a key that opens a copy, and foreign files")
    func removeBesideCopy() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let (clone, copy) = (site.path("clone"), site.path("copy"))
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        try FileManager.default.copyItem(atPath: clone, toPath: copy)
        #expect(try await tool.run("status", copy).code == 0)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: clone + "/notes.txt"))
        let removed = try await tool.run("remove", clone)
        #expect(removed.code == 0 && removed.output.contains("copy/store.db"), "\(removed.output) \(removed.errors)")
        #expect(try String(contentsOfFile: clone + "/notes.txt", encoding: .utf8) == "mine")
        #expect(try await tool.run("status", copy).code == 0)
    }

    @Test("remove asks on a terminal, and leaves the clone unless the answer is yes")
    func removeAsks() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        for (answer, code) in [("n\n", Int32(1)), ("y\n", 0)] {
            let terminal = try PseudoTerminal()
            terminal.type(answer)
            let result = try await site.tool.run("remove", clone, at: terminal)
            #expect(result.code == code && result.errors.contains("[y/N]"), "\(result.errors)")
            #expect(FileManager.default.fileExists(atPath: clone) == (code == 1))
        }
    }

    @Test("remove refuses a clone that cannot be opened, unless --discard is given")
    func removeUnopened() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        let damaged = try await site.tool.run("remove", site.path("none"))
        #expect(damaged.code == 1 && damaged.errors.contains("is not a clone"), "\(damaged.errors)")
        try Data().write(to: URL(fileURLWithPath: clone + "/store.db"))
        let unopened = try await site.tool.run("remove", clone)
        #expect(unopened.code == 1 && unopened.errors.contains("--discard"), "\(unopened.errors)")
        #expect(try await site.tool.run("remove", clone, "--discard").code == 0)
    }

    @Test("metadata and an empty query show the content of a clone")
    func contents() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone, "--query", "p=Products").code == 0)
        let shown = try await tool.run("metadata", "show", clone)
        #expect(shown.code == 0 && shown.output.contains("Products"), "\(shown.errors)")
        let atService = try await tool.run("metadata", "show", site.url)
        #expect(shown.output == atService.output)
        #expect(try await tool.run("metadata", "show", clone, "Products").output.contains("Stock"))
        #expect(try await tool.run("metadata", "diff", clone, site.url).output == "No differences.\n")
        #expect(try await tool.run("metadata", "show", site.directory.path).errors.contains("is not a clone"))
        let sets = try await tool.run("query", clone, "")
        #expect(sets.code == 0, "\(sets.errors)")
        #expect(sets.output.contains("Name") && sets.output.contains("not kept"), "\(sets.output)")
        #expect(sets.output.contains(/Products +entity set +\S+ +\d+/), "\(sets.output)")
        #expect(try await tool.run("query", clone, "", "--json").output.contains("\"value\""))
    }

    @Test("a draft counts as a change once it is activated")
    func drafts() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        #expect(try await tool.run("draft", "list", clone).output == "There is no draft.\n")
        let made = try await tool.run("draft", "make", clone, "Products(6)")
        #expect(made.output == "Made ProductsDrafts(6).\n", "\(made.output) \(made.errors)")
        #expect(try await tool.run("update", clone, "ProductsDrafts(6)", "Stock=77").code == 0)
        #expect(try await tool.run("draft", "make", clone, "Products(7)").code == 0)
        #expect(try await tool.run("draft", "list", clone, "--json").output.contains("ProductsDrafts(7)"))
        #expect(try await tool.run("query", clone, "Products(6)/Stock").output != "77\n")
        let kept = try await tool.run("remove", clone)
        #expect(kept.code == 1 && kept.errors.contains("2 drafts"), "\(kept.errors)")
        let activated = try await tool.run("draft", "activate", clone, "ProductsDrafts(6)")
        #expect(
            activated.output == "Activated ProductsDrafts(6). 1 change to push.\n",
            "\(activated.output) \(activated.errors)")
        #expect(try await tool.run("draft", "discard", clone, "ProductsDrafts(7)").code == 0)
        #expect(try await tool.run("draft", "list", clone).output == "There is no draft.\n")
        #expect(try await tool.run("push", clone).code == 0)
        #expect(try SQLite.integer("SELECT Stock FROM Products WHERE ProductID = 6", in: site.database) == 77)
        let none = try await tool.run("draft", "discard", clone, "Products(6)")
        #expect(none.code == 2 && none.errors.contains("is no draft"), "\(none.errors)")
    }

    @Test("hand-over --to-nobody removes the user and the rows")
    func removeUser() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        #expect(try await tool.run("hand-over", clone).output == "\(clone) is the clone of nobody.\n")
        #expect(try await tool.run("hand-over", clone, "ada").code == 0)
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=2").code == 0)
        #expect(try await tool.run("hand-over", clone, "--to-nobody").code == 1, "a change waits")
        let taken = try await tool.run("hand-over", clone, "--to-nobody", "--pending", "discard")
        #expect(taken.code == 0 && taken.output.contains("was taken from ada"), "\(taken.output) \(taken.errors)")
        #expect(try await tool.run("hand-over", clone, "--json").output.contains("\"isChanged\" : false"))
        #expect(try await tool.run("hand-over", clone, "ben", "--to-nobody").code == 2)
        #expect(try await tool.run("query", clone, "Products?$top=1").output.contains("no rows"))
    }
}
