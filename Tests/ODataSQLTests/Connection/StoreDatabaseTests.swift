import Foundation
import GRDB
import Secrets
import Synchronization
import Testing

@testable import ODataSQL

@Suite("The connections of a store")
struct StoreDatabaseTests {
    private func temporaryPath() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID().uuidString).db").path
    }

    private func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    @Test("have the documented caches, log and durability")
    func pragmas() async throws {
        let path = temporaryPath()
        defer { remove(path) }
        let store = try StoreDatabase.open(path: path, protection: .unencrypted)
        let reader = try await store.read { try Int.fetchOne($0, sql: "PRAGMA cache_size") }
        #expect(reader == -8192)
        try await store.write { database in
            try #expect(Int.fetchOne(database, sql: "PRAGMA cache_size") == -16384)
            try #expect(Int.fetchOne(database, sql: "PRAGMA synchronous") == 2)
            try #expect(Int.fetchOne(database, sql: "PRAGMA foreign_keys") == 0)
            try #expect(Int.fetchOne(database, sql: "PRAGMA temp_store") == 2)
            try #expect(String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal")
            try #expect(Int.fetchOne(database, sql: "PRAGMA wal_autocheckpoint") == 4096)
        }
        try store.close()
    }

    @Test("leave a single file when they are closed", arguments: [false, true])
    func closed(reads: Bool) async throws {
        let path = temporaryPath()
        defer { remove(path) }
        let store = try StoreDatabase.open(path: path, protection: .unencrypted)
        try await store.write { try $0.execute(sql: "CREATE TABLE t (x); INSERT INTO t VALUES (7)") }
        if reads { _ = try await store.read { try Int.fetchOne($0, sql: "SELECT x FROM t") } }
        try store.close()
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
        let again = try StoreDatabase.open(path: path, protection: .unencrypted)
        #expect(try await again.read { try Int.fetchOne($0, sql: "SELECT x FROM t") } == 7)
        try again.close()
    }

    @Test("use NORMAL for bulk writes and FULL afterwards, also after a failure (rule 4)")
    func bulk() async throws {
        let path = temporaryPath()
        defer { remove(path) }
        let store = try StoreDatabase.open(path: path, protection: .unencrypted)
        let inside = try await store.bulkWrite { database in
            try database.execute(sql: "CREATE TABLE t (x)")
            return try Int.fetchOne(database, sql: "PRAGMA synchronous")
        }
        #expect(inside == 1)
        await #expect(throws: StoreError.self) {
            try await store.bulkWrite {
                try $0.execute(sql: "INSERT INTO t VALUES (1); INSERT INTO missing VALUES (1)")
            }
        }
        try await store.write { database in
            try #expect(Int.fetchOne(database, sql: "PRAGMA synchronous") == 2)
            try #expect(Int.fetchOne(database, sql: "SELECT COUNT(*) FROM t") == 0)
        }
        try store.close()
    }

    @Test("pass a condition only to the callers that request it")
    func condition() async throws {
        let path = temporaryPath()
        defer { remove(path) }
        let store = try StoreDatabase.open(path: path, protection: .unencrypted)
        let refused = store.requiring { _ in throw StoreError.readOnly }
        await #expect(throws: StoreError.readOnly) { try await refused.read { _ in } }
        await #expect(throws: StoreError.readOnly) { try await refused.write { _ in } }
        await #expect(throws: StoreError.readOnly) { try await refused.bulkWrite { _ in } }
        let other = refused.requiring { _ in }
        try await other.bulkWrite { try $0.execute(sql: "CREATE TABLE t (x)") }
        try await store.write { try $0.execute(sql: "INSERT INTO t VALUES (7)") }
        await #expect(throws: StoreError.readOnly) { try await refused.read { _ in } }
        refused.require { _ in }
        #expect(try await refused.read { try Int.fetchOne($0, sql: "SELECT x FROM t") } == 7)
        try refused.close()
    }

    @Test("need the same stack for a condition after any number of transactions")
    func conditionAsDeepAsBefore() async throws {
        let path = temporaryPath()
        defer { remove(path) }
        let depth = Mutex(0)
        let store = try StoreDatabase.open(path: path, protection: .unencrypted).requiring { _ in
            depth.withLock { $0 = Thread.callStackReturnAddresses.count }
        }
        try await store.read { _ in }
        let first = depth.withLock(\.self)
        for _ in 0..<100 { try await store.read { _ in } }
        #expect(depth.withLock(\.self) <= first + 10)
        try store.close()
    }

    @Test("return to FULL after a cancelled bulk write (rule 4)")
    func cancelled() async throws {
        let path = temporaryPath()
        defer { remove(path) }
        let store = try StoreDatabase.open(path: path, protection: .unencrypted)
        try await store.write { try $0.execute(sql: "CREATE TABLE t (x)") }
        let (started, signal) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await store.bulkWrite { database in
                signal.finish()
                while true { try database.execute(sql: "INSERT INTO t VALUES (1)") }
            }
        }
        for await _ in started {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await store.write { database in
            try #expect(Int.fetchOne(database, sql: "PRAGMA synchronous") == 2)
            try #expect(Int.fetchOne(database, sql: "SELECT COUNT(*) FROM t") == 0)
        }
        try store.close()
    }

    @Test("report the fault of a file")
    func refusals() throws {
        let path = temporaryPath()
        defer { remove(path) }
        var options = StoreDatabase.Options()
        options.createsFile = false
        #expect(throws: StoreError.notFound(path: path)) {
            try StoreDatabase.open(path: path, protection: .unencrypted, options: options)
        }
        try Data("this is no database, but long enough to be read as one".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: StoreError.protectionMismatch(path: path, isEncrypted: true)) {
            try StoreDatabase.open(path: path, protection: .unencrypted)
        }
    }

    @Test("distinguish a missing file, an unreadable file, a full device and a damaged page")
    func resultCodes() throws {
        let path = temporaryPath()
        defer { remove(path) }
        func error(_ code: ResultCode) -> StoreError { StoreError(DatabaseError(resultCode: code), path: path) }
        #expect(error(.SQLITE_CANTOPEN) == .notFound(path: path))
        try Data().write(to: URL(fileURLWithPath: path))
        #expect(error(.SQLITE_CANTOPEN).errorCode.rawValue == "store.device")
        #expect(error(.SQLITE_IOERR_SHMSIZE) == .diskFull)
        #expect(error(.SQLITE_IOERR_DATA).failureKind == .damaged)
        #expect(error(.SQLITE_IOERR_FSYNC).errorCode.rawValue == "store.device")
    }

    @Test("refuse a wrong key, and distinguish plain and encrypted stores")
    func encrypted() async throws {
        let path = temporaryPath()
        defer { remove(path) }
        let key = EncryptionKey.generate()
        do {
            let store = try StoreDatabase.open(path: path, protection: .encrypted(.key(key)))
            try await store.write {
                try $0.execute(sql: "CREATE TABLE secret (x); INSERT INTO secret VALUES ('plain')")
            }
            try store.close()
        }
        let content = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(content.range(of: Data("secret".utf8)) == nil)
        let again = try StoreDatabase.open(path: path, protection: .encrypted(.key(key)))
        #expect(try await again.read { try String.fetchOne($0, sql: "SELECT x FROM secret") } == "plain")
        try again.close()
        #expect(throws: StoreError.wrongKey(path: path)) {
            try StoreDatabase.open(path: path, protection: .encrypted(.key(.generate())))
        }
        #expect(throws: StoreError.protectionMismatch(path: path, isEncrypted: true)) {
            try StoreDatabase.open(path: path, protection: .unencrypted)
        }
    }
}
