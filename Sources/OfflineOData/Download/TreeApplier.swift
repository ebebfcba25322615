import Foundation
import GRDB
import ODataModel
import ODataStore

/// Keeps an entity with what is expanded in it while it is staged.
struct TreeCoder {
    let snapshots: SnapshotCoder

    /// An entity, and by navigation property what is expanded in it.
    private struct Node: Codable {
        var entity: Data
        var related: [String: [Node]]?
    }

    func encode(_ entity: Entity) throws -> Data {
        guard !entity.related.isEmpty else { return snapshots.encode(entity) }
        return try JSONEncoder().encode(node(entity))
    }

    private func node(_ entity: Entity) -> Node {
        var node = Node(entity: snapshots.encode(entity))
        for (name, related) in entity.related {
            switch related {
            case .one(let other): node.related = (node.related ?? [:]).merging([name: [self.node(other)]]) { $1 }
            case .many(let others, _, _):
                node.related = (node.related ?? [:]).merging([name: others.map(self.node)]) { $1 }
            case .none: node.related = (node.related ?? [:]).merging([name: []]) { $1 }
            case .references: continue
            }
        }
        return node
    }

    /// - Throws: ``OfflineError/damagedQueue(reason:)``.
    func decode(_ data: Data, table: TableStorage, mapping: StorageMapping) throws -> Entity {
        // A snapshot is an array, a node an object.
        guard data.first == UInt8(ascii: "{") else { return try snapshots.decode(data, shape: table.shape) }
        do {
            return try entity(JSONDecoder().decode(Node.self, from: data), table, mapping)
        } catch let error as DecodingError {
            throw OfflineError.damagedQueue(reason: "a staged page cannot be read: \(error)")
        }
    }

    private func entity(_ node: Node, _ table: TableStorage, _ mapping: StorageMapping) throws -> Entity {
        var entity = try snapshots.decode(node.entity, shape: table.shape)
        for (name, others) in node.related ?? [:] {
            guard let target = table.navigation[name]?.target, let other = mapping.tables[target] else { continue }
            entity.related[name] = .many(try others.map { try self.entity($0, other, mapping) })
        }
        return entity
    }
}

/// Applies entities with what is expanded in them: rows, containment, and relations that a link table holds. These are
/// made as the service has them: who applies puts what was changed here on top (``Relations``).
struct TreeApplier {
    private let table: TableStorage
    private let mapping: StorageMapping
    private let query: StoredQuery
    private let database: Database
    private let queue: QueueTable
    private var root: RowApplier
    private var related: [String: RowApplier] = [:]
    private var containedCounts = RowApplier.Counts()

    init(table: TableStorage, mapping: StorageMapping, query: StoredQuery, in database: Database) throws {
        self.table = table
        self.mapping = mapping
        self.query = query
        self.database = database
        queue = QueueTable(model: mapping.model)
        root = try RowApplier(table: table, mapping: mapping, query: query.id, in: database)
        for set in query.sets(in: mapping) where set != table.set {
            guard mapping.model.entitySet(set) != nil, let other = mapping.tables[set] else { continue }
            related[set] = try RowApplier(table: other, mapping: mapping, query: query.id, in: database)
        }
    }

    /// What was done with rows of all sets.
    var counts: [RowApplier.Counts] { [root.counts, containedCounts] + related.values.map(\.counts) }

    /// - Parameter reached: the rows that were met, by set; those of this entity are added.
    mutating func apply(_ entity: Entity, _ reached: inout [String: RowSet]) throws {
        guard let rowID = try root.apply(entity), !entity.related.isEmpty else { return }
        reached[table.set, default: RowSet()].insert(rowID)
        // Deleted here: what it contains and leads to went with it, and is back with it.
        guard try Rows.owner(table, rowID: rowID, in: database) != nil else { return }
        try applyRelated(of: entity, rowID, table, &reached)
    }

    mutating func remove(_ key: EntityKey) throws { try root.remove(key) }

    private mutating func applyRelated(
        of entity: Entity, _ rowID: Int64, _ table: TableStorage, _ reached: inout [String: RowSet]
    ) throws {
        for (name, others) in entity.related.sorted(by: { $0.key < $1.key }) {
            guard case .many(let entities, _, _) = others, let storage = table.navigation[name],
                let target = mapping.tables[storage.target]
            else { continue }
            if storage.target.contains("/") {
                try contain(entities, in: rowID, target, &reached)
                continue
            }
            var ids: Set<Int64> = []
            for other in entities {
                let id =
                    storage.target == self.table.set ? try root.apply(other) : try related[storage.target]?.apply(other)
                guard let id else { continue }
                ids.insert(id)
                reached[storage.target, default: RowSet()].insert(id)
                try applyRelated(of: other, id, target, &reached)
            }
            if case .link = storage { try relate(rowID, storage, to: ids) }
        }
    }

    /// Contained entities are where their container is, and nowhere else (rule 17). What was changed here is put on top
    /// of what the service has.
    private mutating func contain(
        _ entities: [Entity], in parent: Int64, _ contained: TableStorage, _ reached: inout [String: RowSet]
    ) throws {
        guard let id = contained.rowID, !contained.shape.key.isEmpty else { return }
        let loader = try BulkLoader(table: contained, in: database)
        let local = ContainedChanges(
            table: contained, parent: parent, query: query.id, queue: queue, database: database)
        let hasChanges = try local.exist()
        var ids: Set<Int64> = []
        for entity in entities {
            if hasChanges, let key = entity.key, let rowID = try local.row(key, loader) {
                try note(try local.renew(rowID, to: entity, loader), rowID, contained)
                ids.insert(rowID)
                continue
            }
            let loaded = try loader.load(entity, owner: query.id, parent: parent)
            let rowID = loaded.rowID
            try note(loaded.change, rowID, contained)
            ids.insert(rowID)
            try database.cachedStatement(sql: "DELETE FROM outpost_uploaded WHERE entity_set = ? AND row_id = ?")
                .execute(arguments: [contained.set, rowID])
            try applyRelated(of: entity, rowID, contained, &reached)
        }
        let held = try Int64.fetchAll(
            database,
            sql: "SELECT \(id.quotedDatabaseIdentifier) FROM \(contained.table.quotedDatabaseIdentifier) "
                + "WHERE \(OfflineLayout.parentColumn.quotedDatabaseIdentifier) = ?", arguments: [parent])
        let gone = held.filter { !ids.contains($0) }
        guard !gone.isEmpty else { return }
        let changed = try Containment(mapping: mapping).changedRows(of: contained, in: database)
        for row in gone {
            guard changed.contains(row) else {
                try loader.delete(row)
                containedCounts.removed += 1
                continue
            }
            // A row with changes is never removed: the service's answer to them will tell (rule 12).
            try BeforeImages(snapshots: queue.snapshots).deleteEntity(set: contained.set, rowID: row, in: database)
        }
    }

    /// Notes what was done with a contained row.
    private mutating func note(
        _ change: BulkLoader.Outcome.Change, _ rowID: Int64, _ contained: TableStorage
    ) throws {
        containedCounts.add(change)
        try root.mark(change, rowID, of: contained.set)
    }

    /// Makes a relation as the service has it.
    private func relate(_ rowID: Int64, _ storage: NavigationStorage, to ids: Set<Int64>) throws {
        guard case .link(_, let link, let source, let target) = storage else { return }
        let held = try Set(
            Int64.fetchAll(
                database,
                sql: "SELECT \(target.quotedDatabaseIdentifier) FROM \(link.quotedDatabaseIdentifier) "
                    + "WHERE \(source.quotedDatabaseIdentifier) = ?", arguments: [rowID]))
        for other in ids.symmetricDifference(held) {
            let related = RelatedRows(table: link, rows: [source: rowID, target: other])
            if ids.contains(other) {
                try mapping.relate(related, in: database)
            } else {
                try mapping.unrelate(related, in: database)
            }
        }
    }
}

/// What was changed here of the entities that another one contains.
private struct ContainedChanges {
    let table: TableStorage
    let parent: Int64
    let query: Int64
    let queue: QueueTable
    let database: Database

    private var before: BeforeImages { BeforeImages(snapshots: queue.snapshots) }

    /// Whether there are any; nearly always none.
    func exist() throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT EXISTS(SELECT 1 FROM outpost_queue WHERE entity_set = ?)", arguments: [table.set])
            ?? false
    }

    /// The changed row of a key, one deleted here included; `nil` where it was not changed.
    func row(_ key: EntityKey, _ loader: BulkLoader) throws -> Int64? {
        if let rowID = try loader.find(key, parent: parent) {
            return try queue.hasRequests(set: table.set, rowID: rowID, in: database) ? rowID : nil
        }
        return try before.deletedRowID(
            set: table.set, key: key, shape: table.shape, in: database,
            where: { rowID in
                try queue.requests(set: table.set, rowID: rowID, in: database)
                    .contains { $0.detail.parentRow == parent }
            })
    }

    /// Renews the back-end version of a row, and puts the changes on top of it again.
    ///
    /// - Returns: what that does to it.
    func renew(_ rowID: Int64, to entity: Entity, _ loader: BulkLoader) throws -> BulkLoader.Outcome.Change {
        let known = try before.image(set: table.set, rowID: rowID, shape: table.shape, in: database)
        let merged = known?.entity?.merging(entity) ?? entity
        try before.save(
            BeforeImages.Image(entity: merged, etag: entity.control.etag, owner: known?.owner ?? query),
            set: table.set, rowID: rowID, in: database)
        let change = BeforeImages.change(from: known, to: merged, etag: entity.control.etag)
        guard try Rows.owner(table, rowID: rowID, in: database) != nil else { return change }
        let requests = try queue.requests(set: table.set, rowID: rowID, in: database)
        try loader.update(rowID, requests.reduce(merged) { $0.merging($1.changes) })
        return change
    }
}
