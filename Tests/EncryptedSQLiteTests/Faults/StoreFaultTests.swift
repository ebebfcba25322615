import CSQLite
import EncryptedSQLite
import FaultInjection
import Foundation
import Secrets
import Testing

/// A database on a failing disk: encrypted, or plain as a control.
private struct Patient: CustomTestStringConvertible {
    var isEncrypted: Bool
    var mode: String
    var testDescription: String { (isEncrypted ? "encrypted, " : "plain, ") + mode }

    static let all = [true, false].flatMap { encrypted in
        ["wal", "delete", "truncate", "persist"].map { Patient(isEncrypted: encrypted, mode: $0) }
    }

    /// The result of a workload.
    struct Run {
        var disk: FaultDisk
        var folder: Folder
        /// The number of transactions that SQLite reported as committed.
        var committed: Int
        var failure: SQLiteFailure?
        /// The connection that stays open after the failure, so that closing it syncs nothing.
        var connection: Connection?
    }

    static let transactions = 12
    private static let key = EncryptionKey.generate()

    func open(_ folder: Folder) throws -> Connection {
        guard isEncrypted else {
            return try Connection("file:" + folder.path("a.db") + "?vfs=" + FaultDisk.vfsName)
        }
        try EncryptedDatabase.unlock(at: folder.path("a.db"), with: .key(Self.key))
        return try Connection.encrypted(folder.path("a.db"))
    }

    /// Creates a closed database with a table, on an intact disk.
    private func make(in folder: Folder) throws {
        if isEncrypted { try EncryptedDatabase.create(at: folder.path("a.db"), key: .key(Self.key)) }
        let database =
            isEncrypted
            ? try Connection.encrypted(folder.path("a.db"))
            : try Connection(folder.path("a.db"), flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        try database.execute("PRAGMA journal_mode = \(mode); CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT)")
        try database.execute("CREATE INDEX i ON t(body); INSERT INTO t VALUES (0, 'transaction 0')")
        database.close()
    }

    /// Runs transactions until one fails. Each transaction changes rows, inserts rows that exceed the cache,
    /// and deletes rows.
    ///
    /// - Parameter goesOn: Whether to continue after the first failure, starting from the current content.
    func run(_ fault: Fault?, goesOn: Bool = false) throws -> Run {
        FaultDisk.register()
        try EncryptedDatabase.stack(over: FaultDisk.vfsName)
        let folder = try Folder(inMemory: true)
        try make(in: folder)
        let disk = try FaultDisk(folder: folder.url.path)
        if let fault { disk.break(fault) }
        var run = Run(disk: disk, folder: folder, committed: 0)
        do {
            let database = try open(folder)
            // With EXTRA, SQLite syncs the deletion of a journal. With FULL it does not, so a power failure can
            // undo the deletion.
            try database.execute("PRAGMA journal_mode = \(mode); PRAGMA synchronous = EXTRA")
            try database.execute("PRAGMA cache_size = 6; PRAGMA wal_autocheckpoint = 20")
            if goesOn { run.connection = database }
            var number = 1
            while number <= Self.transactions {
                do {
                    try transact(number, in: database)
                    run.committed = number
                    number += 1
                } catch let failure as SQLiteFailure where goesOn && run.failure == nil {
                    run.failure = failure
                    try? database.execute("ROLLBACK")
                    number = try last(in: database) + 1
                }
            }
        } catch let failure as SQLiteFailure {
            run.failure = failure
        } catch is EncryptedDatabaseError where disk.isOver {
            run.failure = SQLiteFailure(code: SQLITE_IOERR, message: "the key block")
        }
        return run
    }

    private func transact(_ number: Int, in database: Connection) throws {
        try database.execute("BEGIN; UPDATE t SET body = 'transaction \(number)' WHERE id = 0")
        try database.insert((number * 100)..<(number * 100 + 20), marker: "row of \(number)")
        try database.execute("DELETE FROM t WHERE id >= 100 AND id % 7 = \(number % 7)")
        try database.execute("COMMIT")
    }

    /// Returns the number of the last transaction.
    private func last(in database: Connection) throws -> Int {
        let text = try database.values("SELECT body FROM t WHERE id = 0").first
        return Int(text?.split(separator: " ").last ?? "") ?? -1
    }

    /// Returns the number of the last transaction and all rows.
    func content(_ folder: Folder) throws -> (last: Int, rows: [String]) {
        let database = try open(folder)
        #expect(try database.values("PRAGMA integrity_check") == ["ok"])
        return (try last(in: database), try database.values("SELECT id, body FROM t"))
    }

    /// Returns the content after each transaction on an intact disk.
    func states() throws -> [[String]] {
        var states: [[String]] = []
        for number in 0...Self.transactions {
            let folder = try Folder(inMemory: true)
            try make(in: folder)
            let database =
                isEncrypted ? try Connection.encrypted(folder.path("a.db")) : try Connection(folder.path("a.db"))
            for number in stride(from: 1, through: number, by: 1) {
                try database.execute("UPDATE t SET body = 'transaction \(number)' WHERE id = 0")
                try database.insert((number * 100)..<(number * 100 + 20), marker: "row of \(number)")
                try database.execute("DELETE FROM t WHERE id >= 100 AND id % 7 = \(number % 7)")
            }
            states.append(try database.values("SELECT id, body FROM t"))
        }
        return states
    }
}

/// Returns the operations that a test tries: all of them if `OUTPOST_FAULTS` is `all`, as in `make faults`.
private func chosen(_ count: Int, _ some: Int) -> [Int] {
    let all = ProcessInfo.processInfo.environment["OUTPOST_FAULTS"] == "all"
    let step = all ? 1 : max(1, count / some)
    // The step selects about `some` operations.
    return Array(stride(from: 1, through: count, by: step))
}

@Suite("On a disk that fails, a database is as it was before a transaction or after it")
struct StoreFaultTests {
    /// Checks that the database opens after a power failure and is intact. It must contain every transaction up
    /// to one that was committed or in progress.
    private func check(
        _ patient: Patient, _ run: Patient.Run, states: [[String]], _ remains: Remains, durable: Bool = true,
        _ what: Comment
    ) throws {
        let after = try Folder(inMemory: true)
        try run.disk.restart(into: after.url.path, with: remains)
        let found: (last: Int, rows: [String])
        do {
            found = try patient.content(after)
        } catch {
            Issue.record("\(error) \(patient.testDescription) \(remains) \(what)")
            return
        }
        #expect(found.rows == states[max(0, found.last)], "a mixture: \(patient.testDescription) \(remains) \(what)")
        if durable { #expect(found.last >= run.committed, "lost: \(patient.testDescription) \(remains) \(what)") }
        #expect(found.last <= run.committed + 1, what)
    }

    @Test("Committed data survive a power failure at any operation", arguments: Patient.all)
    fileprivate func crash(patient: Patient) throws {
        let states = try patient.states()
        let whole = try patient.run(nil)
        #expect(whole.failure == nil && whole.committed == Patient.transactions)
        let count = whole.disk.operations
        #expect(count > 100)
        for number in chosen(count, 25) {
            let run = try patient.run(.crash(at: number))
            #expect(run.failure != nil || run.disk.isOver)
            for remains in [Remains.nothing, .everything, .sectors(seed: UInt64(number))] {
                try check(patient, run, states: states, remains, "crash at \(number)")
            }
        }
    }

    @Test("After a short write, a failed sync or a full disk, the transaction fails and later ones work")
    func errors() throws {
        for patient in Patient.all {
            let states = try patient.states()
            let count = try patient.run(nil).disk.operations
            for number in chosen(count, 12) {
                for fault in [Fault.shortWrite(at: number), .failedSync(at: number), .diskFull(from: number)] {
                    let run = try patient.run(fault)
                    // After any failure, the content of the disk is a valid state, even without a restart.
                    run.disk.mend()
                    let found = try patient.content(run.folder)
                    #expect(found.rows == states[max(0, found.last)], "\(patient.testDescription) \(fault)")
                    #expect(found.last >= run.committed && found.last <= run.committed + 1)
                    // The database can be written again.
                    let database = try patient.open(run.folder)
                    try database.execute("INSERT INTO t VALUES (5000, 'again')")
                    #expect(try database.values("SELECT body FROM t WHERE id = 5000") == ["again"])
                }
            }
        }
    }

    @Test("After a failed sync, further transactions and a power failure, committed data are there")
    func failedSyncs() throws {
        for patient in Patient.all {
            let states = try patient.states()
            let count = try patient.run(nil).disk.operations
            var fired = 0
            for number in chosen(count, 12) {
                let run = try patient.run(.failedSync(at: number), goesOn: true)
                fired += run.disk.fired.count
                for remains in [Remains.nothing, .sectors(seed: UInt64(number))] {
                    try check(patient, run, states: states, remains, "failed sync at \(number)")
                }
                run.connection?.close()
            }
            #expect(fired > 1)
        }
    }

    @Test("No later sync makes the pages of a failed sync durable")
    func lostForGood() throws {
        FaultDisk.register()
        let folder = try Folder(inMemory: true)
        let disk = try FaultDisk(folder: folder.url.path)
        let database = try Connection(
            "file:" + folder.path("a.db") + "?vfs=" + FaultDisk.vfsName,
            flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        try database.execute("PRAGMA journal_mode = wal; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0")
        try database.execute("CREATE TABLE t(id INTEGER PRIMARY KEY)")
        // These changes are not synced, and the next transaction follows them in the log.
        try database.execute("PRAGMA synchronous = NORMAL; INSERT INTO t VALUES (1)")
        #expect(disk.fired == [])
        disk.break(.failedSync(at: 0))
        try database.execute("PRAGMA synchronous = FULL")
        #expect(throws: SQLiteFailure.self) { try database.execute("INSERT INTO t VALUES (2)") }
        #expect(disk.fired == [.failedSync(at: 0)])
        #expect(!disk.isBroken)
        try database.execute("INSERT INTO t VALUES (3)")
        func left(_ remains: Remains) throws -> [String] {
            let after = try Folder(inMemory: true)
            try disk.restart(into: after.url.path, with: remains)
            return try Connection(after.path("a.db")).values("SELECT id FROM t ORDER BY id")
        }
        // The log ends at the first missing frame, although later frames were synced.
        #expect(try left(.nothing) == [])
        #expect(try left(.everything) == [])
        #expect(try database.values("SELECT id FROM t ORDER BY id") == ["1", "3"])
        database.close()
    }

    @Test("Rule 4: after false syncs and a power failure, the database is complete or refuses to be read")
    func lies() throws {
        var whole = 0
        for patient in Patient.all where patient.isEncrypted {
            let states = try patient.states()
            let count = try patient.run(nil).disk.operations
            for number in chosen(count, 12) {
                let run = try patient.run(.lyingSync(from: number))
                for seed in 0..<3 {
                    let after = try Folder(inMemory: true)
                    try run.disk.restart(into: after.url.path, with: .sectors(seed: UInt64(seed)))
                    guard let database = try? patient.open(after),
                        (try? database.values("PRAGMA integrity_check")) == ["ok"],
                        let rows = try? database.values("SELECT id, body FROM t")
                    else { continue }
                    // No row is read that was never written.
                    #expect(Set(rows).isSubset(of: Set(states.joined())))
                    whole += 1
                }
            }
        }
        #expect(whole > 0)
    }
}
