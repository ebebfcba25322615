import GRDB
import ODataModel
import ODataQuery
import ODataSQL

/// The relations in link tables that queries expand. The store does not record which query brought a relation. If
/// a query asks for a part of the related entities, a missing relation may belong to another query.
struct ExpandedRelations {
    /// A query that brings relations of a link table, from one of its ends.
    struct Speaker: Hashable, Sendable {
        var query: Int64
        /// The column of the entity in which the relations are expanded.
        var column: String
    }

    private let query: Int64
    private let doubts: RelationDoubts
    private let mapping: StorageMapping
    private let database: Database
    private let speakers: LazySpeakers

    init(query: Int64, doubts: RelationDoubts, mapping: StorageMapping, in database: Database) {
        self.query = query
        self.doubts = doubts
        self.mapping = mapping
        self.database = database
        speakers = LazySpeakers()
    }

    /// The link-table relations that a query expands, by entity set and name.
    static func links(
        of query: StoredQuery, _ mapping: StorageMapping
    ) throws -> [String: [String: NavigationStorage]] {
        var found: [String: [String: NavigationStorage]] = [:]
        func add(_ items: [ExpandItem], of table: TableStorage) {
            for item in items {
                guard let name = item.relation, let storage = table.navigation[name] else { continue }
                if case .link = storage { found[table.set, default: [:]][name] = storage }
                if let target = mapping.tables[storage.target] { add(item.options.expand, of: target) }
            }
        }
        if let table = mapping.tables[query.entitySet] {
            add(try Downloader.columnSet(query, table, mapping: mapping).options.expand, of: table)
        }
        return found
    }

    /// Releases the relations that a query has brought of a row that stays with other queries.
    ///
    /// - Parameters:
    ///   - links: the relations that the query expands in the row's entity set.
    ///   - reached: the rows that the query has brought so far, by set.
    func letGo(
        of rowID: Int64, _ links: [String: NavigationStorage], _ reached: [String: RowSet] = [:]
    ) throws {
        for storage in links.values { try relate(rowID, storage, to: [], isPart: true, reached: reached) }
    }

    /// Makes the relations of a row equal to those of the service.
    ///
    /// - Parameters:
    ///   - ids: the rows to which it leads.
    ///   - isPart: whether the row may lead to other rows that were not requested.
    ///   - reached: the rows that the query has brought so far, by set.
    func relate(
        _ rowID: Int64, _ storage: NavigationStorage, to ids: Set<Int64>, isPart: Bool, reached: [String: RowSet]
    ) throws {
        guard case .link(_, let link, let source, let target) = storage else { return }
        let statement = try database.cachedStatement(
            sql: "SELECT \(target.sqlIdentifier) FROM \(link.sqlIdentifier) "
                + "WHERE \(source.sqlIdentifier) = ?")
        let held = try Set(Int64.fetchAll(statement, arguments: [rowID]))
        for other in ids.symmetricDifference(held) {
            let pair = RelatedRows(table: link, rows: [source: rowID, target: other])
            if ids.contains(other) {
                try mapping.relate(pair, in: database)
            } else if try !isPart || isGone(pair, accordingTo: Speaker(query: query, column: source), reached) {
                try mapping.unrelate(pair, in: database)
            }
        }
    }

    /// Whether a relation that a partial query did not bring is gone: all queries that could bring it have not
    /// brought it.
    private func isGone(
        _ pair: RelatedRows, accordingTo speaker: Speaker, _ reached: [String: RowSet]
    ) throws -> Bool {
        let others = try speakers.all(of: pair.table, mapping, in: database).filter { other, set in
            guard other != speaker, let row = pair.rows[other.column], let table = mapping.tables[set] else {
                return false
            }
            // From the other end, the query itself decides about the relations that it brings alone.
            guard other.query != query else { return reached[set]?.contains(row) ?? false }
            return try Rows.owner(table, rowID: row, in: database) == other.query
                || Bool.fetchOne(
                    database,
                    sql: """
                        SELECT EXISTS(SELECT 1 FROM outpost_member
                            WHERE entity_set = ? AND row_id = ? AND query_id = ?)
                        """, arguments: [set, row, other.query]) ?? false
        }
        guard !others.isEmpty else { return true }
        return doubts.add(pair, by: speaker).isSuperset(of: others.keys)
    }

    /// The queries that expand each link table, read when they are needed.
    private final class LazySpeakers {
        /// By link table: the queries with the set in which they expand it.
        private var known: [String: [Speaker: String]]?

        func all(of link: String, _ mapping: StorageMapping, in database: Database) throws -> [Speaker: String] {
            if let known { return known[link] ?? [:] }
            var found: [String: [Speaker: String]] = [:]
            for query in try QueryTable.all(in: database) {
                for (set, links) in try ExpandedRelations.links(of: query, mapping) {
                    for case .link(_, let link, let source, _) in links.values {
                        found[link, default: [:]][Speaker(query: query.id, column: source)] = set
                    }
                }
            }
            known = found
            return found[link] ?? [:]
        }
    }
}

/// The relations that queries have not brought in one download although they could have.
final class RelationDoubts: Sendable {
    private let speakers = LockedState<[RelatedRows: Set<ExpandedRelations.Speaker>]>([:])

    /// - Returns: all queries that have not brought it.
    func add(_ pair: RelatedRows, by speaker: ExpandedRelations.Speaker) -> Set<ExpandedRelations.Speaker> {
        speakers.withLock { speakers in
            speakers[pair, default: []].insert(speaker)
            return speakers[pair] ?? []
        }
    }
}
