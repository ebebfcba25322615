import Foundation
import HTTPTypes
import ODataServer
import ODataService
import Testing

@Suite("Bad input on the command line")
struct BadInputTests {
    private static let model = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Room"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        </EntityType><EntityContainer Name="C"><EntitySet Name="Rooms" EntityType="S.Room"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    @Test("An unreachable service is reported with its address")
    func unreachable() async throws {
        let site = try Site()
        let result = try await site.tool.run("clone", "http://127.0.0.1:1/", site.path("clone"))
        #expect(result.code == 1)
        #expect(result.errors.contains("Cannot connect to 127.0.0.1"))
        #expect(result.errors.contains(": Connection refused\n"), "\(result.errors)")
        #expect(result.errors.contains("Is the service running"))
        #expect(!FileManager.default.fileExists(atPath: site.path("clone")), "nothing is left behind")
    }

    @Test(
        "An invalid address is refused",
        arguments: ["not a url", "ftp://example.org/", "http://", ""])
    func invalid(url: String) async throws {
        let site = try Site()
        let result = try await site.tool.run("clone", url, site.path("clone"))
        #expect(result.code != 0)
        #expect(!result.errors.isEmpty)
    }

    /// Answers every request with one body.
    private func fake(
        _ status: Int, _ type: String, _ body: String
    ) async throws -> RunningServer {
        try await ODataServer(configuration: ODataServer.Configuration(port: 0)) { _, _ in
            var response = HTTPResponse(status: .init(code: status))
            response.headerFields[.contentType] = type
            return (response, ByteStream(Array(body.utf8)))
        }.start()
    }

    @Test(
        "A web page, truncated metadata and other wrong responses have their own errors",
        arguments: [
            (404, "text/plain", "nothing here", "no OData service"),
            (200, "text/html", "<!DOCTYPE html><html><body>Log in</body></html>", "web page"),
            (200, "application/json", "{\"hello\": \"world\"}", "metadata"),
            (
                200, "application/xml",
                "<edmx:Edmx xmlns:edmx=\"http://docs.oasis-open.org/odata/ns/edmx\" Version=\"4.0\"><edmx:DataServ",
                "line"
            ),
            (401, "text/plain", "who are you?", "--user"),
        ])
    func noService(status: Int, type: String, body: String, words: String) async throws {
        let server = try await fake(status, type, body)
        let site = try Site()
        let result = try await site.tool.run("clone", server.url, site.path("clone"))
        await server.stop()
        #expect(result.code == 1)
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: site.path("clone")))
    }

    @Test("A password or token in an address is not repeated in messages")
    func secretsInAddresses() async throws {
        let site = try Site()
        let server = try await fake(500, "text/plain", "out of order")
        for address in [
            "http://ada:hunter2@127.0.0.1:1/", "http://127.0.0.1:1/?access_token=hunter2&sap-password=hunter2",
            server.url + "$metadata?access_token=hunter2",
        ] {
            for arguments in [
                ["metadata", "show", address], ["metadata", "validate", address],
                ["generate", address, "--output", site.path("code")], ["clone", address, site.path("clone")],
            ] {
                let result = try await site.tool.run(arguments)
                #expect(result.code == 1, "\(arguments): \(result.errors)")
                #expect(!(result.output + result.errors).contains("hunter2"), "\(arguments): \(result.errors)")
            }
        }
        await server.stop()
    }

    @Test("An unknown host is reported in the words of the system")
    func unknownHost() async throws {
        let site = try Site()
        let result = try await site.tool.run("clone", "http://nosuchhost.invalid/", site.path("clone"))
        #expect(result.code == 1 && result.errors.contains("the name cannot be resolved"), "\(result.errors)")
        #expect(!result.errors.contains("Error"), "\(result.errors)")
    }

    @Test(
        "Invalid header fields and origins are refused",
        arguments: [
            (["clone", "http://127.0.0.1:1/", "c", "--header", "X Tenant: blue"], "X Tenant"),
            (["clone", "http://127.0.0.1:1/", "c", "--header", "X-Tenant: bl\u{7}ue"], "X-Tenant"),
            (["serve", "shop.db", "--cors", "notanorigin"], "notanorigin"),
        ])
    func impossible(arguments: [String], words: String) async throws {
        let result = try await Site().tool.run(arguments)
        #expect(result.code == 2 && result.errors.contains(words), "\(result.errors)")
    }

    @Test("--correlate with an unknown property is refused", arguments: ["push", "sync"])
    func unknownCorrelation(command: String) async throws {
        let site = try Site()
        try await ThingService().serving { url in
            #expect(try await site.tool.run("clone", url, site.path("clone")).code == 0)
            for (given, words) in [("Thngs=Name", "entity set Thngs"), ("Things=Nmae", "no property Nmae")] {
                let result = try await site.tool.run(command, site.path("clone"), "--correlate", given)
                #expect(result.code == 2 && result.errors.contains(words), "\(result.errors)")
            }
        }
    }

    @Test("An unreadable file is reported with the reason of the system", arguments: [true, false])
    func unreadableFiles(isFolder: Bool) async throws {
        let site = try Site()
        let path = site.path(isFolder ? "folder" : "missing")
        if isFolder { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        try Data(Self.model.utf8).write(to: URL(fileURLWithPath: site.path("m.xml")))
        let reason = isFolder ? "Is a directory" : "No such file or directory"
        let shown = try await site.tool.run("metadata", "show", path)
        #expect(
            shown.code != 0 && shown.errors.contains(isFolder ? "\(path) is not a clone" : reason), "\(shown.errors)")
        for arguments in [
            ["serve", site.path("m.xml"), "--user", "ann", "--password-file", path],
            ["serve", site.path("m.xml"), "--auth", path],
            ["clone", "http://127.0.0.1:1/", site.path("c"), "--user", "ann", "--password-file", path],
            ["clone", "http://127.0.0.1:1/", site.path("c"), "--token-file", path],
            ["generate", site.path("m.xml"), "--output", site.path("code"), "--config", path],
        ] {
            let result = try await site.tool.run(arguments)
            #expect(result.code == 2 && result.errors.contains(reason), "\(arguments): \(result.errors)")
            #expect(result.errors.contains(path))
        }
    }

    @Test("A full output device is reported, and the exit code is 1")
    func fullOutput() async throws {
        let site = try Site()
        try Data(Self.model.utf8).write(to: URL(fileURLWithPath: site.path("m.xml")))
        for command in ["metadata show '\(site.path("m.xml"))'", "metadata convert '\(site.path("m.xml"))' --to json"] {
            let shell = Process()
            let errors = Pipe()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.arguments = ["-c", "'\(Tool.executable.path)' \(command) > /dev/full"]
            shell.standardError = errors
            try shell.run()
            let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            shell.waitUntilExit()
            #expect(shell.terminationStatus == 1, "\(command)")
            #expect(text.contains("The output cannot be written: No space left on device."), "\(text)")
        }
    }

    @Test("An unusable TLS file is named with its fault")
    func certificates() async throws {
        let site = try Site()
        try Data(Self.model.utf8).write(to: URL(fileURLWithPath: site.path("m.xml")))
        for name in ["one", "other"] {
            let openssl = Process()
            openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            openssl.arguments = [
                "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                "-keyout", site.path("\(name).key"), "-out", site.path("\(name).pem"),
            ]
            openssl.standardError = FileHandle.nullDevice
            try openssl.run()
            openssl.waitUntilExit()
        }
        let (model, one) = (site.path("m.xml"), site.path("one.pem"))
        for (arguments, file, words) in [
            (["--tls", site.path("none.pem")], "none.pem", "No such file or directory"),
            (["--tls", model], "m.xml", "no certificate"),
            (["--tls", one, "--tls-key", site.path("none.key")], "none.key", "No such file or directory"),
            (["--tls", one, "--tls-key", model], "m.xml", "no private key"),
            (
                ["--tls", one, "--tls-key", site.path("other.key")], "other.key",
                "does not belong to the certificate in"
            ),
            (["--tls", one, "--tls-key", site.path("one.key"), "--tls-clients", model], "m.xml", "no certificate"),
        ] {
            let result = try await site.tool.run(["serve", model, "--port", "0"] + arguments)
            #expect(
                result.code != 0 && result.errors.contains(file) && result.errors.contains(words), "\(result.errors)")
        }
        let clone = try await site.tool.run(
            "clone", "https://127.0.0.1:1/", site.path("clone"), "--trust", site.path("none.pem"))
        #expect(clone.errors.contains("No such file or directory"), "\(clone.errors)")
    }

    @Test("An untrusted certificate is refused, and --trust accepts it")
    func untrusted() async throws {
        let site = try Site()
        let openssl = Process()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        openssl.arguments = [
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", site.path("key.pem"), "-out",
            site.path("cert.pem"),
        ]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        try await site.serve(
            nil, port: 0, "--tls-certificate", site.path("cert.pem"), "--tls-key", site.path("key.pem"))
        #expect(site.url.hasPrefix("https://"))
        let refused = try await site.tool.run("clone", site.url, site.path("clone"))
        #expect(refused.code == 1)
        #expect(refused.errors.contains("not trusted"), "\(refused.errors)")
        #expect(refused.errors.contains("--trust"))
        let trusted = try await site.tool.run("clone", site.url, site.path("clone"), "--trust", site.path("cert.pem"))
        #expect(trusted.code == 0, "\(trusted.errors)")
    }

    @Test("https to a plain HTTP port, and an occupied port, have clear errors")
    func mistakenAddresses() async throws {
        let site = try Site()
        try await site.serve()
        let secure = site.url.replacing("http://", with: "https://")
        let clone = try await site.tool.run("clone", secure, site.path("clone"))
        #expect(clone.code == 1)
        #expect(clone.errors.contains("does not speak TLS"), "\(clone.errors)")
        let second = try await site.tool.run("serve", site.database, "--port", String(site.port))
        #expect(second.code == 1)
        #expect(second.errors.contains("another program uses this port"), "\(second.errors)")
        #expect(second.errors.contains("--port"))
    }

    @Test("A missing database, and a file that is no database, are refused")
    func noDatabase() async throws {
        let site = try Site()
        try Data("This is not a database, however long you look at it.".utf8).write(
            to: URL(fileURLWithPath: site.path("text.db")))
        let text = try await site.tool.run("serve", site.path("text.db"), "--port", "0")
        #expect(text.code == 1)
        #expect(text.errors.contains("text.db"))
        #expect(text.errors.contains("not a"), "\(text.errors)")
        let missing = try await site.tool.run("serve", site.path("missing.db"))
        #expect(missing.code == 1)
        #expect(missing.errors.contains("does not exist"))
    }

    @Test("A mistake in a query is marked, and similar names are suggested")
    func query() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        let syntax = try await site.tool.run("query", clone, "Orders?$filter=Freight gt")
        #expect(syntax.code == 1)
        #expect(syntax.errors.contains("\n  Orders?$filter=Freight gt\n"), "\(syntax.errors)")
        #expect(syntax.errors.contains("^"))
        let name = try await site.tool.run("query", clone, "Orders?$filter=Frieght gt 5")
        #expect(name.code == 1)
        #expect(name.errors.contains("Did you mean Freight?"), "\(name.errors)")
        #expect(name.errors.contains("\n                 ^"), "\(name.errors)")
        let set = try await site.tool.run("query", clone, "Oders")
        #expect(set.errors.contains("Did you mean Orders?"), "\(set.errors)")
        for arguments in [
            ["explain", clone, "Orders?$filter=Frieght gt 5"], ["watch", clone, "Orders?$filter=Frieght gt 5"],
            ["export", clone, "--query", "Orders?$filter=Frieght gt 5"],
            ["add-query", clone, "bad=Orders?$filter=Frieght gt 5"],
            ["clone", site.url, site.path("other"), "--query", "bad=Orders?$filter=Frieght gt 5"],
        ] {
            let result = try await site.tool.run(arguments)
            #expect(result.code == 1 && result.errors.contains("Did you mean Freight?"), "\(result.errors)")
            #expect(result.errors.contains("\n                 ^"), "\(arguments[0]): \(result.errors)")
            #expect(result.errors.contains("defining query bad") == arguments.joined().contains("bad="))
        }
        let grammar = try await site.tool.run("add-query", clone, "bad=Orders?$filter=Freight gt")
        #expect(grammar.errors.contains("defining query bad") && grammar.errors.contains("^"), "\(grammar.errors)")
        let undo = try await site.tool.run("undo", clone, "Oders(1)")
        #expect(undo.errors.contains("\n  Oders(1)\n  ^"), "\(undo.errors)")
        let unsupported = try await site.tool.run(
            "query", clone, "Orders?$apply=Shop.Fold()")
        #expect(unsupported.code == 1)
        #expect(unsupported.errors.contains("is not supported"), "\(unsupported.errors)")
        let property = try await site.tool.run("update", clone, "Orders(1001)", "Frieght=5")
        #expect(property.errors.contains("Did you mean Freight?"))
        let value = try await site.tool.run("update", clone, "Orders(1001)", "Freight=much")
        #expect(value.code == 1)
        #expect(value.errors.contains("Edm.Decimal"))
    }

    @Test("An unknown or used name is refused with a next step")
    func names() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone, "--query", "one=Customers").code == 0)
        for (arguments, advice) in [
            (["pull", clone, "--only", "nix"], "outpost status"), (["remove-query", clone, "nope"], "outpost status"),
            (["add-query", clone, "one=Products"], "outpost remove-query"),
            (["errors", "retry", clone, "5"], "outpost changes"), (["undo", clone, "Products"], "'Orders(10248)'"),
        ] {
            let result = try await site.tool.run(arguments)
            #expect(result.code == 1 && result.errors.contains(advice), "\(result.errors)")
        }
    }

    @Test("An existing clone and a missing clone are reported")
    func directories() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        let again = try await site.tool.run("clone", site.url, clone)
        #expect(again.code == 1)
        #expect(again.errors.contains("outpost pull"))
        let none = try await site.tool.run("status", site.path("nowhere"))
        #expect(none.code == 1)
        #expect(none.errors.contains("outpost clone"))
    }

    @Test("A clone that was killed during its creation can be created again")
    func halfAClone() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        try FileManager.default.createDirectory(atPath: clone, withIntermediateDirectories: true)
        let name = "clone-1b4e28ba-2fa1-41d2-883f-0016d3cca427"
        try Data("{\"isUnfinished\":true,\"key\":{\"vault\":{\"name\":\"\(name)\"}}}".utf8).write(
            to: URL(fileURLWithPath: clone + "/outpost.json"))
        let status = try await site.tool.run("status", clone)
        #expect(status.code == 1)
        #expect(status.errors.contains("interrupted") && status.errors.contains("outpost clone"), "\(status.errors)")
        let again = try await site.tool.run("clone", site.url, clone)
        #expect(again.code == 0, "\(again.errors)")
        #expect(try await site.tool.run("query", clone, "Orders/$count").code == 0)
    }

    @Test("A clone killed at any early moment can be cloned or pulled")
    func killedClone() async throws {
        let site = try Site()
        try await site.serve()
        for moment in 0..<8 {
            let clone = site.path("clone\(moment)")
            try await site.tool.kill("clone", site.url, clone, after: .milliseconds(60 + moment * 25))
            let pulled = try await site.tool.run("pull", clone)
            if pulled.code != 0 {
                let cloned = try await site.tool.run("clone", site.url, clone)
                #expect(cloned.code == 0, "\(pulled.errors) \(cloned.errors)")
            }
            #expect(try await site.tool.run("query", clone, "Customers/$count").code == 0)
        }
    }

    @Test("Changes of missing entities, keys and computed properties are refused and not queued")
    func impossibleChanges() async throws {
        let site = try Site()
        try SQLite.execute(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, twice INTEGER GENERATED ALWAYS AS (n * 2));
            INSERT INTO t (id, n) VALUES (1, 2);
            """, in: site.database)
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        let missing = try await site.tool.run("update", clone, "t(99)", "n=5")
        #expect(missing.code == 1 && missing.errors.contains("does not exist"), "\(missing.errors)")
        let key = try await site.tool.run("update", clone, "t(1)", "id=5")
        #expect(key.code == 1 && key.errors.contains("key"), "\(key.errors)")
        let computed = try await site.tool.run("update", clone, "t(1)", "twice=5")
        #expect(computed.code == 1 && computed.errors.contains("computed"), "\(computed.errors)")
        #expect(try await site.tool.run("update", clone, "t(1)", "=5").code == 2)
        #expect(try await site.tool.run("status", clone).output.contains("Nothing to push"))
    }

    @Test("Control characters in data do not reach the terminal, and JSON escapes them")
    func controls() async throws {
        let site = try Site()
        try SQLite.execute(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, n TEXT); INSERT INTO t VALUES (1, 'a' || char(27) || ']0;b');",
            in: site.database)
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        let table = try await site.tool.run("query", clone, "t")
        #expect(table.output.contains("a ]0;b") && !table.output.contains("\u{1B}"))
        let json = try await site.tool.run("query", clone, "t", "--json")
        #expect(json.output.contains(#"a\u001b]0;b"#) || json.output.contains(#"a\u001B]0;b"#), "\(json.output)")
    }

    @Test("The metadata of a clone can be queried, with and without --json")
    func metadata() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        let result = try await site.tool.run("query", clone, "$metadata")
        #expect(result.code == 0 && result.output.contains("<edmx:Edmx"), "\(result.errors)")
    }

    @Test("A wrong key has its own error, and nothing is written")
    func wrongKey() async throws {
        let site = try Site()
        try await site.serve()
        let (clone, key, wrong) = (site.path("clone"), site.path("key"), site.path("wrong"))
        try Site.writeKey(to: key)
        try Site.writeKey(to: wrong, "2")
        #expect(try await site.tool.run("clone", site.url, clone, "--key-file", key).code == 0)
        let before = try Data(contentsOf: URL(fileURLWithPath: clone + "/store.db"))
        let refused = try await site.tool.run("query", clone, "Orders", "--key-file", wrong)
        #expect(refused.code == 1)
        #expect(refused.errors.contains("key"), "\(refused.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: clone + "/store.db")) == before)
    }

    @Test("A locked database fails one request with a clear error, and the service continues")
    func locked() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        #expect(try await site.tool.run("update", clone, "Products(5)", "Stock=7").code == 0)
        let holder = Process()
        holder.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        holder.arguments = ["sqlite3", site.database]
        let input = Pipe()
        holder.standardInput = input
        holder.standardOutput = FileHandle.nullDevice
        try holder.run()
        try input.fileHandleForWriting.write(contentsOf: Data("BEGIN EXCLUSIVE;\n".utf8))
        try await Task.sleep(for: .milliseconds(300))
        let refused = try await site.tool.run("push", clone)
        #expect(refused.code == 1, "\(refused.output) \(refused.errors)")
        #expect(try await site.tool.run("status", clone).output.contains("#1 update Products(5)"))
        try input.fileHandleForWriting.write(contentsOf: Data("ROLLBACK;\n.quit\n".utf8))
        holder.waitUntilExit()
        #expect(try await site.tool.run("push", clone).code == 0)
    }

    @Test(
        "A full disk is reported, and the clone continues when there is room",
        .disabled(
            if: ProcessInfo.processInfo.environment["OUTPOST_SANITIZER"] == "thread",
            "The thread sanitizer writes a file of its own when a program starts, and dies where it cannot."))
    func fullDisk() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        try SQLite.execute("UPDATE Orders SET Freight = Freight + 1", in: site.database)
        // The kernel refuses writes beyond a file size, as it does on a full device.
        let (process, _, errors) = site.tool.process([])
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = [
            "-c", "trap '' XFSZ; ulimit -f 40; exec \"$0\" pull \"$1\"", Tool.executable.path, clone,
        ]
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 1)
        #expect(text.contains("error:"), "\(text)")
        #expect(try await site.tool.run("status", clone).code == 0)
        #expect(try await site.tool.run("pull", clone).code == 0)
        #expect(try await site.tool.run("query", clone, "Orders/$count").output == "200\n")
    }

    @Test(
        "A usage error has exit code 2",
        arguments: [["frobnicate"], ["query"], ["serve", "x.db", "--port", "99999"], ["clone"], ["push", "--frob"]])
    func misuse(arguments: [String]) async throws {
        let site = try Site()
        let (process, _, _) = site.tool.process(arguments)
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 2)
    }

    @Test(
        "every command has help with an example",
        arguments: [
            "serve", "clone", "query", "create", "update", "delete", "status", "push", "pull", "sync", "errors", "log",
            "vault", "rekey", "list", "remove", "link", "unlink", "stream", "call", "change-set", "draft", "changes",
            "diff",
        ])
    func help(command: String) async throws {
        let site = try Site()
        let result = try await site.tool.run(command, "--help")
        #expect(result.code == 0)
        #expect(result.output.contains("EXAMPLE"))
        #expect(result.output.contains("outpost \(command)"))
    }

    @Test("There are no colours in a pipe or with NO_COLOR")
    func colours() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        let cloned = try await site.tool.run("clone", site.url, clone)
        let rows = try await site.tool.run("query", clone, "Orders")
        #expect(!(cloned.output + cloned.errors + rows.output + rows.errors).contains("\u{1B}"))
    }
}
