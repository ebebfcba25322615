import ForeignPrograms
import Foundation
import Testing

/// Exit codes, JSON and advice of each command (`mobile-server.md` 2).
@Suite("The outcomes of outpost-server") struct CommandOutcomeTests {
    /// The error that a command wrote as JSON.
    private static func error(_ result: ServerTool.Result) -> (code: String, advice: String?, exit: Int?) {
        let object = (try? JSONSerialization.jsonObject(with: Data(result.errors.utf8))) as? [String: Any]
        let body = object?["error"] as? [String: Any] ?? [:]
        return (body["code"] as? String ?? "", body["advice"] as? String, body["exitCode"] as? Int)
    }

    @Test("Without a server, each command says how to make one, and ends with 1")
    func noServer() async throws {
        let tool = try ServerTool()
        let file = try tool.write("title: Shop\n", to: "shop.yaml")
        let commands = [
            ["plan", "shop", file], ["activate", "shop", "1"], ["app", "list"], ["app", "show", "shop"],
            ["app", "add", "shop"], ["app", "remove", "shop", "--yes"], ["app", "import", "shop", file],
            ["app", "export", "shop"], ["user", "list", "shop"], ["user", "show", "shop", "ann"],
            ["user", "add", "shop", "ann", "--password-file", file], ["user", "lock", "shop", "ann"],
            ["user", "unlock", "shop", "ann"], ["user", "remove", "shop", "ann"], ["user", "erase", "shop", "ann"],
            ["operator", "list"], ["operator", "add", "ann", "--role", "viewer"], ["operator", "remove", "ann"],
            ["operator", "roles", "ann", "viewer"], ["operator", "reset", "ann"], ["operator", "link"],
            ["device", "list", "shop"], ["device", "show", "shop", "d"], ["device", "lock", "shop", "d"],
            ["device", "unlock", "shop", "d"], ["device", "wipe", "shop", "d", "--yes"],
            ["device", "disconnect", "shop", "d"], ["device", "activation-code", "shop", "ann"], ["feed", "list"],
            ["feed", "show", "1"], ["feed", "refresh", "1"], ["feed", "resume", "1"], ["feed", "check-shared", "1"],
            ["backup", tool.path("b.backup")], ["migrate"], ["rekey"],
        ]
        for command in commands {
            let result = try await tool.runAll(command + ["--data", tool.data, "--json"])
            let error = Self.error(result)
            #expect(result.code == 1 && error.exit == 1 && !error.code.isEmpty, "\(command): \(result.errors)")
            #expect(error.advice?.isEmpty == false, "\(command): \(result.errors)")
            #expect(result.output.isEmpty, "\(command)")
        }
    }

    @Test("Wrong arguments end with 2, also as JSON")
    func misuse() async throws {
        let tool = try ServerTool()
        #expect(try await tool.run("init", tool.data).code == 0)
        let commands = [
            ["serve"], ["activate", "shop"], ["activate", "shop", "one"], ["feed", "show", "x"],
            ["device", "activation-code", "shop", "ann", "--hours", "0"], ["operator", "add", "ann"],
            ["run", "--listen", "nowhere"], ["app", "add", "a/b"], ["device", "wipe", "shop", "d"],
            ["user", "add", "shop", "a:b", "--password-file", "p"], ["restore"],
            ["check", "--config", tool.path("missing.yaml")],
        ]
        for command in commands {
            let result = try await tool.runAll(command + ["--data", tool.data, "--json"])
            #expect(result.code == 2 && Self.error(result).exit == 2, "\(command): \(result.code) \(result.errors)")
        }
    }

    @Test("Unknown names are refused with 1 and the known ones")
    func unknown() async throws {
        let tool = try ServerTool()
        #expect(try await tool.run("init", tool.data).code == 0)
        let file = try tool.write("title: Shop\n", to: "shop.yaml")
        try await tool.done("app", "import", "shop", file, "--activate")
        let commands = [
            ["app", "show", "shep"], ["plan", "shep", file], ["activate", "shop", "9"], ["app", "export", "shep"],
            ["app", "export", "shop", "--version", "9"], ["user", "show", "shop", "ann"],
            ["user", "remove", "shop", "ann"], ["user", "erase", "shop", "ann"], ["device", "show", "shop", "d"],
            ["device", "disconnect", "shop", "d"], ["operator", "remove", "ann"], ["operator", "reset", "ann"],
            ["feed", "show", "7"], ["feed", "resume", "7"],
        ]
        for command in commands {
            let result = try await tool.runAll(command + ["--data", tool.data, "--json"])
            let error = Self.error(result)
            #expect(result.code == 1 && !error.code.isEmpty, "\(command): \(result.code) \(result.errors)")
            #expect(error.advice?.isEmpty == false, "\(command): \(result.errors)")
        }
        let wrong = try await tool.runAll(["app", "show", "shep", "--data", tool.data])
        #expect(wrong.errors.contains("shop"), "\(wrong.errors)")
    }

    @Test("Each command that succeeds writes JSON with --json, and ends with 0")
    func successes() async throws {
        let tool = try ServerTool()
        #expect(try await tool.run("init", tool.data).code == 0)
        let file = try tool.write("title: Shop\n", to: "shop.yaml")
        let password = try tool.write("correct horse\n", to: "ann.txt")
        let commands = [
            ["app", "import", "shop", file, "--activate"], ["app", "list"], ["app", "show", "shop"],
            ["app", "export", "shop"], ["plan", "shop", file], ["activate", "shop", "1"], ["app", "add", "crm"],
            ["app", "remove", "crm", "--yes"], ["user", "add", "shop", "ann", "--password-file", password],
            ["user", "list", "shop"], ["user", "remove", "shop", "ann"], ["device", "list", "shop"],
            ["device", "activation-code", "shop", "ann"], ["operator", "add", "bob", "--role", "viewer"],
            ["operator", "roles", "bob", "support"], ["operator", "list"], ["operator", "reset", "bob"],
            ["operator", "link", "bob"], ["operator", "remove", "bob"], ["feed", "list"], ["migrate", "--dry-run"],
            ["migrate"], ["check"], ["backup", tool.path("b.backup")], ["rekey"],
        ]
        for command in commands {
            let result = try await tool.runAll(command + ["--data", tool.data, "--json"])
            let value = try? JSONSerialization.jsonObject(with: Data(result.output.utf8))
            #expect(result.code == 0 && value != nil, "\(command): \(result.output)\(result.errors)")
        }
    }

    @Test("A name that several users may have is refused, and the others stay")
    func ambiguousUsers() async throws {
        let tool = try ServerTool()
        #expect(try await tool.run("init", tool.data).code == 0)
        let file = try tool.write(
            "title: Shop\nsecurity: {guest: {kind: anonymous}, staff: {kind: basic}}\n"
                + "registration: {required: false, device_proof: none}\n"
                + "destinations: {shop: {kind: sqlite, url: shop.db}}\n", to: "shop.yaml")
        try await tool.done("app", "import", "shop", file, "--activate")
        for name in ["ann", "1"] {
            let password = try tool.write("correct horse \(name)\n", to: "\(name).txt")
            try await tool.done("user", "add", "shop", name, "--password-file", password)
        }
        try await tool.withServer { server in
            let url = "\(server.root)m/v1/shop/Destinations"
            _ = try await Command.curl("--user", "ann:correct horse ann", url)
            _ = try await Command.curl("--user", "1:correct horse 1", url)
        }
        // The user ann has the number 1; the user with the name 1 is meant.
        let erased = try await tool.done("user", "erase", "shop", "1", "--json")
        #expect(erased.json["users"] as? Int == 1 && erased.json["directoryUsers"] as? Int == 1, "\(erased.output)")
        let left = try await tool.done("user", "list", "shop", "--json")
        #expect(left.output.contains("\"ann\""), "\(left.output)")
        let again = try await tool.run("user", "erase", "shop", "1x", "--data", tool.data)
        #expect(again.code == 1)
        let checked = try await tool.run("check", "--data", tool.data)
        #expect(checked.output.contains("The audit is intact"), "\(checked.output)")
    }
}
