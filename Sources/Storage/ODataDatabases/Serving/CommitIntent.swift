import Foundation
import GRDB
import ODataStore

/// What a repeatable request is about to commit to a database with a write-ahead log, written beside it first:
/// the request, its answers, and each row's digest before and after.
struct CommitIntent: Codable {
    /// One row that changes.
    struct ChangedRow: Codable {
        var set: String
        var key: Data
        var before: Data?
        var after: Data?
    }

    var id: String
    var client: String
    var firstSent: Int64
    var fingerprint: String
    var answers: [RememberedRequests.Answer]
    var rows: [ChangedRow]

    init(
        _ request: RepeatableRequest, fingerprint: String, answers: [RememberedRequests.Answer], rows: [ChangedRow]
    ) {
        id = request.id
        client = request.client
        firstSent = request.firstSent
        self.fingerprint = fingerprint
        self.answers = answers
        self.rows = rows
    }

    /// What touched rows are now, inside the transaction; those that are as they were say nothing and are left
    /// out.
    static func rows(
        _ touched: [TouchedRows.Row], _ tracker: ChangeTracker, in database: Database
    ) throws -> [ChangedRow] {
        try touched.compactMap { row in
            let after = try tracker.tables[row.set]?.currentDigest(of: row.key, in: database)
            return after == row.before ? nil : ChangedRow(set: row.set, key: row.key, before: row.before, after: after)
        }
    }

    /// Writes the intent.
    ///
    /// - Returns: its number.
    func write(to side: SideTables) throws -> Int64 {
        let text = String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
        try side.database.execute(sql: "INSERT INTO \(side.schema).intent (content) VALUES (?)", arguments: [text])
        return side.database.lastInsertedRowID
    }

    /// Takes an intent away.
    static func delete(_ number: Int64, in side: SideTables) throws {
        try side.database.execute(sql: "DELETE FROM \(side.schema).intent WHERE id = ?", arguments: [number])
    }

    /// Settles all open intents where no transaction of ours follows.
    ///
    /// - Parameter database: the connection that writes, outside of a transaction.
    static func settleAll(_ tracker: ChangeTracker, in database: Database, now: Int64, lifetime: Int64) throws {
        guard try areOpen(tracker, in: database) else { return }
        try database.inTransaction(.immediate) {
            try settleOpen(tracker, in: database, now: now, lifetime: lifetime)
            // Nothing is written but the file beside, which is a part of this transaction where it is attached.
            return .commit
        }
    }

    /// Settles all open intents: rows that are as they were to be mean that the commit happened, rows that are
    /// as they were before that it did not; anything else is in doubt.
    ///
    /// - Parameter database: the connection that writes, inside a transaction that has the lock for writing: no other server can
    ///   stand between its intent and its commit then.
    static func settleOpen(_ tracker: ChangeTracker, in database: Database, now: Int64, lifetime: Int64) throws {
        guard try areOpen(tracker, in: database) else { return }
        try tracker.side.use(in: database) { side in
            for row in try Row.fetchAll(side.database, sql: "SELECT * FROM \(side.schema).intent ORDER BY id") {
                let text: String = row["content"]
                if let intent = try? JSONDecoder().decode(CommitIntent.self, from: Data(text.utf8)) {
                    try intent.settle(tracker, in: database, side: side, now: now, lifetime: lifetime)
                }
                try delete(row["id"], in: side)
            }
        }
    }

    private static func areOpen(_ tracker: ChangeTracker, in database: Database) throws -> Bool {
        try tracker.side.use(in: database) {
            try Bool.fetchOne($0.database, sql: "SELECT EXISTS (SELECT 1 FROM \($0.schema).intent)") ?? false
        }
    }

    private func settle(
        _ tracker: ChangeTracker, in database: Database, side: SideTables, now: Int64, lifetime: Int64
    ) throws {
        var isCommitted = !rows.isEmpty
        var isUndone = true
        for row in rows {
            let digest = try tracker.tables[row.set]?.currentDigest(of: row.key, in: database)
            if digest != row.after { isCommitted = false }
            if digest != row.before { isUndone = false }
        }
        guard isCommitted || !isUndone else { return }
        try RememberedRequests.keep(
            RepeatableRequest(id: id, client: client, firstSent: firstSent), fingerprint: fingerprint,
            answers: isCommitted ? answers : nil, now: now, lifetime: lifetime, in: side)
        let touched = rows.map { TouchedRows.Row(set: $0.set, key: $0.key, before: $0.before) }
        try tracker.record(touched, in: database, side, now: now)
    }
}
