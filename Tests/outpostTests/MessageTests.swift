import ForeignPrograms
import Foundation
import Testing

@Suite("Messages name their subject and the next step")
struct MessageTests {
    /// A clone of a small service that is gone, in a directory with a name that a shell would take apart.
    private func clone(_ site: Site, _ arguments: String...) async throws -> String {
        let clone = site.path("my clone")
        try await ThingService().serving { url in
            let cloned = try await site.tool.run(["clone", url, clone] + arguments)
            #expect(cloned.code == 0, "\(cloned.errors)")
        }
        return clone
    }

    @Test("Advice names the directory, quoted for the shell")
    func quoted() async throws {
        let site = try Site()
        let clone = try await clone(site)
        let unknown = try await site.tool.run("pull", clone, "--only", "nix")
        #expect(unknown.errors.contains("outpost status '\(clone)'"), "\(unknown.errors)")
        let errors = try await site.tool.run("errors", "retry", clone, "5")
        #expect(errors.errors.contains("outpost changes '\(clone)' --failed"), "\(errors.errors)")
    }

    @Test(
        "Advice quotes the directory as one word of a shell",
        arguments: ["plain", "a b", "it's", "'", "x'\u{301}y", "$HOME;`id`\"*\\"])
    func quotedAdvice(name: String) async throws {
        let site = try Site()
        let result = try await site.tool.run("status", site.path(name))
        let advice = try #require(result.errors.range(of: "outpost clone URL "), "\(result.errors)")
        let word = result.errors[advice.upperBound...].prefix { !$0.isNewline }
        let (shell, output) = (Process(), Pipe())
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", "printf '%s\\n' \(word)"]
        shell.standardOutput = output
        try shell.run()
        let text = await Tool.text(output)
        shell.waitUntilExit()
        #expect(Array(text.utf8) == Array("\(site.path(name))\n".utf8), "\(word)")
    }

    @Test("A query of a set with an incomplete first download says so, and does not advise a new query")
    func incomplete() async throws {
        let site = try Site()
        let clone = site.path("clone")
        let service = ThingService()
        try await service.serving { url in
            #expect(try await site.tool.run("clone", url, clone).code == 0)
            #expect(try await site.tool.run("remove-query", clone, "Things").code == 0)
            service.refuseReads(true)
            _ = try await site.tool.run("add-query", clone, "some=Things")
        }
        let asked = try await site.tool.run("query", clone, "Things")
        #expect(asked.code == 0 && asked.errors.contains("Not all is here of Things"), "\(asked.errors)")
        #expect(asked.errors.contains("outpost pull \(clone)"), "\(asked.errors)")
        let changed = try await site.tool.run("update", clone, "Things(1)", "Name=Mine")
        #expect(changed.code == 1 && changed.errors.contains("Not all is here of Things"), "\(changed.errors)")
        #expect(!changed.errors.contains("outpost create"))
    }

    @Test("Two queries with one name are a usage error")
    func duplicates() async throws {
        let site = try Site()
        let result = try await site.tool.run(
            "clone", "http://127.0.0.1:1/", site.path("clone"), "--query", "one=Things", "--query", "one=Others")
        #expect(result.code == 2 && result.errors.contains("'one'"), "\(result.errors)")
    }

    @Test("A file in place of a clone is reported as a file", arguments: [false, true])
    func file(withKey: Bool) async throws {
        let site = try Site()
        try Data(repeating: 7, count: 32).write(to: URL(fileURLWithPath: site.path("shop.db")))
        let key = withKey ? ["--key-file", site.path("shop.db")] : []
        let result = try await site.tool.run(["status", site.path("shop.db")] + key)
        #expect(result.code == 1 && result.errors.contains("is a file"), "\(result.errors)")
    }

    @Test("A store without outpost.json gets the same error from every command")
    func withoutCloneFile() async throws {
        let site = try Site()
        let clone = try await clone(site)
        try FileManager.default.removeItem(atPath: clone + "/outpost.json")
        for arguments in [["status", clone], ["clone", "http://127.0.0.1:1/", clone], ["rekey", clone]] {
            let result = try await site.tool.run(arguments)
            #expect(result.code == 1 && result.errors.contains("outpost.json beside it is missing"), "\(result.errors)")
            #expect(result.errors.contains("--key-file"), "\(result.errors)")
        }
    }

    @Test("An empty or missing key file is reported")
    func keyFiles() async throws {
        let site = try Site()
        let empty = site.path("empty")
        try Data().write(to: URL(fileURLWithPath: empty))
        let clone = try await clone(site)
        for command in ["query", "clone"] {
            let arguments = command == "query" ? [clone, "Things"] : ["http://127.0.0.1:1/", site.path("other")]
            let missing = try await site.tool.run([command] + arguments + ["--key-file", site.path("none")])
            if command == "query" {
                #expect(missing.code == 2, "\(missing.errors)")
                #expect(missing.errors.contains("cannot be read: No such file or directory."), "\(missing.errors)")
            }
            #expect(!missing.errors.contains("errno"))
        }
        let none = try await site.tool.run("query", clone, "Things", "--key-file", empty)
        #expect(none.code == 2 && none.errors.contains("\(empty) is empty"), "\(none.errors)")
    }

    @Test("After a refused sign-in with --user, the advice does not ask for --user")
    func wrongPassword() async throws {
        let site = try Site()
        try await site.addUsers(["ann": "right"])
        try "wrong\n".write(toFile: site.path("password"), atomically: false, encoding: .utf8)
        try await site.serve(nil, port: 0, "--auth", site.path("users"))
        let anonymous = try await site.tool.run("clone", site.url, site.path("clone"))
        #expect(anonymous.errors.contains("--user NAME"), "\(anonymous.errors)")
        let wrong = try await site.tool.run(
            "clone", site.url, site.path("clone"), "--user", "ann", "--password-file", site.path("password"))
        #expect(wrong.code == 1 && !wrong.errors.contains("--user"), "\(wrong.errors)")
        #expect(wrong.errors.contains("ann") && wrong.errors.contains(site.path("password")), "\(wrong.errors)")
    }

    @Test("A read-only clone is reported with its directory and a remedy", arguments: ["query", "status", "verify"])
    func readOnly(command: String) async throws {
        let site = try Site()
        let key = site.path("key")
        try Site.writeKey(to: key)
        let clone = try await clone(site, "--key-file", key)
        let manager = FileManager.default
        for name in try manager.contentsOfDirectory(atPath: clone) {
            try manager.setAttributes([.posixPermissions: 0o444], ofItemAtPath: clone + "/" + name)
        }
        try manager.setAttributes([.posixPermissions: 0o555], ofItemAtPath: clone)
        defer { try? manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: clone) }
        var arguments = [Tool.executable.path, command, clone] + (command == "query" ? ["Things"] : [])
        arguments += ["--key-file", key]
        // Another user can use a key of the administrator, if a group may read it and nobody write it.
        try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: site.directory.path)
        try manager.setAttributes([.posixPermissions: 0o440], ofItemAtPath: key)
        if geteuid() == 0 { #expect(chown(key, 0, 65_534) == 0) } else { arguments.append("--allow-readable-secrets") }
        // The superuser may write everywhere.
        if geteuid() == 0 { arguments = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + arguments }
        let (status, output) = try await Command.run(arguments, includesErrors: true)
        #expect(status == 1)
        #expect(output.contains("\(clone) may not be written"), "\(output)")
        #expect(output.contains("cp -r '\(clone)'") && output.contains("chmod -R u+w '\(clone)'"), "\(output)")
    }

    @Test("The default directory for a service with an IPv6 address has no brackets", .enabled(if: Self.hasIPv6))
    func brackets() async throws {
        let site = try Site()
        try SQLite.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)", in: site.database)
        try await site.serve(path: site.database, "--host", "::1")
        let (process, output, errors) = site.tool.process(["clone", site.url])
        process.currentDirectoryURL = site.directory
        try process.run()
        let said = (await Tool.text(output), await Tool.text(errors))
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(said)")
        #expect(FileManager.default.fileExists(atPath: site.path("clone/store.db")))
        #expect(!FileManager.default.fileExists(atPath: site.path("[")))
    }

    private static let hasIPv6: Bool = {
        let interfaces = "/proc/net/if_inet6"
        return !((try? String(contentsOfFile: interfaces, encoding: .utf8)) ?? "").isEmpty
    }()

    @Test(
        "After an interrupted password prompt the terminal shows typed text again", arguments: [2, 15])
    func askedForSecret(signal: Int32) async throws {
        let site = try Site()
        let terminal = try PseudoTerminal()
        #expect(terminal.echoes)
        var wasHidden = false
        let result = try await site.tool.run(
            "clone", "http://127.0.0.1:1/", site.path("clone"), "--user", "ann", at: terminal
        ) { process in
            for _ in 0..<500 where terminal.echoes { try await Task.sleep(for: .milliseconds(20)) }
            wasHidden = !terminal.echoes
            kill(process.processIdentifier, signal)
        }
        #expect(wasHidden, "a password is not shown")
        #expect(result.code == signal, "it ends by the signal")
        #expect(terminal.echoes)
    }
}
