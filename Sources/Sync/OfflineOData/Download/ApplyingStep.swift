import GRDB
import ODataModel
import ODataQuery
import ODataSQL

/// One step of applying the staged changes.
struct ApplyingStep: Sendable {
    /// The rows of other sets that the query has brought. All other rows of these sets are released at the end.
    struct Reached: Sendable {
        var rows: [String: RowSet] = [:]
        /// The rows with a relation that was noted as brought, by set.
        fileprivate var noted: [String: RowSet] = [:]
        /// The row at which the release continues, by set.
        fileprivate var cursors: [String: Int64]
        var isSwept: Bool { cursors.isEmpty }
    }

    private let query: StoredQuery
    private let table: TableStorage
    private let mapping: StorageMapping
    private let doubts: RelationDoubts
    /// The sets that are read with the query's own rows.
    private let relatedSets: [String]
    /// The paths of the contained entities.
    private let containedSets: [String]
    /// Whether the query brings relations, too.
    private let bringsRelations: Bool
    /// Whether an unreadable value refuses its entity.
    private let isStrict: Bool

    init(
        query: StoredQuery, table: TableStorage, mapping: StorageMapping, doubts: RelationDoubts, isStrict: Bool = false
    ) {
        self.isStrict = isStrict
        self.query = query
        self.table = table
        self.mapping = mapping
        self.doubts = doubts
        let sets = query.sets(in: mapping)
        relatedSets = sets.filter { $0 != table.set && mapping.model.entitySet($0) != nil }
        containedSets = sets.filter { $0.contains("/") }
        bringsRelations = (try? ODataURL(parsing: query.text))?.options.expand.isEmpty == false
    }

    var noRows: Reached {
        Reached(cursors: Dictionary(uniqueKeysWithValues: relatedSets.map { ($0, Int64.min) }))
    }

    /// Applies the next staged rows and removes them from the stage. Local changes of relations stay on top.
    func apply(
        _ reached: inout Reached, limit: Int = .max, in database: Database
    ) throws -> [RowApplier.Counts] {
        try beneathWaitingRelations(in: database) { try applyRows(&reached, limit: limit, in: database) }
    }

    private func beneathWaitingRelations(
        in database: Database, _ body: () throws -> [RowApplier.Counts]
    ) throws -> [RowApplier.Counts] {
        guard bringsRelations else { return try body() }
        return try Relations(mapping: mapping).beneathWaiting(
            QueueTable(model: mapping.model), in: database, body)
    }

    private func applyRows(
        _ reached: inout Reached, limit: Int, in database: Database
    ) throws -> [RowApplier.Counts] {
        var applier = try TreeApplier(
            table: table, mapping: mapping, query: query, doubts: doubts, isStrict: isStrict, noted: reached.noted,
            in: database)
        let coder = TreeCoder(snapshots: SnapshotCoder(model: mapping.model))
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT id, kind, content FROM outpost_staged WHERE query_id = ? ORDER BY id LIMIT ?",
            arguments: [query.id, limit])
        var last: Int64?
        while let row = try rows.next() {
            last = row["id"]
            let entity = try coder.decode(row["content"], table: table, mapping: mapping)
            if row["kind"] == "entity" {
                try applier.apply(entity, &reached.rows)
            } else if let key = entity.key {
                try applier.remove(key, reached.rows)
            }
        }
        if let last {
            try database.execute(
                sql: "DELETE FROM outpost_staged WHERE query_id = ? AND id <= ?", arguments: [query.id, last])
        }
        reached.noted = applier.noted
        return applier.counts
    }

    /// Releases related rows that nothing leads to any more.
    func sweep(_ reached: inout Reached, limit: Int = .max, in database: Database) throws -> [RowApplier.Counts] {
        guard !reached.cursors.isEmpty else { return [] }
        return try beneathWaitingRelations(in: database) { try sweepRows(&reached, limit: limit, in: database) }
    }

    private func sweepRows(
        _ reached: inout Reached, limit: Int, in database: Database
    ) throws -> [RowApplier.Counts] {
        var applier = try TreeApplier(
            table: table, mapping: mapping, query: query, doubts: doubts, isStrict: isStrict, noted: reached.noted,
            in: database)
        for (set, start) in reached.cursors {
            guard let other = mapping.tables[set] else { continue }
            var last = start
            let known = reached.rows[set] ?? RowSet()
            let ids = try HeldRows(query: query.id, table: other, mapping: mapping, in: [.owner, .member])
                .ids(after: start, limit: limit, in: database)
            for row in ids {
                last = row
                if !known.contains(row) { try applier.release(row, of: set, reached.rows) }
            }
            reached.cursors[set] = ids.count < limit ? nil : last
        }
        return applier.counts
    }

    /// Marks the query as loaded: the next download continues from here.
    ///
    /// - Parameter reached: the rows that all steps have brought.
    func finish(_ reached: Reached, deltaLink: String?, at time: String, in database: Database) throws {
        if bringsRelations { try ExpandedRows.forget(query.id, but: reached.noted, in: database) }
        guard try QueryTable.markLoaded(query, deltaLink: deltaLink, at: time, in: database) else { return }
        for set in [table.set] + relatedSets + containedSets {
            guard let table = mapping.tables[set] else { continue }
            try Membership.claimHiddenRows(of: query.id, table, in: database)
        }
        // Contained entities are removed with their container, without a notification of their own.
        for set in containedSets {
            guard let table = mapping.tables[set], let id = table.rowID?.sqlIdentifier else { continue }
            try database.execute(
                sql: """
                    DELETE FROM outpost_member WHERE query_id = ?1 AND entity_set = ?2
                        AND NOT EXISTS (
                            SELECT 1 FROM \(table.table.sqlIdentifier) WHERE \(id) = outpost_member.row_id)
                        AND NOT EXISTS (
                            SELECT 1 FROM outpost_before AS b
                            WHERE b.entity_set = ?2 AND b.row_id = outpost_member.row_id)
                    """, arguments: [query.id, set])
        }
    }
}
