import ForeignPrograms
import Foundation
import Testing

@Suite("The commands of outpost-server")
struct ServerCommandTests {
    private static let shop = """
        title: Shop
        security: {staff: {kind: basic}}
        destinations:
          shop:
            kind: sqlite
            url: shop.db
            queries:
              Products: {query: Products, visibility: shared}
        """

    @Test("A server without configuration serves the shop, and its devices read rows")
    func defaultRun() async throws {
        let tool = try ServerTool()
        try await tool.withServer { server in
            #expect(server.deviceAPI.hasSuffix("/m/v1/shop/"))
            #expect(server.signIn?.contains("/sign-in/first?code=") == true)
            let products = try await Command.curl("\(server.deviceAPI)d/shop/Products?$top=1&$count=true")
            #expect(products.contains("Product 1") && products.contains("\"@odata.count\":120"), "\(products)")
            let document = try await Command.curl("\(server.root).well-known/outpost")
            #expect(document.contains("guest"), "\(document)")
            let metrics = try await Command.curl(server.metrics)
            #expect(metrics.contains("http_server_request_duration_seconds"))
        }
        // The second start finds what the first one made.
        try await tool.withServer { server in
            let products = try await Command.curl("\(server.deviceAPI)d/shop/Products?$top=1")
            #expect(products.contains("Product 1"))
        }
    }

    @Test("init creates a private folder and refuses one with files")
    func initialise() async throws {
        let tool = try ServerTool()
        let made = try await tool.run("init", tool.data, "--json")
        #expect(made.code == 0 && made.json["folder"] as? String == tool.data)
        let attributes = try FileManager.default.attributesOfItem(atPath: tool.data)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        let again = try await tool.run("init", tool.data)
        #expect(again.code == 1 && again.errors.contains("not empty"))
        let checked = try await tool.run("check", "--data", tool.data)
        #expect(checked.code == 0, "\(checked.output)\(checked.errors)")
        for command in ["migrate", "check", "run"] {
            let database = try await tool.run(command, "--data", tool.data, "--database", "postgresql://db/outpost")
            #expect(database.code == 2 && database.errors.contains("SQLite"), "\(command): \(database.errors)")
        }
    }

    @Test("check reports every mistake with line and column, and exits with 2")
    func check() async throws {
        let tool = try ServerTool()
        let file = try tool.write("server:\n  lisen: x\nlimits:\n  upload: much\n", to: "s.yaml")
        let plain = try await tool.run("check", "--config", file, "--data", tool.data)
        #expect(plain.code == 2)
        #expect(plain.output.contains("s.yaml:2:3:") && plain.output.contains("s.yaml:4:11:"), "\(plain.output)")
        let json = try await tool.run("check", "--config", file, "--data", tool.data, "--json")
        #expect((json.json["problems"] as? [Any])?.count == 2 && json.json["isFine"] as? Bool == false)
    }

    @Test("A listener outside of this machine without TLS is refused")
    func listeners() async throws {
        let tool = try ServerTool()
        let refused = try await tool.run("run", "--data", tool.data, "--listen", "0.0.0.0:0")
        #expect(refused.code == 2 && refused.errors.contains("TLS"), "\(refused.errors)")
    }

    @Test("An application is imported, planned, activated, exported and removed")
    func applications() async throws {
        let tool = try ServerTool()
        try await tool.run("init", tool.data)
        let file = try tool.write(Self.shop, to: "shop.yaml")
        try await tool.done("app", "import", "shop", file, "--activate")
        let listed = try await tool.done("app", "list")
        #expect(listed.output.contains("shop") && listed.output.contains("active"))
        let changed = try tool.write(Self.shop.replacing("title: Shop", with: "title: Other"), to: "other.yaml")
        let plan = try await tool.done("plan", "shop", changed, "--json")
        #expect(plan.json["changedKeys"] as? [String] == ["title"])
        try await tool.done("app", "import", "shop", changed)
        try await tool.done("activate", "shop", "2")
        #expect(try await tool.done("app", "list").output.contains("Other"))
        let exported = try await tool.done("app", "export", "shop")
        #expect(exported.output.contains("title: Other") && exported.output.contains("visibility: shared"))
        let ini = try await tool.done("app", "export", "shop", "--ini")
        #expect(ini.output.contains("[endpoint]\nname=shop\n") && ini.output.contains("is_shared_data=Y"))
        let endpoints = try tool.write(ini.output.replacing("is_shared_data=Y", with: "is_shared_data=N"), to: "e.ini")
        try await tool.done("app", "import", "shop", endpoints, "--activate")
        #expect(try await tool.done("app", "export", "shop").output.contains("visibility: shared") == false)
        let refused = try await tool.run("app", "remove", "shop", "--data", tool.data)
        #expect(refused.code == 2 && refused.errors.contains("--yes"))
        try await tool.done("app", "remove", "shop", "--yes")
        #expect(try await tool.done("app", "list", "--json").output.contains("shop") == false)
    }

    @Test("Users of the directory sign in, are locked, and are erased with a report")
    func users() async throws {
        let tool = try ServerTool()
        try await tool.withServer { _ in }
        let file = try tool.write(Self.shop, to: "shop.yaml")
        try await tool.done("app", "import", "shop", file, "--activate")
        let password = try tool.write("correct horse\n", to: "ann.txt")
        try await tool.done("user", "add", "shop", "ann", "--role", "sales", "--password-file", password)
        try await tool.withServer { server in
            let url = "\(server.root)m/v1/shop/d/shop/Products?$top=1"
            #expect(try await Command.curl("--user", "ann:correct horse", url).contains("Product 1"))
            #expect(try await Command.curl("--user", "ann:wrong", url).contains("Product 1") == false)
            // The running node follows a command within a second.
            try await tool.done("user", "lock", "shop", "ann")
            let locked = try await Command.curl("--user", "ann:correct horse", url)
            #expect(locked.contains("DeviceLocked"), "\(locked)")
        }
        let erased = try await tool.done("user", "erase", "shop", "ann", "--json")
        #expect(erased.json["users"] as? Int == 1 && erased.json["directoryUsers"] as? Int == 1)
        #expect(try await tool.done("user", "list", "shop", "--json").output.contains("ann") == false)
        #expect(try await tool.done("check").code == 0, "the audit is still a chain")
    }

    @Test("A backup is restored into another folder with the master key alone")
    func backup() async throws {
        let tool = try ServerTool()
        try await tool.withServer { _ in
            let made = try await tool.done("backup", tool.path("b.backup"), "--json")
            #expect((made.json["bytes"] as? Int ?? 0) > 8192)
        }
        let target = tool.path("restored")
        let refused = try await tool.run("restore", tool.path("b.backup"), "--data", target)
        #expect(refused.code == 1 && refused.errors.contains("--master-key"), "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: target))
        let restored = try await tool.run(
            "restore", tool.path("b.backup"), "--data", target, "--master-key", tool.data + "/master.key", "--json")
        #expect(restored.code == 0 && (restored.json["incarnation"] as? Int ?? 0) > 1, "\(restored.errors)")
        let listed = try await tool.run("app", "list", "--data", target)
        #expect(listed.output.contains("shop"))
    }

    @Test("rekey creates a new master key, and the server starts with it")
    func rekey() async throws {
        let tool = try ServerTool()
        try await tool.withServer { _ in }
        let old = try String(contentsOfFile: tool.data + "/master.key", encoding: .utf8)
        try await tool.done("rekey")
        #expect(try String(contentsOfFile: tool.data + "/master.key", encoding: .utf8) != old)
        #expect(try String(contentsOfFile: tool.data + "/master.key.old", encoding: .utf8) == old)
        try await tool.withServer { server async throws in
            #expect(try await Command.curl("\(server.deviceAPI)d/shop/Products?$top=1").contains("Product 1"))
        }
    }

    @Test("A wipe of more than ten devices, an unknown device and an unknown role are refused")
    func refusals() async throws {
        let tool = try ServerTool()
        try await tool.withServer { _ in }
        let ids = (0..<11).map { "d\($0)" }
        let (process, _, errors) = tool.process(["device", "wipe", "shop"] + ids + ["--yes", "--data", tool.data])
        try process.run()
        let text = await ServerTool.text(errors)
        await ServerTool.end(of: process)
        #expect(process.terminationStatus == 1 && text.contains("second operator"))
        let unknown = try await tool.run("device", "lock", "shop", "nobody", "--data", tool.data)
        #expect(unknown.code == 1 && unknown.errors.contains("nobody"))
        let role = try await tool.run("operator", "add", "ann", "--role", "king", "--data", tool.data, "--json")
        #expect(role.code == 2 && role.errors.contains("security"))
        let link = try await tool.run("operator", "add", "ann", "--role", "support", "--data", tool.data)
        #expect(link.code == 0 && link.output.contains("/sign-in/first?code="))
    }

    @Test("Every command has help with an example")
    func help() async throws {
        let tool = try ServerTool()
        let commands = [
            ["init"], ["run"], ["check"], ["migrate"], ["plan"], ["activate"], ["app", "list"], ["app", "import"],
            ["user", "add"], ["user", "erase"], ["operator", "link"], ["device", "wipe"],
            ["device", "activation-code"], ["feed", "list"], ["feed", "check-shared"], ["backup"], ["restore"],
            ["rekey"],
        ]
        for command in commands {
            let (process, output, _) = tool.process(command + ["--help"])
            try process.run()
            let text = await ServerTool.text(output)
            await ServerTool.end(of: process)
            #expect(process.terminationStatus == 0 && text.contains("EXAMPLE") && text.contains("--json"), "\(command)")
        }
        let wrong = try await tool.run("serve")
        #expect(wrong.code == 2)
    }
}
