import Foundation
import Testing

@Suite("Changing the key of a clone")
struct RekeyTests {
    /// A clone with its key in a file of the tool.
    private func clone(_ site: Site) async throws -> String {
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        site.stop()
        return clone
    }

    private func keyFile(_ site: Site, _ name: String, _ digit: String) throws -> String {
        let path = site.path(name)
        let text = digit.count == 1 ? Site.keyText(digit) : digit
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func keys(_ site: Site) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: site.path("home/outpost/keys")).filter {
            $0.hasPrefix("clone-")
        }
    }

    @Test(
        "The next rekey completes an interrupted change from a file or passphrase to a kept key",
        arguments: ["a", "a passphrase"])
    func interrupted(content: String) async throws {
        let site = try Site()
        let tool = site.tool
        let clone = try await clone(site)
        let key = try keyFile(site, "key", content)
        #expect(try await tool.run("rekey", clone, "--new-key-file", key).code == 0)
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
            try old.write(to: said)
        }
    }

    @Test("If no key opens the clone, rekey says so and changes nothing")
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
    }

    @Test("The old key stays, and rekey names the files that still need it")
    func oldKey() async throws {
        let site = try Site()
        let tool = site.tool
        let clone = try await clone(site)
        let first = try #require(try keys(site).first)
        let copy = site.path("copy")
        try FileManager.default.copyItem(atPath: clone, toPath: copy)
        let replaced = try await tool.run("rekey", clone)
        #expect(replaced.output.contains("Copies of the clone that were made before need the old key"))
        #expect(replaced.output.contains("outpost keys remove \(first)"), "\(replaced.output)")
        #expect(try keys(site).count == 2 && keys(site).contains(first))
        let opened = try await tool.run("status", copy)
        #expect(opened.code == 0, "\(opened.errors)")

        // As a repair leaves it.
        try FileManager.default.copyItem(atPath: clone + "/store.db", toPath: clone + "/store.db.damaged")
        let kept = try await tool.run("rekey", clone)
        #expect(kept.code == 0 && kept.output.contains("so does store.db.damaged"), "\(kept.output)")
        #expect(try keys(site).count == 3)
    }

    @Test("Changing the key of a copy leaves the original readable with its pending changes")
    func copyOfClone() async throws {
        let site = try Site()
        let tool = site.tool
        let clone = try await clone(site)
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=4711").code == 0)
        let copy = site.path("copy")
        try FileManager.default.copyItem(atPath: clone, toPath: copy)
        #expect(try await tool.run("rekey", copy).code == 0)
        for directory in [clone, copy] {
            let status = try await tool.run("status", directory)
            #expect(status.code == 0 && status.output.contains("update Products(6)"), "\(status.errors)")
        }
    }

    @Test("With a foreign outpost.json, rekey keeps a working key for each clone")
    func foreignCloneFile() async throws {
        let site = try Site()
        let tool = site.tool
        let clone = try await clone(site)
        try await site.serve()
        let other = site.path("other")
        #expect(try await tool.run("clone", site.url, other).code == 0)
        site.stop()
        try FileManager.default.removeItem(atPath: other + "/outpost.json")
        try FileManager.default.copyItem(atPath: clone + "/outpost.json", toPath: other + "/outpost.json")
        let before = try keys(site)
        let mended = try await tool.run("rekey", other)
        #expect(mended.code == 0, "\(mended.errors)")
        #expect(try before.allSatisfy(keys(site).contains))
        for directory in [clone, other] {
            let status = try await tool.run("status", directory)
            #expect(status.code == 0, "\(status.errors)")
        }
    }
}
