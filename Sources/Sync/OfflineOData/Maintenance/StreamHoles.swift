import GRDB
import ODataSQL

/// Streams of which chunks are gone, as after a damage: their bytes are fewer than they say.
enum StreamHoles {
    private static let condition = """
        length <> (SELECT COALESCE(SUM(length(c.bytes)), 0) FROM \(StreamChunks.table) AS c WHERE c.stream = outpost_stream.id)
        """

    /// Lets those that the service has be loaded again by the next download.
    ///
    /// - Returns: how many those were.
    static func mend(in database: Database) throws -> Int {
        guard try database.tableExists(StreamChunks.table) else { return 0 }
        let broken = try Int64.fetchAll(
            database, sql: "SELECT id FROM outpost_stream WHERE is_local = 0 AND \(condition)")
        for id in broken {
            try StreamTable.empty(id, in: database)
            try database.execute(sql: "UPDATE outpost_stream SET is_complete = 0 WHERE id = ?", arguments: [id])
        }
        return broken.count
    }

    /// Says which there are, one sentence each.
    static func problems(in database: Database) throws -> [String] {
        guard try database.tableExists(StreamChunks.table) else { return [] }
        return try Row.fetchAll(
            database,
            sql: "SELECT entity_set, property, is_local FROM outpost_stream WHERE \(condition) ORDER BY id"
        ).map { row in
            let (set, property, isLocal): (String, String, Bool) = (row[0], row[1], row[2])
            let name = property.isEmpty ? set : "\(set)/\(property)"
            return isLocal ? "A stream of \(name) that was made here lacks bytes." : "A stream of \(name) lacks bytes."
        }
    }

    /// How many of those that were made here there are: nobody else has their bytes.
    static func localCount(in database: Database) throws -> Int {
        guard try database.tableExists(StreamChunks.table) else { return 0 }
        return try Int.fetchOne(
            database, sql: "SELECT COUNT(*) FROM outpost_stream WHERE is_local = 1 AND \(condition)") ?? 0
    }
}
