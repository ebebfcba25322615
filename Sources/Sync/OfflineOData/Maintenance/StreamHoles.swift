import GRDB
import ODataSQL

/// Streams with missing chunks, as after damage: they have fewer bytes than recorded.
enum StreamHoles {
    private static let condition = """
        length <> (SELECT COALESCE(SUM(length(c.bytes)), 0) FROM \(StreamChunks.table) AS c WHERE c.stream = outpost_stream.id)
        """

    /// Marks damaged streams that the service has, so that the next download loads them again.
    ///
    /// - Returns: the number of these streams.
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

    /// Describes the damaged streams, one sentence each.
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

    /// The number of damaged local streams: nobody else has their bytes.
    static func localCount(in database: Database) throws -> Int {
        guard try database.tableExists(StreamChunks.table) else { return 0 }
        return try Int.fetchOne(
            database, sql: "SELECT COUNT(*) FROM outpost_stream WHERE is_local = 1 AND \(condition)") ?? 0
    }
}
