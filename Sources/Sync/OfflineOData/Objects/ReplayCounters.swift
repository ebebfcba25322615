import GRDB

/// The replay counters of rows with held changes: the number of the last edit, from one ascending sequence of the
/// store.
///
/// The counter of a row never decreases. A change that is submitted keeps the counter of its row in the queue: the
/// counters of the changes that are on their way or were refused are read from there, so that an answer cannot hide a
/// newer edit.
enum ReplayCounters {
    /// Gives a row the next number if an edit is held.
    static func noteEdit(of row: RowReference, _ options: ChangeOptions, in database: Database) throws {
        guard options.isHeld else { return }
        // The row's former number goes with the conflict, and the sequence never gives a number twice.
        try database.cachedStatement(sql: "INSERT OR REPLACE INTO outpost_replay(entity_set, row_id) VALUES (?, ?)")
            .execute(arguments: [row.set, row.rowID])
    }

    /// The number of the last edit of a row; 0 for a row that was never edited.
    static func counter(of row: RowReference, in database: Database) throws -> Int64 {
        let statement = try database.cachedStatement(
            sql: "SELECT counter FROM outpost_replay WHERE entity_set = ? AND row_id = ?")
        return try Int64.fetchOne(statement, arguments: [row.set, row.rowID]) ?? 0
    }

    /// Moves the number of a row to the row that it became one with, unless that has a newer one.
    static func move(from row: RowReference, to other: Int64, in database: Database) throws {
        let (old, kept) = (
            try counter(of: row, in: database), try counter(of: RowReference(set: row.set, rowID: other), in: database)
        )
        guard old > kept else { return try remove(row, in: database) }
        try database.execute(
            sql: "DELETE FROM outpost_replay WHERE entity_set = ? AND row_id = ?", arguments: [row.set, other])
        try database.execute(
            sql: "UPDATE outpost_replay SET row_id = ? WHERE entity_set = ? AND row_id = ?",
            arguments: [other, row.set, row.rowID])
    }

    /// Forgets a row that is gone.
    static func remove(_ row: RowReference, in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM outpost_replay WHERE entity_set = ? AND row_id = ?", arguments: [row.set, row.rowID])
    }
}
