import ForeignPrograms
import Foundation
import Testing

/// A served clone asks for a token: its rows are encrypted on disk, and no other user or page may read them.
@Suite struct ServeTokenTests {
    private func clone() async throws -> (Site, String) {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone, "--query", "c=Customers").code == 0)
        site.stop()
        return (site, clone)
    }

    private func status(_ arguments: String...) async throws -> String {
        try await Command.curl(["--output", "/dev/null", "--write-out", "%{http_code}"] + arguments)
    }

    @Test("Without the token, every request is refused; scripts read the token from a private file")
    func token() async throws {
        let (site, clone) = try await clone()
        // A file that somebody else has put there opens nothing, and is not followed.
        let precious = site.path("precious")
        try "precious".write(toFile: precious, atomically: true, encoding: .utf8)
        try FileManager.default.createSymbolicLink(atPath: clone + "/serve.token", withDestinationPath: precious)
        try await site.serve(path: clone, "--print-token")
        let url = site.url + "Customers"
        #expect(try await status(url) == "401")
        #expect(try await status("--request", "DELETE", url + "('C0001')") == "401")
        #expect(try await status("--user", ":precious", url) == "401")
        #expect(try await status(site.url + "health") == "200")
        let file = try #require(site.report?.tokenFile)
        #expect(file == clone + "/serve.token")
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(
            (attributes[.posixPermissions] as? Int) == 0o600 && attributes[.type] as? FileAttributeType == .typeRegular)
        #expect(try String(contentsOfFile: precious, encoding: .utf8) == "precious")
        let token = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .newlines)
        #expect(site.report?.token == token)
        #expect(try await status("--user", "x:\(token)", url) == "200")
        #expect(try await status("--header", "Authorization: Bearer \(token)", url) == "200")
        site.stop()
        #expect(!FileManager.default.fileExists(atPath: file))
        try await site.serve(path: clone)
        #expect(site.report?.token == nil)
        #expect(
            try await status("--header", "Authorization: Bearer \(token)", site.url) == "401", "each start has its own")
    }

    @Test("The printed link admits one browser")
    func link() async throws {
        let (site, clone) = try await clone()
        try await site.serve(path: clone)
        let link = try #require(site.report?.signIn)
        #expect(link.hasPrefix(site.url + "?"))
        let jar = site.path("jar")
        #expect(try await status("--cookie-jar", jar, link) == "303")
        #expect(try await status("--cookie", jar, site.url + "Customers") == "200")
        #expect(try await status(link) == "401")
        let change = [
            "--cookie", jar, "--request", "PATCH", "--header", "Content-Type: application/json", "--data", "{}",
        ]
        let foreign = try await Command.curl(
            change + [
                "--header", "Origin: http://127.0.0.1:1", "--write-out", "|%{http_code}",
                site.url + "Customers('C0001')",
            ])
        #expect(foreign.hasSuffix("|403"))
    }

    @Test("--open serves without a token on this machine only, with a warning")
    func open() async throws {
        let (site, clone) = try await clone()
        for host in ["0.0.0.0", "::", "192.0.2.1", "127.0.0.1.example"] {
            let refused = try await site.tool.run("serve", clone, "--open", "--host", host)
            #expect(refused.code == 2 && refused.errors.contains("--open"), "\(refused.errors)")
        }
        try await site.serve(path: clone, "--open")
        #expect(try await status(site.url + "Customers") == "200")
        #expect(site.report?.signIn == nil && !FileManager.default.fileExists(atPath: clone + "/serve.token"))
        #expect(site.errors.contains("warning: every user and program of this machine"))
        site.stop()
        try await site.serve()
        let database = try await site.tool.run("serve", site.database, "--open", "--port", "0")
        #expect(database.code == 2 && database.errors.contains("--open goes with a clone"))
    }

    @Test("users from a file replace the token")
    func users() async throws {
        let (site, clone) = try await clone()
        try await site.addUsers(["ann": "s3cret"])
        try await site.serve(path: clone, "--auth", site.path("users"))
        #expect(try await status("--user", "ann:s3cret", site.url) == "200")
        #expect(site.report?.tokenFile == nil && site.report?.signIn == nil)
    }
}
