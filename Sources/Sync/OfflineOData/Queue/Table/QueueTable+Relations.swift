import GRDB

/// Relations that wait to be made or taken away. Such a request is about two entities, and has no row itself.
extension QueueTable {
    /// SQL that is true of a request for a relation that the service's model has a place for. Which requests of a set have
    /// no row stands in an index, so that the others are not looked at, and neither are all entries of that.
    private static let isRelation = """
        id IN (
            WITH RECURSIVE sets(name) AS (
                SELECT MIN(entity_set) FROM outpost_queue
                UNION ALL
                SELECT (SELECT MIN(entity_set) FROM outpost_queue WHERE entity_set > name) FROM sets
                WHERE name IS NOT NULL
            )
            SELECT other.id FROM sets CROSS JOIN outpost_queue AS other
            ON other.entity_set = sets.name AND other.row_id = 0
        )
        AND kind IN ('link', 'unlink') AND json_extract(detail, '$.former') IS NULL
        """

    /// SQL that gives each end of a relation in the set `:set` as `end_row`, with the `state` of the request. It names
    /// nothing else of the row that it is asked for, so that a query evaluates it once.
    static let relationEndsQuery = """
        SELECT json_extract(detail, '$.sourceRow') AS end_row, state FROM outpost_queue
        WHERE entity_set = :set AND \(isRelation)
        UNION ALL
        SELECT json_extract(detail, '$.targetRow'), state FROM outpost_queue
        WHERE json_extract(detail, '$.targetSet') = :set AND \(isRelation)
        """

    /// The rows of a set at either end of a relation that waits, each with whether one was refused or is in doubt.
    static func relationEnds(in set: String, in database: Database) throws -> [Int64: Bool] {
        let statement = try database.cachedStatement(sql: relationEndsQuery)
        var ends: [Int64: Bool] = [:]
        for row in try Row.fetchAll(statement, arguments: ["set": set]) {
            // What a damaged queue says instead of a number is none.
            guard let end = Int64.fromDatabaseValue(row["end_row"]) else { continue }
            let hasFailed = ["refused", "inDoubt"].contains(row["state"] as String)
            ends[end] = ends[end, default: false] || hasFailed
        }
        return ends
    }

    /// The requests for relations, in order.
    func relations(in database: Database) throws -> [QueuedRequest] {
        try fetch("WHERE \(Self.isRelation) ORDER BY id", [], in: database)
    }

    /// The requests for relations to and from a row, in order.
    func links(set: String, rowID: Int64, in database: Database) throws -> [QueuedRequest] {
        try fetch(
            """
            WHERE \(Self.isRelation) AND (
                (entity_set = ? AND json_extract(detail, '$.sourceRow') = ?)
                OR (json_extract(detail, '$.targetSet') = ? AND json_extract(detail, '$.targetRow') = ?))
            ORDER BY id
            """, [set, rowID, set, rowID], in: database)
    }
}
