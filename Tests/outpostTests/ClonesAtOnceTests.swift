import Foundation
import Testing

@Suite("Several clones into one directory")
struct ClonesAtOnceTests {
    /// Clones with a passphrase, and does something while it is asked for.
    private func clone(
        _ site: Site, into directory: String, whileAsked meanwhile: () async throws -> Void
    ) async throws -> Tool.Result {
        let terminal = try PseudoTerminal()
        return try await site.tool.run("clone", site.url, directory, "--passphrase", at: terminal) { _ in
            for _ in 0..<500 where terminal.echoes { try await Task.sleep(for: .milliseconds(20)) }
            #expect(!terminal.echoes, "it asks for the passphrase")
            try await meanwhile()
            terminal.type("correct horse\n")
            // The second prompt discards input typed before it.
            var shown = ""
            for _ in 0..<500 where !shown.contains("Once more") {
                try await Task.sleep(for: .milliseconds(20))
                shown += terminal.read()
            }
            for _ in 0..<500 where terminal.echoes { try await Task.sleep(for: .milliseconds(20)) }
            terminal.type("correct horse\n")
        }
    }

    @Test("A clone that waits for a passphrase does not damage one created meanwhile")
    func overtaken() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let shop = site.path("shop")
        let late = try await clone(site, into: shop) { () async throws in
            #expect(try await tool.run("clone", site.url, shop).code == 0)
            #expect(try await tool.run("update", shop, "Products(6)", "Stock=4711").code == 0)
        }
        #expect(late.code == 1 && late.errors.contains("is a clone already"), "\(late.errors)")
        #expect(late.errors.contains("outpost pull \(shop)"), "\(late.errors)")
        let status = try await tool.run("status", shop)
        #expect(status.output.contains("update Products(6)"), "\(status.output) \(status.errors)")
        #expect(try await tool.run("push", shop).code == 0)
        #expect(try SQLite.integer("SELECT Stock FROM Products WHERE ProductID = 6", in: site.database) == 4711)
    }

    @Test("A store that an app created meanwhile is not changed")
    func overtakenByApp() async throws {
        let site = try Site()
        try await site.serve()
        let (shop, other, key) = (site.path("shop"), site.path("other"), site.path("key"))
        try Site.writeKey(to: key)
        #expect(try await site.tool.run("clone", site.url, other, "--key-file", key).code == 0)
        let late = try await clone(site, into: shop) {
            // A store of an app: without the clone's own description.
            try FileManager.default.copyItem(atPath: other, toPath: shop)
            try FileManager.default.removeItem(atPath: shop + "/outpost.json")
        }
        #expect(late.code == 1 && late.errors.contains("holds a store"), "\(late.errors)")
        let count = try await site.tool.run("query", shop, "Orders/$count", "--key-file", key)
        #expect(count.output == "200\n", "\(count.errors)")
    }

    @Test("Of several concurrent clones, one succeeds and the others report it", arguments: 0..<4)
    func atOnce(round: Int) async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let (url, shop) = (site.url, site.path("shop"))
        let results = try await withThrowingTaskGroup(of: Tool.Result.self) { group in
            for number in 0..<4 {
                group.addTask {
                    try await Task.sleep(for: .milliseconds(number * round * 10))
                    return try await tool.run("clone", url, shop)
                }
            }
            return try await group.reduce(into: [Tool.Result]()) { $0.append($1) }
        }
        #expect(results.count { $0.code == 0 } == 1, "\(results.map(\.errors))")
        for refused in results where refused.code != 0 {
            #expect(
                refused.code == 1
                    && (refused.errors.contains("is a clone already")
                        || refused.errors.contains("Another command is making a clone")),
                "\(refused.errors)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: shop)
        #expect(!names.contains("clone.lock"), "\(names)")
        let count = try await tool.run("query", shop, "Orders/$count")
        #expect(count.output == "200\n", "\(count.errors)")
    }
}
