import Foundation
import MobileServer
import Secrets
import ServerState
import Testing

@Suite("The data folder and its backup")
struct ServerFolderTests {
    private static func folder() -> ServerFolder {
        ServerFolder(
            path: FileManager.default.temporaryDirectory.appendingPathComponent("server-\(UUID().uuidString)").path)
    }

    private static func remove(_ folders: ServerFolder...) {
        for folder in folders { try? FileManager.default.removeItem(atPath: folder.path) }
    }

    private static func permissions(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("Only the owner can read the folder and its keys")
    func permissions() async throws {
        let folder = Self.folder()
        defer { Self.remove(folder) }
        try await folder.create()
        #expect(try Self.permissions(folder.path) == 0o700)
        for name in ["master.key", "keys"] { #expect(try Self.permissions(folder.file(name)) == 0o600) }
    }

    @Test("A new master key opens the same state, and the old key does not (point 13)")
    func rekey() async throws {
        let folder = Self.folder()
        defer { Self.remove(folder) }
        try await folder.create()
        var (state, keys) = try await folder.open(ServerConfiguration())
        _ = try await state.migrate(dryRun: false)
        let code = keys.authenticationCode(for: [1, 2, 3], .tokens)
        _ = try await state.applications.add(named: "shop", title: "", domain: "default", state: .active)
        await state.close()
        let old = try await folder.masterKey(.file("master.key"))
        let new = KeySource.key(.generate())
        try folder.rekey(from: old, to: new)
        #expect(throws: ServerKeyError.self) { try ServerKeyFile(folder: folder.path).keys(master: old) }
        keys = try ServerKeyFile(folder: folder.path).keys(master: new)
        #expect(keys.authenticationCode(for: [1, 2, 3], .tokens) == code, "tokens stay valid")
        state = try SQLiteServerState.open(folder: folder.path, keys: keys)
        #expect(try await state.applications.all().map(\.name) == ["shop"])
        await state.close()
    }

    @Test("A backup contains the state, and neither the master key nor plain secrets")
    func backup() async throws {
        let (folder, other) = (Self.folder(), Self.folder())
        defer { Self.remove(folder, other) }
        try await folder.create()
        let (state, _) = try await folder.open(ServerConfiguration())
        _ = try await state.migrate(dryRun: false)
        let planted = "planted-secret-2604"
        try await state.operators.setSecret(Secret(Array(planted.utf8)), named: "erp")
        let path = folder.file("b.backup")
        let size = try await ServerBackup.write(folder, state: state, to: path)
        let before = try await state.incarnation()
        await state.close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(Int64(bytes.count) == size && size > 8192)
        let master = try Data(contentsOf: URL(fileURLWithPath: folder.file("master.key")))
        let digits = try #require(String(decoding: master, as: UTF8.self).split(separator: "\n").last)
        for secret in [planted, String(digits)] { #expect(bytes.range(of: Data(secret.utf8)) == nil) }
        #expect(!FileManager.default.fileExists(atPath: folder.file(".backup")))

        try ServerBackup.restore(path, to: other)
        try master.write(to: URL(fileURLWithPath: other.file("master.key")))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: other.file("master.key"))
        let (restored, _) = try await other.open(ServerConfiguration())
        #expect(try await restored.operators.secret("erp")?.reveal() == Array(planted.utf8))
        #expect(try await restored.enter(), "the nonce is missing, so that a new incarnation begins (point 3)")
        #expect(try await restored.incarnation().number > before.number)
        await restored.close()
    }

    @Test("A backup neither replaces a file nor follows a link")
    func links() async throws {
        let folder = Self.folder()
        defer { Self.remove(folder) }
        try await folder.create()
        let (state, _) = try await folder.open(ServerConfiguration())
        _ = try await state.migrate(dryRun: false)
        let (target, link) = (folder.file("target"), folder.file("link"))
        try "kept".write(toFile: target, atomically: true, encoding: .utf8)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        for path in [target, link] {
            await #expect(throws: ServerFolderError.self) {
                try await ServerBackup.write(folder, state: state, to: path)
            }
        }
        await state.close()
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "kept")
    }

    @Test("A cut or changed backup is refused, and nothing is written")
    func damaged() async throws {
        let (folder, other) = (Self.folder(), Self.folder())
        defer { Self.remove(folder, other) }
        try await folder.create()
        let (state, _) = try await folder.open(ServerConfiguration())
        _ = try await state.migrate(dryRun: false)
        let path = folder.file("b.backup")
        try await ServerBackup.write(folder, state: state, to: path)
        await state.close()
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        var changed = whole
        changed[whole.count / 2] ^= 1
        for bytes in [whole.dropLast(), changed, Data("outpost server backup 1\n".utf8), Data()] {
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            #expect(throws: ServerFolderError.self) { try ServerBackup.restore(path, to: other) }
            #expect(other.isEmpty)
        }
    }

    @Test("A backup is not restored into a folder with files")
    func notEmpty() async throws {
        let folder = Self.folder()
        defer { Self.remove(folder) }
        try await folder.create()
        #expect(throws: ServerFolderError.notEmpty(path: folder.path)) {
            try ServerBackup.restore("/dev/null", to: folder)
        }
    }
}
