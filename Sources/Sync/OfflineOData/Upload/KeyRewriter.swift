import GRDB
import ODataModel
import ODataSQL

/// Replaces a temporary key with the key that the service assigned: in the row, in the rows that refer to it, and
/// in pending requests. The old key stays an alias (rule 11).
struct KeyRewriter {
    let mapping: StorageMapping
    let queue: QueueTable

    /// - Returns: The server version that a download brought before under the real key. It is newer than the
    ///   response to the request.
    func rewrite(
        _ request: QueuedRequest, _ table: TableStorage, to key: EntityKey, in database: Database
    ) throws -> BeforeImages.Image? {
        let old = ODataEntity(shape: table.shape, key: request.key)
        let new = ODataEntity(shape: table.shape, key: key)
        let twin = try makeRoom(
            for: key, table, rowID: request.rowID, parent: request.parentRow, in: database)
        try rewrite(request, table, from: old, to: new, reaching: .all, in: database)
        return twin
    }

    /// Gives an entity whose creation is pending another temporary key if the service has its own entity under
    /// that key. Rows of the service that refer to its entity keep their reference.
    ///
    /// - Parameters:
    ///   - rowID: the local row with the key.
    ///   - key: the key of the service's entity.
    /// - Returns: whether the row has another key now. It keeps its key if both are the same entity, or if the
    ///   type has no free number.
    func giveWay(_ rowID: Int64, to key: EntityKey, _ table: TableStorage, in database: Database) throws -> Bool {
        guard let creation = try queue.requests(set: table.set, rowID: rowID, in: database).first,
            creation.kind == .create, !creation.omitted.isEmpty, creation.key == key
        else { return false }
        let old = ODataEntity(shape: table.shape, key: key)
        var new = old
        for (part, ordinal) in zip(table.shape.key, table.shape.keyOrdinals) where creation.omitted.contains(part.path)
        {
            let property = table.shape.properties[ordinal]
            let keys = TemporaryKeys(mapping: mapping)
            guard let next = try keys.nextNumber(for: property, ordinal: ordinal, of: table, in: database) else {
                return false
            }
            new[part.path] = .integer(next)
        }
        try queue.rewrite(creation.id, key: new, changes: creation.changes, base: creation.base, in: database)
        try rewrite(creation, table, from: old, to: new, reaching: .waiting, in: database)
        return true
    }

    /// The rows that a rewrite of references includes.
    private enum Reach {
        /// All rows that have the key, except the rows that a download brought.
        case all
        /// The local rows that refer to an entity whose creation is pending.
        case waiting
    }

    private func rewrite(
        _ request: QueuedRequest, _ table: TableStorage, from old: ODataEntity, to new: ODataEntity,
        reaching reach: Reach,
        in database: Database
    ) throws {
        let names = table.shape.key.map(\.path)
        var former: [String: ODataValue] = [:]
        var values: [String: ODataValue] = [:]
        for name in names {
            former[name] = old[name]
            values[name] = new[name]
        }
        try Rows.update(table, rowID: request.rowID, values, in: database)
        try Aliases(mapping: mapping).add(
            set: request.entitySet, key: request.key, rowID: request.rowID, in: database)
        for waiting in try queue.requests(set: request.entitySet, rowID: request.rowID, in: database)
        where waiting.id != request.id {
            let base = waiting.base.map { $0.replacing(former, by: values) ?? $0 }
            try queue.rewrite(waiting.id, key: new, changes: waiting.changes, base: base, in: database)
        }
        if try hasReferencesOnShelf(in: database) {
            // Rows that were deleted with another entity may come back, and must not have the old key then.
            try DeletionShelf(mapping: mapping).includingRows(in: database) {
                try rewriteReferences(
                    to: request.entitySet, from: old, to: new, behind: [request.id], reaching: reach, in: database)
            }
        } else {
            try rewriteReferences(
                to: request.entitySet, from: old, to: new, behind: [request.id], reaching: reach, in: database)
        }
    }

    /// Writes the assigned key into the pending relations of an entity whose row is removed: the row cannot
    /// provide the key later.
    func rewriteRelations(
        of request: QueuedRequest, _ table: TableStorage, to key: EntityKey, in database: Database
    ) throws {
        let new = ODataEntity(shape: table.shape, key: key)
        for link in try queue.links(set: request.entitySet, rowID: request.rowID, in: database) {
            if link.entitySet == request.entitySet, link.relation?.sourceRow == request.rowID {
                try queue.rewrite(link.id, key: new, changes: link.changes, base: link.base, in: database)
            }
            guard case .relation(var relation) = link.subject, relation.targetSet == request.entitySet,
                relation.targetRow == request.rowID
            else { continue }
            relation.target = KeyURL.url(set: request.entitySet, key: key, mapping).description
            try queue.setSubject(.relation(relation), of: link.id, in: database)
        }
    }

    /// Whether rows that were deleted with another entity may refer to other entities.
    private func hasReferencesOnShelf(in database: Database) throws -> Bool {
        let sets = try String.fetchAll(database, sql: "SELECT DISTINCT entity_set FROM outpost_shelf")
        return sets.contains { set in
            mapping.tables.values.contains { $0.set.hasPrefix(set + "/") && !references(of: $0).isEmpty }
        }
    }

    /// Merges the row with the row of the same entity that a download brought under its real key.
    ///
    /// - Returns: As ``rewrite(_:_:to:in:)``.
    func makeRoom(
        for key: EntityKey, _ table: TableStorage, rowID: Int64, parent: Int64?, in database: Database
    ) throws -> BeforeImages.Image? {
        guard !key.parts.isEmpty else { return nil }
        let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
        let before = BeforeImages(snapshots: queue.snapshots)
        var found = try loader.find(key, parent: parent)
        let isDeleted = found == nil
        if isDeleted, parent == nil {
            // The entity may have been deleted locally since the download.
            found = try before.rowID(set: table.set, key: key, shape: table.shape, in: database) { $0 != rowID }
        }
        guard let twin = found, twin != rowID else { return nil }
        // The row may be another local creation, whose temporary number the service has assigned now.
        if !isDeleted, try giveWay(twin, to: key, table, in: database) { return nil }
        if !isDeleted, try isSuccessor(twin, of: rowID, table, in: database) { return nil }
        let shelf = DeletionShelf(mapping: mapping)
        // The rows deleted with the twin follow the row that stays, once this one is restored.
        let isBack = try isDeleted && !shelf.isEmpty(set: table.set, rowID: twin, in: database)
        if isBack { try bringBack(twin, loader, table, in: database) }
        let changed = try before.image(set: table.set, rowID: twin, shape: table.shape, in: database)
        let owner = try Rows.owner(table, rowID: twin, in: database) ?? changed?.owner ?? 0
        let current = try loader.read(twin)
        let version = changed ?? .init(entity: current, etag: current?.control.etag, owner: owner)
        // Changes of the twin become changes of the row that stays.
        try database.execute(
            sql: "UPDATE outpost_queue SET row_id = ? WHERE entity_set = ? AND row_id = ?",
            arguments: [rowID, table.set, twin])
        try ReplayCounters.move(from: RowReference(set: table.set, rowID: twin), to: rowID, in: database)
        try LogRecordTable.move(from: RowReference(set: table.set, rowID: twin), to: rowID, in: database)
        try database.execute(
            sql: "UPDATE OR REPLACE outpost_before SET row_id = ? WHERE entity_set = ? AND row_id = ?",
            arguments: [rowID, table.set, twin])
        try moveRelated(from: twin, to: rowID, table, in: database)
        try loader.delete(twin)
        if isBack, try Rows.owner(table, rowID: rowID, in: database) == nil {
            try bringBack(rowID, loader, table, in: database)
        }
        try Rows.setOwner(owner, table, rowID: rowID, in: database)
        for name in ["outpost_member", "outpost_expanded"] {
            try database.execute(
                sql: "UPDATE OR REPLACE \(name) SET row_id = ? WHERE entity_set = ? AND row_id = ?",
                arguments: [rowID, table.set, twin])
        }
        if isDeleted { try delete(rowID, table, in: database) }
        return version
    }

    /// Restores a locally deleted row, with the rows that were deleted with it.
    private func bringBack(
        _ rowID: Int64, _ loader: BulkLoader, _ table: TableStorage, in database: Database
    ) throws {
        let image = try BeforeImages(snapshots: queue.snapshots).image(
            set: table.set, rowID: rowID, shape: table.shape, in: database)
        guard let image, let entity = image.entity else { return }
        try loader.restore(rowID, entity, owner: image.owner)
        try DeletionShelf(mapping: mapping).restore(set: table.set, rowID: rowID, in: database)
    }

    /// Whether the entity was created under the key of another entity that was created and deleted before. Its
    /// creation is sent after that deletion.
    private func isSuccessor(
        _ successor: Int64, of rowID: Int64, _ table: TableStorage, in database: Database
    ) throws -> Bool {
        guard try queue.requests(set: table.set, rowID: successor, in: database).first?.kind == .create else {
            return false
        }
        return try queue.requests(set: table.set, rowID: rowID, in: database).contains { $0.kind == .delete }
    }

    /// The deletion of the twin becomes the deletion of the row that stays: once, after all other changes of
    /// both.
    private func delete(_ rowID: Int64, _ table: TableStorage, in database: Database) throws {
        let deletions = try queue.requests(set: table.set, rowID: rowID, in: database).filter { $0.kind == .delete }
        for other in deletions.dropLast() where other.state != .sending {
            try queue.replaceDependency(on: other.id, by: deletions.last?.id, in: database)
            try queue.remove(other.id, in: database)
        }
        guard try Rows.owner(table, rowID: rowID, in: database) != nil else { return }
        let shelf = DeletionShelf(mapping: mapping)
        try shelf.clear(rowID, table, queue, BeforeImages(snapshots: queue.snapshots), in: database)
        for link in try queue.links(set: table.set, rowID: rowID, in: database) where link.state != .sending {
            // As in a deletion: the service removes relations with the entity.
            try Relations(mapping: mapping).remove(link, queue, in: database)
        }
        try BulkLoader(set: table.set, mapping: mapping, in: database).delete(rowID)
    }

    /// Moves contained entities, relations, streams and their requests from the twin to the row that stays, since
    /// they would be deleted with the twin. If both rows have one, the local one stays.
    private func moveRelated(
        from twin: Int64, to rowID: Int64, _ table: TableStorage, in database: Database
    ) throws {
        func move(_ name: String, _ column: String) throws {
            let (name, column) = (name.sqlIdentifier, column.sqlIdentifier)
            try database.execute(
                sql: "UPDATE OR IGNORE \(name) SET \(column) = ? WHERE \(column) = ?", arguments: [rowID, twin])
        }
        for navigation in table.navigation.values where navigation.target.hasPrefix(table.set + "/") {
            guard let contained = mapping.tables[navigation.target] else { continue }
            try move(contained.table, OfflineLayout.parentColumn)
        }
        try Relations(mapping: mapping).beneathWaiting(queue, in: database) {
            for other in mapping.tables.values {
                for case .link(let target, let link, let source, let end) in other.navigation.values {
                    if other.set == table.set { try move(link, source) }
                    if target == table.set { try move(link, end) }
                }
            }
            try moveRequests(from: twin, to: rowID, table, in: database)
        }
        try database.execute(
            sql: "UPDATE outpost_stream SET row_id = ? WHERE entity_set = ? AND row_id = ?",
            arguments: [rowID, table.set, twin])
    }

    /// Moves the requests about the twin, other than those of its own row, to the row that stays.
    private func moveRequests(
        from twin: Int64, to rowID: Int64, _ table: TableStorage, in database: Database
    ) throws {
        for request in try queue.requests(in: database) {
            let moved = moved(request.subject, of: request.entitySet, from: twin, to: rowID, table)
            if moved != request.subject { try queue.setSubject(moved, of: request.id, in: database) }
        }
    }

    /// The subject of a request, with the twin replaced by the row that stays.
    private func moved(
        _ subject: QueuedRequest.Subject, of set: String, from twin: Int64, to rowID: Int64, _ table: TableStorage
    ) -> QueuedRequest.Subject {
        var subject = subject
        switch subject {
        case .relation(var relation):
            func moved(_ row: Int64, in set: String) -> Int64 { set == table.set && row == twin ? rowID : row }
            func moved(_ rows: QueuedRequest.RelatedPair) -> QueuedRequest.RelatedPair {
                QueuedRequest.RelatedPair(
                    source: moved(rows.source, in: set), target: moved(rows.target, in: relation.targetSet))
            }
            relation.sourceRow = moved(relation.sourceRow, in: set)
            relation.targetRow = moved(relation.targetRow, in: relation.targetSet)
            relation.replaced = relation.replaced?.map(moved)
            relation.seen = relation.seen?.map(moved)
            return .relation(relation)
        case .call(var call):
            if call.bound == RowReference(set: table.set, rowID: twin) { call.bound?.rowID = rowID }
            return .call(call)
        case .entity, .stream:
            let isContained =
                set.hasPrefix(table.set + "/") && !set.dropFirst(table.set.count + 1).contains("/")
            if isContained, subject.container?.row == twin { subject.container?.row = rowID }
            return subject
        case .unmapped(let request, let former):
            return .unmapped(request, moved(former, of: set, from: twin, to: rowID, table))
        }
    }

    /// An entity whose old values other rows still refer to.
    private struct Renewal {
        let set: String
        let old: ODataEntity
        let new: ODataEntity
        /// The requests of the entity. A local change that refers to the entity waits for one of them.
        let requests: Set<Int64>
    }

    /// Replaces the old values of an entity with the new ones in all rows that refer to it, and continues with
    /// the rows whose keys changed. A chain of such keys can be as long as the table, so a work list replaces
    /// recursion, which would exhaust the stack.
    private func rewriteReferences(
        to set: String, from old: ODataEntity, to new: ODataEntity, behind earlier: Set<Int64>, reaching reach: Reach,
        in database: Database
    ) throws {
        var open = [Renewal(set: set, old: old, new: new, requests: earlier)]
        while let renewal = open.popLast() {
            open += try rewriteReferences(to: renewal, reaching: reach, in: database).reversed()
        }
    }

    /// - Returns: The entities whose changed values other rows refer to.
    private func rewriteReferences(
        to renewal: Renewal, reaching reach: Reach, in database: Database
    ) throws -> [Renewal] {
        let (set, earlier) = (renewal.set, renewal.requests)
        var renewed: [Renewal] = []
        for table in mapping.tables.values {
            guard table.navigation.values.contains(where: { $0.target == set }) else { continue }
            for navigation in references(of: table) where table.navigation[navigation.name]?.target == set {
                var oldValues: [String: ODataValue] = [:]
                var newValues: [String: ODataValue] = [:]
                for constraint in navigation.constraints {
                    oldValues[constraint.property] = renewal.old[constraint.referencedProperty]
                    newValues[constraint.property] = renewal.new[constraint.referencedProperty]
                }
                guard oldValues.count == navigation.constraints.count, newValues != oldValues else { continue }
                // The unchanged requests tell which rows these are.
                let rows =
                    switch reach {
                    case .all: try rows(of: table, madeWith: oldValues, in: database)
                    case .waiting: Set(try queue.dependents(on: earlier, ofSet: table.set, in: database).map(\.rowID))
                    }
                try rewriteRequests(table, from: oldValues, to: newValues, behind: earlier, only: rows, in: database)
                renewed += try rewriteRows(table, from: oldValues, to: newValues, only: rows, in: database)
            }
        }
        return renewed
    }

    /// The local rows that refer to a locally created entity. Rows from the service may use the same temporary
    /// number for another entity and are left out.
    ///
    /// - Returns: `nil` for all rows with the values, which is the usual case.
    private func rows(
        of table: TableStorage, madeWith values: [String: ODataValue], in database: Database
    ) throws -> Set<Int64>? {
        let all = try Rows.all(table, values, in: database)
        let theirs = try all.filter { rowID in
            guard let owner = try Rows.owner(table, rowID: rowID, in: database), owner != 0 else { return false }
            return try !queue.requests(set: table.set, rowID: rowID, in: database).contains { request in
                request.kind == .create || values.allSatisfy { request.changes[$0.key] == $0.value }
            }
        }
        return theirs.isEmpty ? nil : Set(all).subtracting(theirs)
    }

    /// The navigation properties by which entities of a table and its derived types refer to other entities.
    private func references(of table: TableStorage) -> [NavigationProperty] {
        var shapes = [table.shape]
        var index = 0
        var found: [NavigationProperty] = []
        while index < shapes.count {
            for navigation in shapes[index].navigationProperties
            where !navigation.isCollection && !navigation.constraints.isEmpty {
                // Derived types inherit the navigation properties of their bases.
                let isKnown = found.contains {
                    $0.name == navigation.name && $0.constraints == navigation.constraints
                }
                if !isKnown { found.append(navigation) }
            }
            shapes += mapping.model.derivedTypes(of: shapes[index].name).compactMap(mapping.model.shape)
            index += 1
        }
        return found
    }

    /// Replaces old values with new ones in every row that has them. If the values are part of its key, a row
    /// keeps its old links and is merged with a downloaded row under the new key.
    ///
    /// - Parameter rows: `nil` for all rows with the values.
    /// - Returns: The properties with old values that other rows may refer to.
    private func rewriteRows(
        _ table: TableStorage, from old: [String: ODataValue], to new: [String: ODataValue], only rows: Set<Int64>?,
        in database: Database
    ) throws -> [Renewal] {
        let isKey = table.shape.key.contains { old[$0.path] != nil }
        guard rows != nil || isKey || isReferred(table.set, by: Set(old.keys)) else {
            try Rows.replace(old, with: new, table, in: database)
            return []
        }
        var renewed: [Renewal] = []
        let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
        for rowID in try Rows.all(table, old, in: database) where rows?.contains(rowID) ?? true {
            guard let former = try loader.read(rowID) else { continue }
            var present = former
            for (name, value) in new { present[name] = value }
            if isKey, let oldKey = former.key, let key = present.key {
                let parent = try Containment(mapping: mapping).parent(of: rowID, table, in: database)
                if let version = try makeRoom(for: key, table, rowID: rowID, parent: parent, in: database) {
                    try BeforeImages(snapshots: queue.snapshots).save(
                        version, set: table.set, rowID: rowID, in: database)
                }
                if mapping.model.entitySet(table.set) != nil {
                    try Aliases(mapping: mapping).add(set: table.set, key: oldKey, rowID: rowID, in: database)
                }
            }
            try Rows.update(table, rowID: rowID, new, in: database)
            let own = try queue.requests(set: table.set, rowID: rowID, in: database).map(\.id)
            renewed.append(Renewal(set: table.set, old: former, new: present, requests: Set(own)))
        }
        return renewed
    }

    /// Whether any navigation property refers to entities of a set by some of the given properties.
    private func isReferred(_ set: String, by properties: Set<String>) -> Bool {
        mapping.tables.values.contains { table in
            guard table.navigation.values.contains(where: { $0.target == set }) else { return false }
            return references(of: table).contains { navigation in
                table.navigation[navigation.name]?.target == set
                    && navigation.constraints.contains { properties.contains($0.referencedProperty) }
            }
        }
    }

    /// Replaces the same values in the requests that may have them.
    private func rewriteRequests(
        _ table: TableStorage, from old: [String: ODataValue], to new: [String: ODataValue], behind earlier: Set<Int64>,
        only chosen: Set<Int64>?, in database: Database
    ) throws {
        for request in try requests(of: table, with: old, behind: earlier, only: chosen, in: database) {
            var changes = request.changes
            var key = ODataEntity(shape: table.shape, key: request.key)
            let base = request.base?.replacing(old, by: new)
            let isReference = old.allSatisfy { (changes[$0.key] ?? key[$0.key]) == $0.value }
            guard isReference || base != nil else { continue }
            for (name, value) in new where isReference {
                if changes[name] != nil { changes[name] = value }
                if key[name] != nil { key[name] = value }
            }
            try queue.rewrite(request.id, key: key, changes: changes, base: base ?? request.base, in: database)
        }
    }

    /// The requests of a set that may have values of a locally changed entity: requests of rows that have the
    /// values now, and of rows that had them at the time of a request that depends on the entity.
    private func requests(
        of table: TableStorage, with values: [String: ODataValue], behind earlier: Set<Int64>, only chosen: Set<Int64>?,
        in database: Database
    ) throws -> [QueuedRequest] {
        guard try queue.hasRequests(ofSet: table.set, in: database) else { return [] }
        var rows = Set(try Rows.all(table, values, in: database))
        if let chosen { rows.formIntersection(chosen) }
        var found: [Int64: QueuedRequest] = [:]
        for (id, row) in try queue.dependents(on: earlier, ofSet: table.set, in: database) {
            if row == 0 { found[id] = try queue.request(id, in: database) } else { rows.insert(row) }
        }
        let isKey = table.shape.key.contains { values[$0.path] != nil }
        for row in rows {
            for request in try queue.requests(set: table.set, rowID: row, in: database) { found[request.id] = request }
            guard isKey else { continue }
            for link in try queue.links(set: table.set, rowID: row, in: database) where link.entitySet == table.set {
                found[link.id] = link
            }
        }
        return found.values.sorted { $0.id < $1.id }
    }
}

extension ODataEntity {
    /// Returns this entity with some values replaced; `nil` if it does not have all of the old values.
    fileprivate func replacing(_ old: [String: ODataValue], by new: [String: ODataValue]) -> ODataEntity? {
        guard old.allSatisfy({ self[$0.key] == $0.value }) else { return nil }
        var result = self
        for (name, value) in new { result[name] = value }
        return result
    }
}
