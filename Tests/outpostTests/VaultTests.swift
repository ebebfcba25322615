import ForeignPrograms
import Foundation
import Testing

@Suite("The vault and the key of a clone on the command line")
struct VaultTests {
    private func file(_ site: Site, _ name: String, _ text: String) throws -> String {
        let path = site.path(name)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test("create, set, get, list, password, policy, remove, destroy")
    func vault() async throws {
        let site = try Site()
        let tool = site.tool
        let (old, new) = (try file(site, "old", "first 1\n"), try file(site, "new", "second 2"))
        let value = try file(site, "value", "s3cret")
        let created = try await tool.run("vault", "create", "login", "--password-file", old)
        #expect(created.code == 0, "\(created.errors)")
        #expect(try await tool.run("vault", "create", "login", "--password-file", old).code == 1)
        let set = try await tool.run("vault", "set", "login", "token", "--value-file", value, "--password-file", old)
        #expect(set.code == 0, "\(set.errors)")
        let get = try await tool.run("vault", "get", "login", "token", "--password-file", old)
        #expect(get.output == "s3cret")
        #expect(try await tool.run("vault", "list").output == "login\n")
        #expect(try await tool.run("vault", "list", "login", "--password-file", old).output.contains("token"))
        let changed = try await tool.run(
            "vault", "password", "login", "--password-file", old, "--new-password-file", new)
        #expect(changed.code == 0, "\(changed.errors)")
        let wrong = try await tool.run("vault", "open", "login", "--password-file", old)
        #expect(wrong.code == 1)
        #expect(!wrong.errors.contains("first 1"))
        let policy = try await tool.run(
            "vault", "policy", "login", "--digits", "--retry-limit", "2", "--password-file", new)
        #expect(policy.code == 0, "\(policy.errors)")
        #expect(policy.output.contains("\"retryLimit\" : 2"))
        #expect(try await tool.run("vault", "remove", "login", "token", "--password-file", new).code == 0)
        #expect(try await tool.run("vault", "get", "login", "token", "--password-file", new).code == 1)
        #expect(try await tool.run("vault", "open", "login", "--password-file", old).code == 1)
        let destroyed = try await tool.run("vault", "open", "login", "--password-file", old)
        #expect(destroyed.errors.contains("destroyed"))
        #expect(try await tool.run("vault", "list").output == "")
    }

    @Test("A vault without a password opens for its account, and is destroyed when that is confirmed")
    func noPassword() async throws {
        let site = try Site()
        let tool = site.tool
        #expect(try await tool.run("vault", "create", "machine", "--no-password").code == 0)
        #expect(try await tool.run("vault", "open", "machine").code == 0)
        #expect(try await tool.run("vault", "destroy", "machine").code == 1)
        #expect(try await tool.run("vault", "destroy", "machine", "--yes").code == 0)
        #expect(try await tool.run("vault", "open", "machine").code == 1)
    }

    @Test("Passwords and values are read from pipes and files")
    func pipes() async throws {
        let site = try Site()
        let password = try file(site, "password", "first 1")
        #expect(try await site.tool.run("vault", "create", "login", "--password-file", password).code == 0)
        let (process, output, errors) = site.tool.process([])
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = [
            "-c",
            """
            printf %s s3cret | "$0" vault set login token --value-file /dev/stdin --password-file <(echo 'first 1') &&
            "$0" vault get login token --password-file <(echo 'first 1')
            """, Tool.executable.path,
        ]
        try process.run()
        async let error = Tool.text(errors)
        let (shown, said) = await (Tool.text(output), error)
        #expect(shown == "s3cret", "\(said)")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test("Ctrl-D instead of a secret ends the command and changes nothing")
    func endOfInput() async throws {
        let site = try Site()
        let tool = site.tool
        let former = try file(site, "value", "former")
        #expect(try await tool.run("vault", "create", "machine", "--no-password").code == 0)
        #expect(try await tool.run("vault", "set", "machine", "token", "--value-file", former).code == 0)
        let terminal = try PseudoTerminal()
        let result = try await tool.run("vault", "set", "machine", "token", at: terminal) { process in
            for _ in 0..<500 where terminal.echoes { try await Task.sleep(for: .milliseconds(20)) }
            terminal.type("\u{4}")
            for _ in 0..<500 where process.isRunning { try await Task.sleep(for: .milliseconds(20)) }
            // A running command asks for nothing more.
            if process.isRunning { process.terminate() }
        }
        #expect(result.code == 1 && result.errors.contains("The input ended"), "\(result.errors)")
        #expect(terminal.echoes)
        #expect(try await tool.run("vault", "get", "machine", "token").output == "former")
    }

    @Test("rekey: a new key in the vault, a key file, a key in the vault again; the store is not rewritten")
    func rekey() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        site.stop()
        func pages() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: clone + "/store.db"))[4096...] }
        let before = try pages()
        let first = try await tool.run("rekey", clone)
        #expect(first.code == 0, "\(first.errors)")
        #expect(try pages() == before)
        #expect(try await tool.run("status", clone).code == 0)
        let key = try file(site, "key", Site.keyText("f"))
        #expect(try await tool.run("rekey", clone, "--new-key-file", key).code == 0)
        #expect(try await tool.run("status", clone).code == 2)
        #expect(try await tool.run("status", clone, "--key-file", key).code == 0)
        #expect(try await tool.run("rekey", clone, "--key-file", key).code == 0)
        #expect(try await tool.run("status", clone).code == 0)
        // The first key, the second, and the one that took the place of the key file.
        let keys = try FileManager.default.contentsOfDirectory(atPath: site.path("home/outpost/keys"))
        #expect(keys.count == 3)
    }

    @Test("verify: an intact clone, a flipped bit in a page, and a flipped bit in the version")
    func verify() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        site.stop()
        let database = URL(fileURLWithPath: clone + "/store.db")
        #expect(try await tool.run("verify", clone).code == 0)
        let whole = try Data(contentsOf: database)
        for (place, expected) in [(4096 * 3 + 77, "byte 12288"), (17, "byte 0: not a key block")] {
            var altered = try Data(contentsOf: database)
            altered[place] ^= 0x20
            try altered.write(to: database)
            let answer = try await tool.run("verify", clone)
            #expect(answer.code == 1)
            #expect((answer.output + answer.errors).contains(expected), "\(answer)")
            altered[place] ^= 0x20
            try altered.write(to: database)
        }
        #expect(try await tool.run("verify", clone).code == 0)
        #expect(try Data(contentsOf: database).count == whole.count)
    }

    @Test(
        "rekey changes nothing if it could not record the place of the new key",
        arguments: [[], ["--new-key-file"]])
    func unsaidRekey(option: [String]) async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        site.stop()
        let key = try file(site, "key", Site.keyText("f"))
        func state() throws -> [String] {
            try [String(contentsOfFile: clone + "/outpost.json", encoding: .utf8)]
                + FileManager.default.contentsOfDirectory(atPath: site.path("home/outpost/keys"))
        }
        let before = try state()
        var arguments = [Tool.executable.path, "rekey", clone] + option + (option.isEmpty ? [] : [key])
        // The superuser may write everywhere.
        if geteuid() == 0 {
            #expect(try await Command.run("chown", "-R", "65534:65534", site.directory.path).status == 0)
            arguments = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + arguments
        }
        arguments = ["XDG_DATA_HOME=\(tool.home.path)", "XDG_STATE_HOME=\(tool.home.path)/state"] + arguments
        // The database can be written, and no file made beside it, as on a full disk.
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: clone)
        let (status, output) = try await Command.run(arguments, includesErrors: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: clone)
        if geteuid() == 0 { #expect(try await Command.run("chown", "-R", "0:0", site.directory.path).status == 0) }
        #expect(status == 1 && output.contains("outpost.json cannot be written"), "\(output)")
        #expect(try state() == before)
        let opened = try await tool.run("status", clone)
        #expect(opened.code == 0, "\(opened.errors)")
        #expect(try await tool.run("status", clone, "--key-file", key).code == 1)
    }

    @Test("rekey finds the new key after an interrupted change")
    func interruptedRekey() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        site.stop()
        let said = URL(fileURLWithPath: clone + "/outpost.json")
        let keys = site.path("home/outpost/keys")
        let oldName = try #require(try FileManager.default.contentsOfDirectory(atPath: keys).first)
        let (old, oldKey) = (
            try Data(contentsOf: said), try Data(contentsOf: URL(fileURLWithPath: keys + "/" + oldName))
        )
        #expect(try await tool.run("rekey", clone).code == 0)
        // As it was before the clone said where the new key is.
        try old.write(to: said)
        #expect(try Data(contentsOf: URL(fileURLWithPath: keys + "/" + oldName)) == oldKey)
        let refused = try await tool.run("status", clone)
        #expect(refused.code == 1 && refused.errors.contains("outpost rekey \(clone)"), "\(refused.errors)")
        let mended = try await tool.run("rekey", clone)
        #expect(mended.code == 0, "\(mended.errors)")
        #expect(try await tool.run("status", clone).code == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: keys).count == 3)
    }
}
