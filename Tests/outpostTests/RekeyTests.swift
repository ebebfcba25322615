import Foundation
import Testing

@Suite("Changing the key of a clone")
struct RekeyTests {
    /// A clone whose key is in the vault.
    private func clone(_ site: Site) async throws -> String {
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        site.stop()
        return clone
    }

    private func keyFile(_ site: Site, _ name: String, _ digit: String) throws -> String {
        let path = site.path(name)
        try String(repeating: digit, count: 64).write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func keys(_ site: Site) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: site.path("home/outpost/keys")).filter {
            $0.hasPrefix("clone-")
        }
    }

    @Test(
        "One that was cut short on the way from a file or a passphrase to the vault is ended by the next",
        arguments: ["a", "passphrase "])
    func interrupted(content: String) async throws {
        let site = try Site()
        let tool = site.tool
        let clone = try await clone(site)
        let key = try keyFile(site, "key", content)
        #expect(try await tool.run("rekey", clone, "--new-key-file", key).code == 0)
        #expect(try keys(site) == [])
        let said = URL(fileURLWithPath: clone + "/outpost.json")
        let old = try Data(contentsOf: said)
        #expect(try await tool.run("rekey", clone, "--key-file", key).code == 0)
        // As it was before the clone said that the new key is in the vault.
        try old.write(to: said)
        let lost = try await tool.run("status", clone, "--key-file", key)
        #expect(lost.code == 1 && lost.errors.contains("outpost rekey \(clone)"), "\(lost.errors)")
        for arguments in [["--key-file", key], []] {
            let mended = try await tool.run(["rekey", clone] + arguments)
            #expect(mended.code == 0, "\(arguments): \(mended.errors)")
            let opened = try await tool.run("status", clone)
            #expect(opened.code == 0, "\(arguments): \(opened.errors)")
            #expect(try keys(site).count == 1)
            try old.write(to: said)
        }
    }

    @Test("Neither the key that is given nor one in the vault opens it: that is said, and nothing is changed")
    func noKey() async throws {
        let site = try Site()
        let tool = site.tool
        let clone = try await clone(site)
        let (key, wrong) = (try keyFile(site, "key", "a"), try keyFile(site, "wrong", "b"))
        #expect(try await tool.run("rekey", clone, "--new-key-file", key).code == 0)
        let before = try Data(contentsOf: URL(fileURLWithPath: clone + "/store.db"))
        let refused = try await tool.run("rekey", clone, "--key-file", wrong)
        #expect(refused.code == 1 && refused.errors.contains("does not open \(clone)"), "\(refused.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: clone + "/store.db")) == before)
        #expect(try keys(site) == [])
    }
}
