import Foundation
import GRDB
import ODataStore

/// The intent to commit a repeatable request to a database with a write-ahead log. Before the commit, the side
/// file records the request, its responses, and the digests of the rows before and after.
struct CommitIntent: Codable {
    /// A changed row.
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

    /// Returns the current digests of touched rows inside the transaction, without unchanged rows.
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
    /// - Returns: the number of the intent.
    func write(to side: SideTables) throws -> Int64 {
        let text = String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
        try side.database.execute(sql: "INSERT INTO \(side.schema).intent (content) VALUES (?)", arguments: [text])
        return side.database.lastInsertedRowID
    }

    /// Deletes an intent.
    static func delete(_ number: Int64, in side: SideTables) throws {
        try side.database.execute(sql: "DELETE FROM \(side.schema).intent WHERE id = ?", arguments: [number])
    }

    /// Settles all open intents when no other transaction follows.
    ///
    /// - Parameter database: the writing connection, outside a transaction.
    static func settleAll(_ tracker: ChangeTracker, in database: Database, now: Int64, lifetime: Int64) throws {
        guard try areOpen(tracker, in: database) else { return }
        try database.inTransaction(.immediate) {
            try settleOpen(tracker, in: database, now: now, lifetime: lifetime)
            // The transaction writes only to the side file, which takes part in the transaction if it is attached.
            return .commit
        }
    }

    /// Settles all open intents by comparing the rows. If they have the intended state, the commit succeeded;
    /// if they have the previous state, it failed. In any other state, the outcome is unknown.
    ///
    /// - Parameter database: the writing connection, inside a transaction with the write lock. Other servers
    ///   cannot be between their intent and their commit then.
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
