import Foundation
import Testing

@Suite("Secret files that a person names")
struct NamedSecretTests {
    @Test("Secret files that others can read or replace are refused, unless allowed")
    func exposed() async throws {
        let site = try Site()
        let tool = site.tool
        let secret = site.path("secret")
        func expose(_ mode: Int) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: secret)
        }
        try Site.writeKey(to: secret)
        let commands = [
            ["clone", "http://127.0.0.1:1/", site.path("clone"), "--key-file", secret],
            ["clone", "http://127.0.0.1:1/", site.path("clone"), "--user", "ann", "--password-file", secret],
            ["metadata", "show", "http://127.0.0.1:1/", "--token-file", secret],
            ["vault", "create", "login", "--password-file", secret],
        ]
        for mode in [0o644, 0o640, 0o620] {
            try expose(mode)
            for command in commands where command[0] != "clone" || command[3] != "--key-file" {
                let refused = try await tool.run(command)
                #expect(refused.code == 2, "\(command) \(refused.errors)")
                #expect(refused.errors.contains("--allow-readable-secrets"), "\(command) \(refused.errors)")
            }
        }
        let allowed = try await tool.run(
            "vault", "create", "login", "--password-file", secret, "--allow-readable-secrets")
        #expect(allowed.code == 0, "\(allowed.errors)")
        try expose(0o600)
        #expect(try await tool.run("vault", "open", "login", "--password-file", secret).code == 0)
    }

    @Test("Secret files in a folder that others can change are refused, and links to safe files are accepted")
    func folders() async throws {
        let site = try Site()
        let tool = site.tool
        let (open, secret) = (site.path("open"), site.path("secret"))
        try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: open)
        try Data("password 1\n".utf8).write(to: URL(fileURLWithPath: secret))
        try FileManager.default.createSymbolicLink(atPath: open + "/link", withDestinationPath: secret)
        let refused = try await tool.run("vault", "create", "login", "--password-file", open + "/link")
        #expect(refused.code == 2 && refused.errors.contains("other users can replace files in \(open)"))
        try FileManager.default.createSymbolicLink(atPath: site.path("link"), withDestinationPath: secret)
        let made = try await tool.run("vault", "create", "login", "--password-file", site.path("link"))
        #expect(made.code == 0, "\(made.errors)")
    }

    @Test("A server refuses exposed user files and private keys at its start")
    func server() async throws {
        let site = try Site()
        try await site.serve()
        site.stop()
        let users = site.path("users")
        try Data("ann:a long password\n".utf8).write(to: URL(fileURLWithPath: users))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: users)
        for arguments in [["--auth", users], ["--tls", users], ["--tls", "/dev/null", "--tls-key", users]] {
            let refused = try await site.tool.run(["serve", site.database, "--port", "0"] + arguments)
            #expect(refused.code == 2, "\(arguments) \(refused.errors)")
            #expect(refused.errors.contains("other users can read it"), "\(arguments) \(refused.errors)")
        }
    }
}
