import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Finds the way from a contained row to its entity set.
struct Containment {
    let mapping: StorageMapping

    /// The row that contains another one; `nil` for a row of an entity set, and for a row that does not exist.
    func parent(of rowID: Int64, _ table: TableStorage, in database: Database) throws -> Int64? {
        guard table.set.contains("/"), let id = table.rowID else { return nil }
        let statement = try database.cachedStatement(
            sql: "SELECT \(OfflineLayout.parentColumn.sqlIdentifier) "
                + "FROM \(table.table.sqlIdentifier) WHERE \(id.sqlIdentifier) = ?")
        return try Int64.fetchOne(statement, arguments: [rowID])
    }

    /// The row of a singleton, or of a single contained entity; `nil` for a collection, or if there is none.
    func onlyRow(of table: TableStorage, in container: Int64?, _ database: Database) throws -> Int64? {
        guard let slash = table.set.lastIndex(of: "/") else { return mapping.model.singleton(table.set).map { _ in 1 } }
        let name = String(table.set[table.set.index(after: slash)...])
        guard let container, let id = table.rowID,
            mapping.tables[String(table.set[..<slash])]?.shape.navigationProperty(name)?.isCollection == false
        else { return nil }
        return try Int64.fetchOne(
            database,
            sql: "SELECT \(id.sqlIdentifier) FROM \(table.table.sqlIdentifier) "
                + "WHERE \(OfflineLayout.parentColumn.sqlIdentifier) = ?", arguments: [container])
    }

    /// The requests for contained rows, at any depth.
    func requests(
        within row: Int64, _ table: TableStorage, _ queue: QueueTable, in database: Database
    ) throws -> [QueuedRequest] {
        guard Self.contains(table) else { return [] }
        return try queue.requests(ofSetsWithin: table.set, in: database).filter { request in
            try container(in: table, ofRowIn: request.entitySet, request.parentRow, database) == row
        }
    }

    /// The rows of a table with queued requests, of their own or of contained rows at any depth. None of them may
    /// be removed before these are settled.
    func changedRows(of table: TableStorage, in database: Database) throws -> Set<Int64> {
        let own = try QueueTable.changedRows(of: table.set, in: database)
        return try own.union(rows(containingChanges: table, in: database))
    }

    /// The rows of a table that contain, at any depth, rows with queued requests, and the rows with a pending
    /// relation: the relation would be removed with them.
    func rows(containingChanges table: TableStorage, in database: Database) throws -> Set<Int64> {
        let related = Set(try QueueTable.relationEnds(in: table.set, in: database).keys)
        guard Self.contains(table) else { return related }
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT DISTINCT entity_set, json_extract(detail, '$.parentRow') FROM outpost_queue
                WHERE substr(entity_set, 1, ?) = ? AND row_id <> 0
                """, arguments: [table.set.unicodeScalars.count + 1, table.set + "/"])
        // A foreign program may have written text in the place of the number.
        return try related.union(
            rows.compactMap { try container(in: table, ofRowIn: $0[0], Int64.fromDatabaseValue($0[1]), database) })
    }

    /// Whether the rows of a table contain other rows.
    private static func contains(_ table: TableStorage) -> Bool {
        table.navigation.values.contains { $0.target.hasPrefix(table.set + "/") }
    }

    /// The row of a table that contains, at any depth, a given contained row.
    private func container(
        in table: TableStorage, ofRowIn set: String, _ parent: Int64?, _ database: Database
    ) throws -> Int64? {
        var (set, parent) = (set, parent)
        while let inner = parent, let slash = set.lastIndex(of: "/") {
            set = String(set[..<slash])
            if set == table.set { return inner }
            parent = try mapping.tables[set].flatMap { try self.parent(of: inner, $0, in: database) }
        }
        return nil
    }

    /// Keeps a row that no query holds any more, because its contained rows have changes. The first download
    /// after these are settled removes it.
    func keep(_ rowID: Int64, _ table: TableStorage, in database: Database) throws {
        try Rows.setOwner(0, table, rowID: rowID, in: database)
        try Membership.markUploaded(rowID, of: table.set, in: database)
    }

    /// Whether a path leads to one entity by keys and containment alone.
    static func isAddress(_ steps: [BoundSegment]) -> Bool {
        for (position, step) in steps.enumerated() {
            switch step {
            case .entitySet, .singleton: guard position == 0 else { return false }
            case .navigation(let navigation, _, _): guard navigation.isContainment else { return false }
            case .key: continue
            default: return false
            }
        }
        switch steps.last {
        case .key?, .singleton?: return true
        case .navigation(let navigation, _, _)?: return !navigation.isCollection
        default: return false
        }
    }

    /// The row at the end of a path of keys and containment, including a locally deleted one.
    func row(
        at steps: [BoundSegment], _ before: BeforeImages, _ queue: QueueTable, in database: Database
    ) throws -> (set: String, rowID: Int64)? {
        var found: (set: String, rowID: Int64)?
        var set = ""
        for step in steps {
            switch step {
            case .entitySet(let entitySet, _): set = entitySet.name
            case .singleton(let singleton, _): (set, found) = (singleton.name, (singleton.name, 1))
            case .navigation(let navigation, _, _):
                set += "/\(navigation.name)"
                guard !navigation.isCollection else { continue }
                guard let table = mapping.tables[set], let container = found?.rowID,
                    let rowID = try onlyRow(of: table, in: container, database)
                        ?? deletedRow(of: set, in: container, queue, database)
                else { return nil }
                found = (set, rowID)
            case .key(let key):
                guard let table = mapping.tables[set] else { return nil }
                let parent = set.contains("/") ? found?.rowID : nil
                let rowID =
                    try BulkLoader(table: table, in: database).find(key, parent: parent)
                    ?? before.rowID(
                        set: set, key: key, shape: table.shape, in: database,
                        where: { rowID in
                            guard let parent else { return true }
                            return try queue.requests(set: table.set, rowID: rowID, in: database)
                                .contains { $0.parentRow == parent }
                        })
                    ?? Aliases(mapping: mapping).rowID(set: set, key: key, in: database)
                guard let rowID else { return nil }
                found = (set, rowID)
            default: return nil
            }
        }
        return found
    }

    /// The locally deleted row of a single contained entity.
    private func deletedRow(
        of set: String, in container: Int64, _ queue: QueueTable, _ database: Database
    ) throws -> Int64? {
        try queue.requests(in: database).last {
            $0.entitySet == set && $0.kind == .delete && $0.parentRow == container
        }?.rowID
    }

    /// The URL of contained rows.
    ///
    /// - Parameters:
    ///   - set: the containment path, such as `Albums/Pages`.
    ///   - row: the containing row.
    func place(in set: String, of row: Int64, _ database: Database) throws -> Uploader.EntityAddress {
        guard let slash = set.lastIndex(of: "/") else { throw gone(set) }
        let (outer, name) = (String(set[..<slash]), String(set[set.index(after: slash)...]))
        guard let table = mapping.tables[outer], let navigation = table.shape.navigationProperty(name) else {
            throw gone(outer)
        }
        var url = try self.url(of: row, table, in: database)
        url.path.segments.append(.name(Identifier(name), .none))
        return Uploader.EntityAddress(url: url, isCollection: navigation.isCollection)
    }

    /// The URL of a row with the current keys of the row and its containers.
    func url(of row: Int64, _ table: TableStorage, in database: Database) throws -> ODataURL {
        if mapping.model.singleton(table.set) != nil { return KeyURL.url(set: table.set, key: EntityKey([]), mapping) }
        guard let key = try BulkLoader(table: table, in: database).read(row)?.key else { throw gone(table.set) }
        guard let parent = try parent(of: row, table, in: database) else {
            return KeyURL.url(set: table.set, key: key, mapping)
        }
        let place = try place(in: table.set, of: parent, database)
        guard place.isCollection, case .name(let name, _)? = place.url.path.segments.last else { return place.url }
        var url = place.url
        let predicate = KeyPredicate(key, shape: table.shape, model: mapping.model)
        url.path.segments[url.path.segments.count - 1] = .name(name, .key(predicate))
        return url
    }

    private func gone(_ set: String) -> ODataError {
        ODataError(
            status: 404, code: "ContainerGone", message: "The entity of \(set) that contains it is not here any more.")
    }
}
