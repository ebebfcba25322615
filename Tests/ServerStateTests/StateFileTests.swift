import Foundation
import GRDB
import Secrets
import Testing

@testable import ServerState

@Suite("The files of the state")
struct StateFileTests {
    private let keys = ServerKeys.generate()

    private func open(_ folder: TestFolder, _ keys: ServerKeys? = nil) async throws -> SQLiteServerState {
        let state = try SQLiteServerState.open(folder: folder.path, keys: keys ?? self.keys)
        _ = try await state.migrate(dryRun: false)
        return state
    }

    @Test("A dry run of the migration lists the steps and writes nothing")
    func dryRun() async throws {
        let folder = try TestFolder()
        let state = try SQLiteServerState.open(folder: folder.path, keys: keys)
        #expect(try await state.migrate(dryRun: true).steps == ["first tables", "device services"])
        #expect(try await state.migrate(dryRun: false).from == 0)
        #expect(try await state.migrate(dryRun: false).steps == [])
        await state.close()
    }

    @Test("Other keys do not open the files")
    func keys() async throws {
        let folder = try TestFolder()
        let state = try await open(folder)
        await state.close()
        await #expect(throws: ServerStateError.self) { try await open(folder, .generate()) }
    }

    @Test("No planted secret stands in any file")
    func secrets() async throws {
        let folder = try TestFolder()
        let state = try await open(folder)
        let planted = "planted-secret-9471"
        try await state.operators.setSecret(Secret(Array(planted.utf8)), named: "db")
        _ = try await state.operators.add(OperatorRecord(name: planted, password: planted, role: .viewer))
        await state.close()
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files.contains("state.db") && files.contains("feeds.db"))
        for file in files {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + file))
            #expect(bytes.range(of: Data(planted.utf8)) == nil, "\(file)")
        }
    }

    @Test("Restoring an older state.db alone starts a new incarnation (point 3)")
    func putBack() async throws {
        let folder = try TestFolder()
        var state = try await open(folder)
        #expect(try await state.enter() == false)
        await state.close()
        let old = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/state.db"))
        state = try await open(folder)
        #expect(try await state.enter() == false)
        let before = try await state.incarnation()
        await state.close()
        try FileManager.default.removeItem(atPath: folder.path + "/state.db")
        for suffix in ["-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: folder.path + "/state.db" + suffix)
        }
        try old.write(to: URL(fileURLWithPath: folder.path + "/state.db"))
        state = try await open(folder)
        #expect(try await state.enter())
        #expect(try await state.incarnation().number > before.number)
        await state.close()
    }

    @Test("A copy contains the committed state and opens with the same keys (point 39)")
    func copies() async throws {
        let folder = try TestFolder()
        let state = try await open(folder)
        _ = try await state.applications.add(named: "shop", title: "Shop", domain: "default", state: .active)
        let target = try TestFolder()
        try await state.copy(to: target.path)
        await state.close()
        let copy = try await open(target)
        #expect(try await copy.applications.all().map(\.title) == ["Shop"])
        await copy.close()
    }

    @Test("A sealed value in another row does not open (point 39)")
    func moved() async throws {
        let state = try SQLiteServerState.inMemory()
        _ = try await state.migrate(dryRun: false)
        for name in ["a", "b"] { try await state.operators.setSecret(Secret(Array(name.utf8)), named: name) }
        try await state.stateFile.write { database in
            try database.execute(
                sql: "update secret set sealed = (select s.sealed from secret s where s.name = 'b') where name = 'a'")
        }
        await #expect(throws: ServerStateError.sealedValue(table: "secret", key: "a/1")) {
            try await state.operators.secret("a")
        }
        await state.close()
    }

    @Test("A changed or removed audit entry is found (point 24)")
    func audit() async throws {
        for sql in [
            "update audit set target = 'other' where number = 2", "delete from audit where number = 2",
            "update audit set at = at + 1 where number = 3",
            "insert or replace into audit_edge values (1, 2, x'00', x'00')",
        ] {
            let state = try SQLiteServerState.inMemory()
            _ = try await state.migrate(dryRun: false)
            for index in 1...3 {
                _ = try await state.operators.audit(AuditNote(actor: "a", action: "b", target: "\(index)"))
            }
            try await state.stateFile.write { try $0.execute(sql: sql) }
            guard case .broken = try await state.operators.verifyAudit(logged: nil) else {
                Issue.record("not found: \(sql)")
                continue
            }
            await state.close()
        }
    }

    @Test("A kill between the two files of a migration or incarnation is repaired at the next start")
    func halfDone() async throws {
        let folder = try TestFolder()
        var state = try await open(folder)
        _ = try await state.enter()
        await state.close()
        // The feeds are written first: a state.db from before is what a kill between both leaves.
        let files = ["state.db", "nonce"].map { URL(fileURLWithPath: folder.path + "/" + $0) }
        let before = try files.map { try Data(contentsOf: $0) }
        state = try await open(folder)
        let begun = try await state.beginIncarnation()
        await state.close()
        for suffix in ["-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: folder.path + "/state.db" + suffix)
        }
        for (file, bytes) in zip(files, before) { try bytes.write(to: file) }
        state = try await open(folder)
        #expect(try await state.enter())
        #expect(try await state.incarnation().number > begun.number)
        await state.close()
    }
}
