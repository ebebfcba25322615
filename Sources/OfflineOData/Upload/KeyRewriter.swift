import GRDB
import ODataModel
import ODataStore

/// Puts the key that the back end gave in the place of a temporary one: in the row, in the rows that refer
/// to it, and in the requests that wait; the old key stays an alias (rule 11).
struct KeyRewriter {
    let mapping: StorageMapping
    let queue: QueueTable

    /// - Returns: The back-end version that a download had brought already, under the real key; it is newer than the
    ///   answer to the request.
    func rewrite(
        _ request: QueuedRequest, _ table: TableStorage, to key: EntityKey, in database: Database
    ) throws -> BeforeImages.Image? {
        let old = Entity(shape: table.shape, key: request.key)
        let new = Entity(shape: table.shape, key: key)
        let twin = try makeRoom(for: key, table, request, in: database)
        let names = table.shape.key.map(\.path)
        var values: [String: ODataValue] = [:]
        for name in names { values[name] = new[name] }
        try Rows.update(table, rowID: request.rowID, values, in: database)
        try Aliases(mapping: mapping).add(
            set: request.entitySet, key: request.key, rowID: request.rowID, in: database)
        for waiting in try queue.requests(set: request.entitySet, rowID: request.rowID, in: database)
        where waiting.id != request.id {
            try queue.rewrite(waiting.id, key: new, changes: waiting.changes, base: waiting.base, in: database)
        }
        try rewriteReferences(to: request.entitySet, from: old, to: new, in: database)
        return twin
    }

    /// A download may have brought the entity already, under its real key: it is the same one.
    private func makeRoom(
        for key: EntityKey, _ table: TableStorage, _ request: QueuedRequest, in database: Database
    ) throws -> BeforeImages.Image? {
        let rowID = request.rowID
        let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
        guard let twin = try loader.find(key, parent: request.detail.parentRow), twin != rowID else { return nil }
        let owner = try Rows.owner(table, rowID: twin, in: database) ?? 0
        let before = BeforeImages(snapshots: queue.snapshots)
        let changed = try before.image(set: table.set, rowID: twin, shape: table.shape, in: database)
        let current = try loader.read(twin)
        let version = changed ?? .init(entity: current, etag: current?.control.etag, owner: owner)
        // Changes of the one are changes of the other.
        try database.execute(
            sql: "UPDATE outpost_queue SET row_id = ? WHERE entity_set = ? AND row_id = ?",
            arguments: [rowID, table.set, twin])
        try database.execute(
            sql: "UPDATE OR REPLACE outpost_before SET row_id = ? WHERE entity_set = ? AND row_id = ?",
            arguments: [rowID, table.set, twin])
        try moveRelated(from: twin, to: rowID, table, in: database)
        try loader.delete(twin)
        try Rows.setOwner(owner, table, rowID: rowID, in: database)
        try database.execute(
            sql: "UPDATE OR REPLACE outpost_member SET row_id = ? WHERE entity_set = ? AND row_id = ?",
            arguments: [rowID, table.set, twin])
        return version
    }

    /// Gives what the twin contains, its relations, streams and the requests about them to the row that stays: they would
    /// go with the twin. What both have, the row that stays has as it was made here.
    private func moveRelated(
        from twin: Int64, to rowID: Int64, _ table: TableStorage, in database: Database
    ) throws {
        func move(_ name: String, _ column: String) throws {
            let (name, column) = (name.quotedDatabaseIdentifier, column.quotedDatabaseIdentifier)
            try database.execute(
                sql: "UPDATE OR IGNORE \(name) SET \(column) = ? WHERE \(column) = ?", arguments: [rowID, twin])
        }
        for navigation in table.navigation.values where navigation.target.hasPrefix(table.set + "/") {
            guard let contained = mapping.tables[navigation.target] else { continue }
            try move(contained.table, OfflineLayout.parentColumn)
        }
        for other in mapping.tables.values {
            for case .link(let target, let link, let source, let end) in other.navigation.values {
                if other.set == table.set { try move(link, source) }
                if target == table.set { try move(link, end) }
            }
        }
        try database.execute(
            sql: "UPDATE outpost_stream SET row_id = ? WHERE entity_set = ? AND row_id = ?",
            arguments: [rowID, table.set, twin])
        for request in try queue.requests(in: database) {
            var detail = request.detail
            if request.entitySet == table.set, detail.sourceRow == twin { detail.sourceRow = rowID }
            if detail.targetSet == table.set, detail.targetRow == twin { detail.targetRow = rowID }
            if detail.parentRow == twin, request.entitySet.hasPrefix(table.set + "/"),
                !request.entitySet.dropFirst(table.set.count + 1).contains("/")
            {
                detail.parentRow = rowID
            }
            if detail != request.detail { try queue.setDetail(detail, of: request.id, in: database) }
        }
    }

    private func rewriteReferences(
        to set: String, from old: Entity, to new: Entity, in database: Database
    ) throws {
        for table in mapping.tables.values {
            for navigation in table.shape.navigationProperties where !navigation.isCollection {
                guard table.navigation[navigation.name]?.target == set, !navigation.constraints.isEmpty else {
                    continue
                }
                var oldValues: [String: ODataValue] = [:]
                var newValues: [String: ODataValue] = [:]
                for constraint in navigation.constraints {
                    oldValues[constraint.property] = old[constraint.referencedProperty]
                    newValues[constraint.property] = new[constraint.referencedProperty]
                }
                guard oldValues.count == navigation.constraints.count, newValues != oldValues else { continue }
                try rewriteRequests(table, from: oldValues, to: newValues, in: database)
                try keepKeys(table, oldValues, in: database)
                try Rows.replace(oldValues, with: newValues, table, in: database)
            }
        }
    }

    /// Where the reference is part of the key, the rows' own old links stay aliases too.
    private func keepKeys(_ table: TableStorage, _ old: [String: ODataValue], in database: Database) throws {
        guard table.shape.key.contains(where: { old[$0.path] != nil }), mapping.model.entitySet(table.set) != nil else {
            return
        }
        let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
        for rowID in try Rows.all(table, old, in: database) {
            guard let key = try loader.read(rowID)?.key else { continue }
            try Aliases(mapping: mapping).add(set: table.set, key: key, rowID: rowID, in: database)
        }
    }

    /// The same in the requests that wait for this one.
    private func rewriteRequests(
        _ table: TableStorage, from old: [String: ODataValue], to new: [String: ODataValue], in database: Database
    ) throws {
        let ids = try Int64.fetchAll(
            database, sql: "SELECT id FROM outpost_queue WHERE entity_set = ?", arguments: [table.set])
        for id in ids {
            guard let request = try queue.request(id, in: database) else { continue }
            var changes = request.changes
            var key = Entity(shape: table.shape, key: request.key)
            let isReference = old.allSatisfy { (changes[$0.key] ?? key[$0.key]) == $0.value }
            guard isReference else { continue }
            for (name, value) in new {
                if changes[name] != nil { changes[name] = value }
                if key[name] != nil { key[name] = value }
            }
            try queue.rewrite(id, key: key, changes: changes, base: request.base, in: database)
        }
    }
}
