import GRDB

/// Lookups in the queue for other parts of a store.
extension QueueTable {
    /// The name of the table.
    static let name = "outpost_queue"

    /// SQL for the ids of the rows of the set `?1` that have requests.
    static let changedRowsOfSet = "SELECT row_id FROM outpost_queue WHERE entity_set = ?1"

    /// Whether there are neither pending nor refused changes.
    static func isEmpty(in database: Database) throws -> Bool {
        try Bool.fetchOne(database, sql: "SELECT NOT EXISTS(SELECT 1 FROM outpost_queue)") ?? true
    }

    /// Whether there never was a change. The number of the last change stays after the change has left the queue.
    static func wasNeverUsed(in database: Database) throws -> Bool {
        try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM sqlite_sequence WHERE name = '\(name)'") == 0
    }

    /// Whether an entity set has pending or refused changes.
    static func hasRequests(of set: String, in database: Database) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT EXISTS(SELECT 1 FROM outpost_queue WHERE entity_set = ?)")
        return try Bool.fetchOne(statement, arguments: [set]) ?? false
    }

    /// The rows of an entity set that have pending or refused changes.
    static func changedRows(of set: String, in database: Database) throws -> Set<Int64> {
        try Int64.fetchSet(database, sql: changedRowsOfSet, arguments: [set])
    }

    /// The kind, the state and the replay counter of each request of a row.
    static func states(
        of row: RowReference, in database: Database
    ) throws -> [(kind: QueuedRequest.Kind, state: QueuedRequest.State, counter: Int64?)] {
        let statement = try database.cachedStatement(
            sql: "SELECT kind, state, counter FROM outpost_queue WHERE entity_set = ? AND row_id = ? AND row_id <> 0")
        return try Row.fetchAll(statement, arguments: [row.set, row.rowID]).compactMap { request in
            guard let kind = QueuedRequest.Kind(rawValue: request[0]),
                let state = QueuedRequest.State(rawValue: request[1])
            else { return nil }
            return (kind, state, request[2])
        }
    }

    /// The rows of an entity set whose deletion waits or was refused.
    static func deletedRows(of set: String, in database: Database) throws -> [Int64] {
        try Int64.fetchAll(
            database,
            sql: "SELECT DISTINCT row_id FROM outpost_queue WHERE entity_set = ? AND kind = 'delete' ORDER BY row_id",
            arguments: [set])
    }

    /// The number of the newest request; `nil` if there is none.
    static func newest(in database: Database) throws -> Int64? {
        try Int64.fetchOne(database, sql: "SELECT MAX(id) FROM outpost_queue")
    }

    /// The requests of each change set, by its name.
    static func changeSets(in database: Database) throws -> [String: Set<Int64>] {
        var members: [String: Set<Int64>] = [:]
        let rows = try Row.fetchAll(
            database, sql: "SELECT change_set, id FROM outpost_queue WHERE change_set IS NOT NULL")
        for row in rows { members[row["change_set"], default: []].insert(row["id"]) }
        return members
    }
}
