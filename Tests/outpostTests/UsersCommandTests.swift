import ForeignPrograms
import Foundation
import Testing

/// `outpost users`, and the warnings of a start that others can reach.
@Suite struct UsersCommandTests {
    @Test("users are added, listed and removed in a private file with digests")
    func users() async throws {
        let site = try Site()
        try await site.addUsers(["ann": "s3cret"])
        try await site.addUsers(["zoë b": "0ther"])
        let file = site.path("users")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.hasPrefix("ann:$scrypt$ln=14,r=8,p=1$") && !text.contains("s3cret"))
        #expect((try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int) == 0o600)
        #expect(try await site.tool.run("users", "list", file).output == "ann\nzoë b\n")
        // Comments stay, a new password replaces the one before.
        try ("# people\n\n" + text).write(toFile: file, atomically: true, encoding: .utf8)
        chmod(file, 0o600)
        try await site.addUsers(["ann": "new"])
        let changed = try String(contentsOfFile: file, encoding: .utf8)
        #expect(changed.hasPrefix("# people\n\nann:$scrypt$") && changed != "# people\n\n" + text)
        let password = site.path("password")
        try Data("str0ng".utf8).write(to: URL(fileURLWithPath: password))
        chmod(password, 0o600)
        #expect(
            try await site.tool.run("users", "add", file, "eve", "--strong", "--password-file", password).code == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("\neve:$scrypt$ln=15,r=8,p=3$"))
        #expect(try await site.tool.run("users", "remove", file, "eve").code == 0)
        #expect(try await site.tool.run("users", "remove", file, "ann").code == 0)
        #expect(try await site.tool.run("users", "remove", file, "ann").code == 1)
        #expect(try await site.tool.run("users", "list", file, "--json").output.contains("zoë b"))
    }

    @Test(
        "Names that basic authentication cannot carry are refused", arguments: ["", "a:b", "#a", "a\u{1B}[31m", "a\nb"])
    func names(_ name: String) async throws {
        let site = try Site()
        let result = try await site.tool.run("users", "add", site.path("users"), name)
        #expect(result.code == 2 && !result.errors.contains("\u{1B}"), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: site.path("users")))
    }

    @Test(
        "an exposed file of users is refused with the command that fixes it",
        arguments: [0o644, 0o660])
    func exposed(mode: Int) async throws {
        let site = try Site()
        try await site.addUsers(["ann": "s3cret"])
        try SQLite.execute("CREATE TABLE T (ID INTEGER PRIMARY KEY)", in: site.database)
        chmod(site.path("users"), mode_t(mode))
        let result = try await site.tool.run(
            "serve", site.database, "--host", "192.0.2.1", "--auth", site.path("users"))
        #expect(result.code == 2 && result.errors.contains("chmod"), "\(result.errors)")
    }

    @Test("A start without sign-in or TLS on a public address warns")
    func warnings() async throws {
        let site = try Site()
        try await site.serve(nil, port: 0, "--host", "0.0.0.0")
        #expect(site.errors.contains("warning: everybody who reaches 0.0.0.0 can read and change everything"))
        site.stop()
        try await site.serve(nil, port: 0)
        #expect(site.errors == "", "\(site.errors)")
        site.stop()
        try await site.addUsers(["ann": "s3cret"])
        try await site.serve(nil, port: 0, "--auth", site.path("users"))
        #expect(site.errors.contains("warning: passwords and tokens travel in plain text"))
        site.stop()
        try await site.serve(nil, port: 0, "--auth", site.path("users"), "--base-url", "https://api.example/")
        #expect(!site.errors.contains("warning"), "\(site.errors)")
    }

    @Test("--max-requests-per-minute and --host-name take effect for a foreign client")
    func door() async throws {
        let site = try Site()
        try await site.serve(nil, port: 0, "--max-requests-per-minute", "3", "--host-name", "shop.example")
        func status(_ host: String) async throws -> String {
            try await Command.curl(
                "--header", "Host: \(host)", "--output", "/dev/null", "--write-out", "%{http_code}", site.url)
        }
        #expect(try await status("shop.example") == "200")
        #expect(try await status("attacker.example") == "421")
        #expect(try await status("localhost") == "200")
        #expect(try await status("127.0.0.1") == "200")
        #expect(try await status("localhost") == "429")
    }
}
