import Foundation
import Testing

@Suite("Changing the key of a clone")
struct RekeyTests {
    /// A clone whose key is kept in a file of the tool's.
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
        "One that was cut short on the way from a file or a passphrase to a kept key is ended by the next",
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
        // As it was before the clone said where the new key is.
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

    @Test("Neither the key that is given nor one that is kept opens it: that is said, and nothing is changed")
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

    @Test("The old key stays where damaged files lie beside the store, and what else needs it is said")
    func damagedFiles() async throws {
        let site = try Site()
        let tool = site.tool
        let clone = try await clone(site)
        let first = try #require(try keys(site).first)
        let replaced = try await tool.run("rekey", clone)
        #expect(replaced.output.contains("Copies of the clone that were made before need the old key"))
        #expect(replaced.output.contains("which was removed"))
        let second = try #require(try keys(site).first)
        #expect(try keys(site) == [second] && second != first)

        // As a repair leaves it.
        try FileManager.default.copyItem(atPath: clone + "/store.db", toPath: clone + "/store.db.damaged")
        let kept = try await tool.run("rekey", clone)
        #expect(kept.code == 0 && kept.output.contains("store.db.damaged: it stays among your keys as \(second)"))
        #expect(try keys(site).count == 2 && keys(site).contains(second))
        #expect(try await tool.run("status", clone).code == 0)
        // With it, the damaged files can still be read.
        let copy = site.path("copy")
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: clone + "/store.db.damaged", toPath: copy + "/store.db")
        try FileManager.default.copyItem(atPath: clone + "/outpost.json", toPath: copy + "/outpost.json")
        let opened = try await tool.run("status", copy, "--key-file", site.path("home/outpost/keys/" + second))
        #expect(opened.code == 0, "\(opened.errors)")
    }
}
