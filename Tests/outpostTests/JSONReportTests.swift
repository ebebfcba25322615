import Foundation
import Testing

@Suite("Every command reports as JSON")
struct JSONReportTests {
    /// The commands that go on until they are stopped, and those that need an authorization server, or a service
    /// with streams, operations or drafts of its own. Other tests read these.
    private static let elsewhere: Set = ["serve", "watch", "login", "logout", "stream", "call", "draft prepare"]

    @Test("With --json, each command writes one JSON document")
    func each() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        func file(_ name: String, _ text: String) throws -> String {
            try text.write(toFile: site.path(name), atomically: true, encoding: .utf8)
            return site.path(name)
        }
        let (password, new) = (try file("old", "first 1\n"), try file("new", "second 2\n"))
        let metadata = site.path("metadata.xml")
        let changes = try file("changes", "create Categories Name=One\nupdate Products(9) Stock=4\n")
        let selection = try file("selection.json", #"{"from": {"set": "Products", "as": "p"}, "select": ["p.Name"]}"#)
        let runs: [[String]] = [
            ["clone", site.url, clone],
            ["select", clone, selection],
            ["query", clone, "Products?$top=1"],
            ["query", clone, "Products?$filter=sap.islocal()"],
            ["index", clone, "Products", "Name"],
            ["create", clone, "Categories", "Name=New"],
            ["changes", "cancel", clone, "1"],
            ["update", clone, "Products(6)", "Stock=4"],
            ["delete", clone, "Orders(1001)"],
            ["undo", clone, "Orders(1001)"],
            ["link", clone, "Orders(1002)/Employee", "Employees(1)"],
            ["unlink", clone, "Orders(1002)/Employee"],
            ["undo", clone, "Orders(1002)"],
            ["change-set", clone, changes],
            ["changes", "list", clone], ["diff", clone],
            ["changes", "retry", clone], ["changes", "accept", clone], ["changes", "discard", clone],
            ["draft", "make", clone, "Products(7)"], ["draft", "list", clone],
            ["draft", "activate", clone, "ProductsDrafts(7)"],
            ["draft", "make", clone, "Products(8)"], ["draft", "discard", clone, "ProductsDrafts(8)"],
            ["list"],
            ["status", clone],
            ["push", clone],
            ["pull", clone],
            ["sync", clone],
            ["errors", "list", clone], ["errors", "retry", clone], ["errors", "accept", clone],
            ["errors", "discard", clone],
            ["conflicts", "list", clone], ["conflicts", "mine", clone], ["conflicts", "theirs", clone],
            ["doubts", "list", clone], ["doubts", "accept", clone], ["doubts", "resend", clone],
            ["add-query", clone, "cheap=Products?$filter=Price lt 10"],
            ["remove-query", clone, "cheap"],
            ["explain", clone],
            ["export", clone, "--to", site.path("backup")],
            ["hand-over", clone, "ann"],
            ["repair", clone],
            ["gc", clone],
            ["verify", clone],
            ["log", clone],
            ["log"],
            ["log", "--clear"],
            ["metadata", "convert", site.url, "--to", "4.0", "--output", metadata],
            ["metadata", "show", metadata],
            ["metadata", "show", metadata, "Products"],
            ["metadata", "validate", metadata],
            ["metadata", "diff", metadata, site.url],
            ["metadata", "vocabulary"],
            ["generate", metadata, "--output", site.path("generated")],
            ["new", "shop", "--metadata", metadata, "--output", site.path("app")],
            ["rekey", clone],
            ["vault", "create", "login", "--password-file", password],
            ["vault", "open", "login", "--password-file", password],
            ["vault", "set", "login", "token", "--value-file", new, "--password-file", password],
            ["vault", "get", "login", "token", "--password-file", password],
            ["vault", "list"],
            ["vault", "list", "login", "--password-file", password],
            ["vault", "policy", "login", "--password-file", password],
            ["vault", "remove", "login", "token", "--password-file", password],
            ["vault", "password", "login", "--password-file", password, "--new-password-file", new],
            ["vault", "destroy", "login", "--yes"],
            ["keys", "new", site.path("key")],
            ["keys", "list"],
            ["keys", "remove", "--stale", "--yes"],
            ["users", "add", site.path("users"), "ann", "--password-file", password],
            ["users", "list", site.path("users")],
            ["users", "remove", site.path("users"), "ann"],
            ["untrack", site.database],
            ["remove", clone, "--discard"],
        ]
        for arguments in runs {
            let result = try await tool.run(arguments + ["--json"])
            let what = Comment(rawValue: "\(arguments.joined(separator: " ")): \(result.output) \(result.errors)")
            #expect(result.code == 0, what)
            #expect(
                (try? JSONSerialization.jsonObject(with: Data(result.output.utf8), options: .fragmentsAllowed)) != nil,
                what)
        }
        for command in try await tool.commands()
        where Self.elsewhere.isDisjoint(with: [command[0], command.joined(separator: " ")]) {
            #expect(runs.contains { $0.starts(with: command) }, "\(command) is not in the table")
        }
    }
}
