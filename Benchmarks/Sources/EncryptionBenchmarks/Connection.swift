import Foundation

/// A connection to a database, and the work that is measured on it.
final class Connection {
    private let library: SQLiteLibrary
    private var handle: OpaquePointer?

    /// - Parameters:
    ///   - uri: A path or URI.
    ///   - setUp: SQL to begin with, such as the key.
    init(_ uri: String, library: SQLiteLibrary, setUp: String) throws(Failure) {
        self.library = library
        // Reading, writing, creating, URIs.
        guard library.open(uri, &handle, 0x2 | 0x4 | 0x40, nil) == 0 else { throw failure("opening \(uri)") }
        try execute(setUp + "PRAGMA temp_store = MEMORY; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
    }

    deinit {
        _ = library.close(handle)
    }

    func execute(_ sql: String) throws(Failure) {
        guard library.execute(handle, sql, nil, nil, nil) == 0 else { throw failure(sql) }
    }

    /// - Parameter megabytes: In units of 2^20 bytes.
    func setCache(megabytes: Double) throws(Failure) { try execute("PRAGMA cache_size = -\(Int(megabytes * 1024))") }

    private func failure(_ what: String) -> Failure {
        Failure("\(what): \(library.message(handle).map { String(cString: $0) } ?? "?")")
    }

    private func prepare(_ sql: String) throws(Failure) -> OpaquePointer? {
        var statement: OpaquePointer?
        guard library.prepare(handle, sql, -1, &statement, nil) == 0 else { throw failure(sql) }
        return statement
    }

    // MARK: The work

    /// Six columns, about 180 bytes a row, and an index.
    func createTable() throws(Failure) {
        try execute(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, customer INTEGER, amount REAL, name TEXT, street TEXT, note TEXT);
            CREATE INDEX i ON t(customer);
            """)
    }

    /// Inserts rows, 10,000 a transaction, as a download does, and moves the log into the database.
    func insert(_ count: Int) throws(Failure) {
        let statement = try prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)")
        defer { _ = library.finalize(statement) }
        var random = Sequence()
        let note = String(repeating: "n", count: 80)
        for id in 1...count {
            if id % 10_000 == 1 { try execute("BEGIN") }
            _ = library.bindInteger(statement, 1, Int64(id))
            _ = library.bindInteger(statement, 2, Int64(random.next() % 100_000))
            _ = library.bindDouble(statement, 3, Double(id) / 7)
            // -1: SQLite copies the text.
            _ = library.bindText(statement, 4, "Customer number \(id)", -1, -1)
            _ = library.bindText(statement, 5, "Street of the people \(id % 1000)", -1, -1)
            _ = library.bindText(statement, 6, note, -1, -1)
            guard library.step(statement) == 101 else { throw failure("inserting") }
            _ = library.reset(statement)
            if id % 10_000 == 0 || id == count { try execute("COMMIT") }
        }
        try execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Changes one row in a transaction of its own, again and again.
    func change(_ count: Int, of rows: Int) throws(Failure) {
        let statement = try prepare("UPDATE t SET amount = amount + 1 WHERE id = ?")
        defer { _ = library.finalize(statement) }
        var random = Sequence()
        for _ in 0..<count {
            _ = library.bindInteger(statement, 1, Int64(random.next() % UInt64(rows)) + 1)
            guard library.step(statement) == 101 else { throw failure("changing") }
            _ = library.reset(statement)
        }
    }

    /// Reads single rows by key, at random, in one transaction.
    ///
    /// - Returns: A sum that shows that the same was read.
    func read(_ count: Int, of rows: Int) throws(Failure) -> Int64 {
        let statement = try prepare("SELECT customer, length(note) FROM t WHERE id = ?")
        defer { _ = library.finalize(statement) }
        try execute("BEGIN")
        var random = Sequence()
        var sum: Int64 = 0
        for _ in 0..<count {
            _ = library.bindInteger(statement, 1, Int64(random.next() % UInt64(rows)) + 1)
            guard library.step(statement) == 100 else { throw failure("reading") }
            sum &+= library.integer(statement, 0) &+ library.integer(statement, 1)
            _ = library.reset(statement)
        }
        try execute("COMMIT")
        return sum
    }

    /// Reads all rows in the order of the key.
    func scan() throws(Failure) -> Int64 {
        let statement = try prepare("SELECT sum(customer), sum(length(note)) FROM t NOT INDEXED")
        defer { _ = library.finalize(statement) }
        guard library.step(statement) == 100 else { throw failure("scanning") }
        return library.integer(statement, 0) &+ library.integer(statement, 1)
    }
}

/// Numbers that look random and are the same in every run (SplitMix64).
struct Sequence {
    private var state: UInt64 = 42

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
