import GRDB

/// Pending requests that add or remove relations. Such a request is about two entities, and has no row itself.
extension QueueTable {
    /// SQL that is true for a request for a relation that has a place in the service's model. An index contains
    /// the requests of a set without a row, so that no other requests are read.
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

    /// SQL that returns each end of a relation in the set `:set` as `end_row`, with the `state` of the request.
    /// It refers to no column of the outer query, so that a query evaluates it once.
    static let relationEndsQuery = """
        SELECT json_extract(detail, '$.sourceRow') AS end_row, state FROM outpost_queue
        WHERE entity_set = :set AND \(isRelation)
        UNION ALL
        SELECT json_extract(detail, '$.targetRow'), state FROM outpost_queue
        WHERE json_extract(detail, '$.targetSet') = :set AND \(isRelation)
        """

    /// The rows of a set at either end of a pending relation, each with whether a request was refused or has an
    /// unknown outcome.
    static func relationEnds(in set: String, in database: Database) throws -> [Int64: Bool] {
        let statement = try database.cachedStatement(sql: relationEndsQuery)
        var ends: [Int64: Bool] = [:]
        for row in try Row.fetchAll(statement, arguments: ["set": set]) {
            // Text in the place of a number shows a damaged queue, and counts as missing.
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
