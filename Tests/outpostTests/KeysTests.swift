import Foundation
import Testing

@Suite("The keys of clones")
struct KeysTests {
    private struct Key: Decodable {
        struct Use: Decodable, Equatable {
            var path: String
            var state: String
        }

        var name: String
        var kind: String
        var vault: String?
        var uses: [Use]
        var isStale: Bool
    }

    private func clone(_ site: Site, _ name: String = "clone") async throws -> String {
        if site.url.isEmpty { try await site.serve() }
        let clone = site.path(name)
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        return clone
    }

    private func keys(_ site: Site) async throws -> [Key] {
        let result = try await site.tool.run("keys", "list", "--json")
        #expect(result.code == 0, "\(result.errors)")
        return try JSONDecoder().decode([Key].self, from: Data(result.output.utf8))
    }

    private func files(_ site: Site) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: site.path("home/outpost/keys")).sorted()
    }

    private func plant(_ json: String, in directory: String) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data(json.utf8).write(to: URL(fileURLWithPath: directory + "/outpost.json"))
    }

    @Test("keys list shows the clones of each key, with used copies and missing places")
    func list() async throws {
        let site = try Site()
        let clone = try await clone(site)
        let copy = site.path("copy")
        try FileManager.default.copyItem(atPath: clone, toPath: copy)
        #expect(try await site.tool.run("status", copy).code == 0)
        var listed = try await keys(site)
        #expect(listed.count == 1 && listed.first?.kind == "clone")
        #expect(
            listed.first?.uses == [
                .init(path: clone + "/store.db", state: "opens"), .init(path: copy + "/store.db", state: "opens"),
            ])
        // The copy gets a key of its own, and the original is removed by other means.
        #expect(try await site.tool.run("rekey", copy).code == 0)
        try FileManager.default.removeItem(atPath: clone)
        listed = try await keys(site)
        let (old, new) = (try #require(listed.first { $0.isStale }), try #require(listed.first { !$0.isStale }))
        #expect(old.uses == [.init(path: clone, state: "missing"), .init(path: copy, state: "other-key")])
        #expect(new.uses == [.init(path: copy + "/store.db", state: "opens")])
        let text = try await site.tool.run("keys", "list").output
        #expect(text.contains("\(clone) (missing)") && text.contains("\(copy) (other key)"), "\(text)")
    }

    @Test("keys list shows the keys of vaults, which keys remove refuses")
    func vaults() async throws {
        let site = try Site()
        #expect(try await site.tool.run("vault", "create", "machine", "--no-password").code == 0)
        let key = try #require(try await keys(site).first)
        #expect(key.kind == "vault" && key.vault == "machine")
        let refused = try await site.tool.run("keys", "remove", key.name, "--yes")
        #expect(refused.code == 1 && refused.errors.contains("outpost vault destroy machine"), "\(refused.errors)")
        #expect(try await site.tool.run("vault", "open", "machine").code == 0)
    }

    @Test("keys remove first lists the files of each key with their pending changes")
    func remove() async throws {
        let site = try Site()
        let clone = try await clone(site)
        #expect(try await site.tool.run("update", clone, "Products(6)", "Stock=4711").code == 0)
        let name = try #require(try files(site).first)
        let unasked = try await site.tool.run("keys", "remove", name)
        #expect(unasked.code == 1 && unasked.errors.contains("--yes"), "\(unasked.errors)")
        #expect(unasked.errors.contains("\(clone)/store.db with 1 change not pushed"), "\(unasked.errors)")
        #expect(try files(site) == [name])
        let removed = try await site.tool.run("keys", "remove", name, "--yes")
        #expect(removed.code == 0 && removed.errors.contains(clone), "\(removed.errors)")
        #expect(try files(site) == [])
        #expect(try await site.tool.run("keys", "remove", name, "--yes").code == 1)
        #expect(try await site.tool.run("keys", "remove").code == 2)
    }

    @Test("keys remove --stale keeps keys in use and keys without noted places")
    func stale() async throws {
        let site = try Site()
        let (first, second) = (try await clone(site, "first"), try await clone(site, "second"))
        try FileManager.default.removeItem(atPath: first)
        // As an earlier version left it.
        let former = "clone-1b4e28ba-2fa1-41d2-883f-0016d3cca427"
        try Data(String(repeating: "a", count: 64).utf8).write(
            to: URL(fileURLWithPath: site.path("home/outpost/keys/" + former)))
        let removed = try await site.tool.run("keys", "remove", "--stale", "--yes")
        #expect(removed.code == 0 && removed.output == "Removed 1 key.\n", "\(removed.errors)")
        #expect(try files(site).count == 2 && files(site).contains(former))
        #expect(try await site.tool.run("status", second).code == 0)
        let text = try await site.tool.run("keys", "list").output
        #expect(text.contains("not known"), "\(text)")
    }

    @Test("A new key file has a header, is private, and never overwrites a file")
    func newFile() async throws {
        let site = try Site()
        let file = site.path("new.key")
        #expect(try await site.tool.run("keys", "new", file).code == 0)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.wholeMatch(of: /outpost key 1\n[0-9a-f]{64}\n/) != nil)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        #expect(try await site.tool.run("keys", "new", file).code == 1)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
        let (target, link) = (site.path("target"), site.path("link"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        #expect(try await site.tool.run("keys", "new", link).code == 1)
        #expect(!FileManager.default.fileExists(atPath: target))
        let open = site.path("open")
        try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: open)
        let refused = try await site.tool.run("keys", "new", open + "/key")
        #expect(refused.code == 1 && refused.errors.contains("other users can replace files"), "\(refused.errors)")
        #expect(try await site.tool.run("keys", "new", open + "/key", "--allow-readable-secrets").code == 0)
        // It opens as a key: no passphrase is derived from it.
        try await site.serve()
        let clone = site.path("clone")
        let cloned = try await site.tool.run("clone", site.url, clone, "--key-file", file)
        #expect(cloned.code == 0 && cloned.output.contains("Its key is in"), "\(cloned.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: clone + "/store.db"))[1024 + 16 + 5] == 0)
    }

    @Test("A text of 31 characters and a line end is a passphrase for a new clone, and a short one is refused")
    func passphraseFile() async throws {
        let site = try Site()
        try await site.serve()
        let (file, clone) = (site.path("passphrase"), site.path("clone"))
        try Data("correct horse battery staple 12\n".utf8).write(to: URL(fileURLWithPath: file))
        let cloned = try await site.tool.run("clone", site.url, clone, "--key-file", file)
        #expect(cloned.code == 0 && cloned.output.contains("the passphrase in"), "\(cloned.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: clone + "/store.db"))[1024 + 16 + 5] == 1)
        #expect(try await site.tool.run("status", clone, "--key-file", file).code == 0)
        try Data("a\n".utf8).write(to: URL(fileURLWithPath: file))
        for arguments in [["clone", site.url, site.path("other")], ["rekey", clone]] {
            let option = arguments[0] == "clone" ? ["--key-file", file] : ["--key-file", file, "--new-key-file", file]
            let refused = try await site.tool.run(arguments + option)
            #expect(refused.code != 0, "\(arguments)")
            if arguments[0] == "clone" {
                #expect(refused.errors.contains("at least 8 are needed"), "\(refused.errors)")
                #expect(!FileManager.default.fileExists(atPath: site.path("other/store.db")))
            }
        }
    }

    @Test(
        "clone and rekey never remove a key because of outpost.json",
        arguments: ["NAME", "vault-KEY", "../keys/NAME", "NAME.tries"])
    func plantedName(form: String) async throws {
        let site = try Site()
        let victim = try await clone(site, "victim")
        #expect(try await site.tool.run("vault", "create", "login", "--no-password").code == 0)
        let before = try files(site)
        let name = try #require(before.first { $0.hasPrefix("clone-") })
        let vault = try #require(before.first { $0.hasPrefix("vault-") && !$0.hasSuffix(".tries") })
        let planted = form.replacing("vault-KEY", with: vault).replacing("NAME", with: name)
        let directory = site.path("planted")
        try plant("{\"isUnfinished\":true,\"key\":{\"vault\":{\"name\":\"\(planted)\"}}}", in: directory)
        _ = try await site.tool.run("rekey", directory)
        _ = try await site.tool.run("status", directory)
        let cloned = try await site.tool.run("clone", site.url, directory)
        #expect(cloned.code == 0, "\(cloned.errors)")
        #expect(try before.allSatisfy(files(site).contains))
        #expect(try await site.tool.run("status", victim).code == 0)
        #expect(try await site.tool.run("vault", "open", "login").code == 0)
    }

    @Test("A complete clone with an exchanged outpost.json is not removed")
    func plantedUnfinished() async throws {
        let site = try Site()
        let victim = try await clone(site)
        #expect(try await site.tool.run("update", victim, "Products(6)", "Stock=4711").code == 0)
        let path = URL(fileURLWithPath: victim + "/outpost.json")
        let original = try Data(contentsOf: path)
        let planted = String(decoding: original, as: UTF8.self)
            .replacing("{\n  \"key\"", with: "{\n  \"isUnfinished\": true,\n  \"key\"")
        #expect(planted.contains("isUnfinished"))
        try Data(planted.utf8).write(to: path)
        let refused = try await site.tool.run("clone", site.url, victim)
        #expect(refused.code == 1 && refused.errors.contains("may not be empty"), "\(refused.errors)")
        try original.write(to: path)
        #expect(try await site.tool.run("status", victim).output.contains("update Products(6)"))
    }

    @Test("outpost.json is limited in size, not a link, and private")
    func cloneFile() async throws {
        let site = try Site()
        let clone = try await clone(site)
        let path = clone + "/outpost.json"
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        let content = try Data(contentsOf: URL(fileURLWithPath: path))
        try (content + Data(repeating: 0x20, count: 16_384 - content.count)).write(to: URL(fileURLWithPath: path))
        #expect(try await site.tool.run("status", clone).code == 0)
        try (content + Data(repeating: 0x20, count: 16_385 - content.count)).write(to: URL(fileURLWithPath: path))
        let long = try await site.tool.run("status", clone)
        #expect(long.code == 1 && long.errors.contains("longer than 16384 bytes"), "\(long.errors)")
        try FileManager.default.removeItem(atPath: path)
        try content.write(to: URL(fileURLWithPath: site.path("elsewhere.json")))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: site.path("elsewhere.json"))
        let linked = try await site.tool.run("status", clone)
        #expect(linked.code == 1 && linked.errors.contains("symbolic link"), "\(linked.errors)")
    }
}
