import GRDB
import ODataModel
import ODataSQL
import ODataService

/// Puts each local change into the queue, in the transaction that changes the row.
struct QueueHook: WriteHook {
    let mapping: StorageMapping
    let environment: EngineEnvironment
    let queue: QueueTable
    let before: BeforeImages
    /// The sets with changes that are never sent.
    private let clientOnlySets: Set<String>
    /// Whether the deletion of an unsent creation withdraws the creation.
    let undoesLocalCreation: Bool

    init(mapping: StorageMapping, environment: EngineEnvironment, undoesLocalCreation: Bool = false) {
        self.undoesLocalCreation = undoesLocalCreation
        self.mapping = mapping
        clientOnlySets = Set(mapping.model.container.entitySets.filter(\.isClientOnly).map(\.name))
        self.environment = environment
        queue = QueueTable(model: mapping.model, environment: environment)
        before = BeforeImages(snapshots: queue.snapshots)
    }

    /// Gives temporary values to key properties that were left out (rule 11).
    func prepareInsert(_ entity: inout ODataEntity, into table: TableStorage, in database: Database) throws {
        try requireKeyOfProperties(entity.shape, in: table)
        for key in entity.shape.key {
            guard let ordinal = entity.shape.ordinal(of: key.path), entity.values[ordinal]?.isNull ?? true else {
                continue
            }
            let property = entity.shape.properties[ordinal]
            entity[key.path] = try temporaryKey(property, ordinal: ordinal, table: table, in: database)
        }
    }

    /// Refuses to change entities with a key part inside a complex property. A queued request identifies its
    /// entity by values of top-level properties.
    ///
    /// - Throws: `ODataError` 501.
    private func requireKeyOfProperties(_ shape: TypeShape, in table: TableStorage) throws(ODataError) {
        guard let part = shape.key.first(where: { shape.ordinal(of: $0.path) == nil }), !isClientOnly(table.set) else {
            return
        }
        throw ODataError(
            status: 501, code: "NotImplemented",
            message:
                "Entities of \(table.set) cannot be changed offline, because the key part \(part.path) is in a complex property.",
            target: part.path)
    }

    func prepareUpdate(
        _ patch: inout ODataEntity, of before: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest,
        database: Database
    ) throws {
        try requireKeyOfProperties(before.entity.shape, in: table)
    }

    private func temporaryKey(
        _ property: Property, ordinal: Int, table: TableStorage, in database: Database
    ) throws -> ODataValue {
        switch property.type.primitive {
        case .guid?: return .guid(environment.newGuid())
        case .string?:
            let text = TemporaryKeys.textPrefix + "\(environment.newGuid())"
            guard text.utf8.count <= property.facets.maxLength ?? .max else { break }
            return .string(text)
        case let type? where type.integerRange.map({ $0.lowerBound < 0 }) ?? false:
            let keys = TemporaryKeys(mapping: mapping)
            guard let next = try keys.nextNumber(for: property, ordinal: ordinal, of: table, in: database)
            else { break }
            return .integer(next)
        default: break
        }
        throw ODataError(
            status: 400, code: "KeyRequired",
            message: "\(property.name) must be given: no temporary value of type \(property.type) can stand for it.",
            target: property.name)
    }

    func didWrite(_ change: RowChange, in database: Database) throws {
        guard let rowID = change.rowID else { return }
        if isClientOnly(change.table.set) {
            guard change.kind == .delete else { return try setLocalETag(change.table, rowID: rowID, in: database) }
            // The before image of a draft is removed with it.
            return try before.remove(set: change.table.set, rowID: rowID, in: database)
        }
        let isSingleton = mapping.model.singleton(change.table.set) != nil && change.kind == .update
        let isContained = change.parent != nil && !change.table.shape.key.isEmpty
        guard isSingleton || isContained || mapping.model.entitySet(change.table.set) != nil else {
            throw ODataError.notImplemented("Changing \(change.table.set) offline")
        }
        let change = try followingAliases(change, rowID: rowID, in: database)
        let earlier = try queue.requests(set: change.table.set, rowID: rowID, in: database)
        switch change.kind {
        case .insert: try queueCreate(change, rowID: rowID, in: database)
        case .update:
            guard try queueUpdate(change, rowID: rowID, earlier: earlier, in: database) else { return }
        case .delete:
            try queueDelete(change, rowID: rowID, earlier: earlier, in: database)
            return try noteEdit(change, rowID: rowID, in: database)
        }
        try noteEdit(change, rowID: rowID, in: database)
        // The local ETag tells other programs with this store open that the row has changed.
        try setLocalETag(change.table, rowID: rowID, in: database)
    }

    func isClientOnly(_ set: String) -> Bool {
        clientOnlySets.contains(String(set.prefix { $0 != "/" }))
    }

    /// Contained entities and relations are deleted with the entity, at the service too. Their unsent changes
    /// leave the queue. All of it is kept for an undo of the deletion.
    func prepareDelete(
        _ row: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest, database: Database
    ) throws {
        guard let rowID = row.rowID, !isClientOnly(table.set) else { return }
        try requireKeyOfProperties(row.entity.shape, in: table)
        try shelf.clear(rowID, table, queue, before, in: database)
    }

    private var shelf: DeletionShelf { DeletionShelf(mapping: mapping) }

    /// Replaces temporary keys that an app still uses with the keys that the service assigned meanwhile.
    private func followingAliases(_ change: RowChange, rowID: Int64, in database: Database) throws -> RowChange {
        guard change.kind != .delete, var after = change.after else { return change }
        let aliases = Aliases(mapping: mapping)
        if change.kind == .insert, change.request.method != .create, let key = after.key,
            try aliases.rowID(set: change.table.set, key: key, in: database) != nil
        {
            // An update of an entity that got another key after the request was resolved.
            throw ODataError.notFound(KeyURL.url(set: change.table.set, key: key, mapping).description)
        }
        let replaced = try aliases.references(of: after, table: change.table, in: database)
        guard !replaced.isEmpty else { return change }
        try Rows.update(change.table, rowID: rowID, replaced, in: database)
        for (name, value) in replaced { after[name] = value }
        var change = change
        change.after = after
        return change
    }

    private func queueCreate(_ change: RowChange, rowID: Int64, in database: Database) throws {
        guard let after = change.after else { return }
        let keys = Set(after.shape.key.map(\.path))
        let omitted = keys.subtracting(change.changedProperties)
        try append(
            .create, change, rowID: rowID, changes: after.only(where: { !omitted.contains($0) && after[$0] != .null }),
            base: nil, etag: nil, omitted: omitted, earlier: [], in: database)
    }

    /// - Returns: whether there is anything to send.
    private func queueUpdate(
        _ change: RowChange, rowID: Int64, earlier: [QueuedRequest], in database: Database
    ) throws -> Bool {
        guard let old = change.before, let after = change.after else { return false }
        let changed = change.changedProperties.filter {
            !after[$0].isIdentical(to: old[$0]) && change.table.shape.navigationProperty($0) == nil
        }
        let options = ChangeOptions(change.request)
        // Without a difference, there is nothing to send.
        guard !changed.isEmpty || options.sendsEmptyUpdate else { return false }
        try keepBeforeImage(change, rowID: rowID, earlier: earlier, in: database)
        var changes = after.only(where: changed.contains)
        var base = old.only(where: changed.contains)
        // A missing dynamic property counts as null.
        for name in changed where after.shape.ordinal(of: name) == nil {
            changes.dynamicProperties[name] = after.dynamicProperties[name] ?? .null
            base.dynamicProperties[name] = old.dynamicProperties[name] ?? .null
        }
        if !options.isUnmodifiable,
            let mending = Mending(of: earlier, changing: changed)
                ?? (options.isHeld ? Mending(ofHeld: earlier) : nil),
            mending.takes(options),
            try mending.putBack(
                joining: options,
                waitingFor: awaited(by: mending.joined(with: changes), of: after, change, rowID: rowID, in: database),
                at: environment.instant.description, queue, in: database)
        {
            try mending.rewrite(with: changes, base: base, queue, in: database)
            return true
        }
        try append(
            .update, change, rowID: rowID, changes: changes, base: base,
            etag: try etag(of: change, rowID: rowID, earlier: earlier, in: database), omitted: [], earlier: earlier,
            in: database)
        return true
    }

    /// The ETag of the base version of a change; `nil` if an earlier change will return it (rule 5). A stream
    /// does not count as an earlier change: changes of the entity by other clients must be detected after it as
    /// before it.
    private func etag(
        of change: RowChange, rowID: Int64, earlier: [QueuedRequest], in database: Database
    ) throws -> String? {
        if earlier.isEmpty { return change.before?.control.etag }
        guard earlier.allSatisfy({ $0.kind == .stream }) else { return nil }
        return try before.image(set: change.table.set, rowID: rowID, shape: change.table.shape, in: database)?.etag
    }

    private func queueDelete(
        _ change: RowChange, rowID: Int64, earlier: [QueuedRequest], in database: Database
    ) throws {
        guard var old = change.before else { return }
        let options = ChangeOptions(change.request)
        var rest = earlier
        var etag = try etag(of: change, rowID: rowID, earlier: earlier, in: database)
        var neverExisted = false
        for refused in earlier where refused.state == .refused {
            if refused.kind == .create { neverExisted = true }
            // The ETag of a stream is not the ETag of its entity.
            etag = refused.failure?.theirs.map(\.control.etag) ?? (refused.kind == .stream ? nil : refused.etag) ?? etag
            try queue.remove(refused.id, in: database)
            // An undo of the deletion shows the server version.
            if let stream = refused.stream { try StreamTable.remove(stream, in: database) }
            try queue.reviveChangeSet(of: refused, by: options, at: environment.instant.description, in: database)
            rest.removeAll { $0.id == refused.id }
        }
        for link in try queue.links(set: change.table.set, rowID: rowID, in: database) where link.state != .sending {
            // The service removes relations with the entity, but keeps the relations that pending requests were
            // to replace.
            try Relations(mapping: mapping).remove(link, queue, in: database)
        }
        if let first = earlier.first, first.kind == .create, first.isUnsent,
            undoesLocalCreation || first.state == .held
        {
            neverExisted = true
        }
        if neverExisted {
            // The service refused the creation or was never asked, so there is nothing to delete or to refer to.
            // An entity of the service under the same key belongs to another client, and comes back.
            try shelf.drop(set: change.table.set, rowID: rowID, in: database)
            let undo = Undo(mapping: mapping, queue: queue, environment: environment)
            try undo.undoDependents(of: earlier, in: database)
            try undo.undo(set: change.table.set, rowID: rowID, parent: change.parent, in: database)
            return
        }
        try keepBeforeImage(change, rowID: rowID, earlier: earlier, in: database)
        // The deleted row cannot hold its owner any more. The owner may differ from the one before the first
        // local change.
        try BeforeImages.setOwner(change.owner ?? 0, set: change.table.set, rowID: rowID, in: database)
        let folded = options.isHeld ? Array(rest.reversed().prefix { $0.state == .held }) : []
        for held in folded {
            // The held changes before the deletion are never sent.
            if held.kind == .update { old = held.base(beneath: old) }
            if let stream = held.stream { try StreamTable.remove(stream, in: database) }
            if held.kind != .stream { etag = held.etag }
            rest.removeLast()
            try queue.remove(held.id, in: database)
        }
        let id = try append(
            .delete, change, rowID: rowID, changes: ODataEntity(shape: old.shape), base: old, etag: etag, omitted: [],
            earlier: rest, in: database)
        // What waited for a foreign key that they give up gets it from the deletion.
        for held in folded { try queue.replaceDependency(on: held.id, by: id, in: database) }
        let failed = earlier.filter { $0.state == .refused || $0.state == .held }.compactMap(\.counter).max()
        if options.isHeld, let failed { try queue.setCounter(failed, of: id, in: database) }
    }

    private func noteEdit(_ change: RowChange, rowID: Int64, in database: Database) throws {
        try ReplayCounters.noteEdit(
            of: RowReference(set: change.table.set, rowID: rowID), ChangeOptions(change.request), in: database)
    }

    /// Stores the server version before the first local change of the row.
    func keepBeforeImage(
        _ change: RowChange, rowID: Int64, earlier: [QueuedRequest], in database: Database
    ) throws {
        guard earlier.isEmpty, let old = change.before else { return }
        let owner = change.owner ?? 0
        try before.save(
            BeforeImages.Image(entity: old, etag: old.control.etag, owner: owner), set: change.table.set,
            rowID: rowID, in: database)
    }

    @discardableResult
    func append(
        _ kind: QueuedRequest.Kind, _ change: RowChange, rowID: Int64, changes: ODataEntity, base: ODataEntity?,
        etag: String?,
        omitted: Set<String>, earlier: [QueuedRequest],
        subject: QueuedRequest.Subject = .entity(QueuedRequest.EntityChange()), in database: Database
    ) throws -> Int64 {
        guard let entity = change.after ?? change.before else {
            throw ODataError.notImplemented("A change of \(change.table.set) without values")
        }
        var depends = Set(earlier.map(\.id))
        var subject = subject
        if let parent = change.parent, let slash = change.table.set.lastIndex(of: "/") {
            let place = try? Containment(mapping: mapping).place(in: change.table.set, of: parent, database)
            subject.container = QueuedRequest.Container(row: parent, url: place?.url.description)
            let container = String(change.table.set[..<slash])
            depends.formUnion(
                try queue.requests(set: container, rowID: parent, in: database).filter { $0.kind == .create }.map(\.id))
        }
        if kind != .delete {
            depends.formUnion(try awaited(by: changes, of: entity, change, rowID: rowID, in: database))
        }
        if kind == .create, let key = entity.key,
            let deleted = try before.rowID(
                set: change.table.set, key: key, shape: change.table.shape, in: database,
                where: { try isIn(change.parent, $0, change.table.set, in: database) })
        {
            // Its key is free only after the former entity with the key is deleted.
            depends.formUnion(try queue.requests(set: change.table.set, rowID: deleted, in: database).map(\.id))
        }
        if kind == .create, omitted.isEmpty, let key = entity.key {
            // A row that was created and deleted locally before anyone else had it has no server version.
            depends.formUnion(
                try queue.deletions(of: key, in: change.table.set, parent: change.parent, in: database))
        }
        let keys = Set(entity.shape.key.map(\.path))
        return try queue.append(
            kind, set: change.table.set, rowID: rowID, key: entity.only(where: keys.contains), changes: changes,
            base: base, etag: etag, omitted: omitted, dependsOn: depends.sorted(),
            createdAt: environment.instant.description, options: ChangeOptions(change.request),
            subject: subject, in: database)
    }

    /// The queued requests of other entities that a creation or an update must wait for (rule 6).
    private func awaited(
        by changes: ODataEntity, of entity: ODataEntity, _ change: RowChange, rowID: Int64, in database: Database
    ) throws -> Set<Int64> {
        try creationsReferenced(by: entity, table: change.table, in: database)
            .union(givers(of: changes, to: entity, rowID: rowID, table: change.table, in: database))
    }

    /// Whether a locally deleted row was contained in another row.
    private func isIn(_ parent: Int64?, _ rowID: Int64, _ set: String, in database: Database) throws -> Bool {
        guard let parent else { return true }
        return try queue.requests(set: set, rowID: rowID, in: database).contains { $0.parentRow == parent }
    }

    /// The queued creations of entities that this entity refers to (rule 6).
    func creationsReferenced(
        by entity: ODataEntity, table: TableStorage, in database: Database
    ) throws -> Set<Int64> {
        var found: Set<Int64> = []
        for navigation in entity.shape.navigationProperties where !navigation.isCollection {
            for row in try mapping.rows(referredToBy: entity, navigation, of: table, in: database) {
                for request in try queue.requests(set: row.set, rowID: row.rowID, in: database)
                where request.kind == .create {
                    found.insert(request.id)
                }
            }
        }
        return found
    }

    func setLocalETag(_ table: TableStorage, rowID: Int64, in database: Database) throws {
        guard case .column(let column) = table.etag, let id = table.rowID else { return }
        try database.execute(
            sql: "UPDATE \(table.table.sqlIdentifier) SET \(column.sqlIdentifier) = ? "
                + "WHERE \(id.sqlIdentifier) = ?",
            arguments: ["W/\"local-\(environment.newGuid())\"", rowID])
    }
}

extension ODataEntity {
    /// Returns the entity with only some of its loaded properties.
    func only(where isKept: (String) -> Bool) -> ODataEntity {
        var result = ODataEntity(shape: shape)
        for (ordinal, property) in shape.properties.enumerated() where isKept(property.name) {
            result.values[ordinal] = values[ordinal]
        }
        for (name, value) in dynamicProperties where isKept(name) { result.dynamicProperties[name] = value }
        result.control = control
        return result
    }

    /// The names of the loaded properties, including dynamic ones.
    var loadedProperties: Set<String> {
        Set(shape.properties.map(\.name).filter { self[$0] != nil }).union(dynamicProperties.keys)
    }

    /// Whether all properties that are loaded in both entities are equal. A dynamic property that only the other
    /// entity has counts as null here.
    func matches(_ properties: ODataEntity) -> Bool {
        zip(values, properties.values).allSatisfy { value, expected in
            guard let value, let expected else { return true }
            return value.isSame(as: expected)
        }
            && properties.dynamicProperties.allSatisfy { name, expected in
                let value = self[name] ?? .null
                // Without a known type, equal values may have different types.
                return value.isSame(as: expected) || value.lexicalText.map { $0 == expected.lexicalText } ?? false
            }
    }

    /// Returns this entity with the loaded properties of another one put over it. The more derived type wins.
    func merging(_ other: ODataEntity) -> ODataEntity {
        let isExtended = other.values.count > values.count && other.shape.hasPlaces(of: shape)
        return (isExtended ? retyped(other.shape) : self).overlaid(by: other)
    }

    /// Returns this entity with the loaded properties of a change put over it. Properties that its type does not
    /// have are left out, since the entity may have had another type at the time of the change.
    func overlaid(by change: ODataEntity) -> ODataEntity {
        var result = self
        if shape == change.shape {
            for ordinal in change.values.indices where change.values[ordinal] != nil {
                result.values[ordinal] = change.values[ordinal]
            }
        } else {
            for (ordinal, property) in change.shape.properties.enumerated() {
                guard let value = change.values[ordinal], let place = shape.place(of: property, at: ordinal)
                else { continue }
                result.values[place] = value
            }
        }
        if shape.isOpen || change.shape.name == shape.name {
            result.dynamicProperties.merge(change.dynamicProperties) { $1 }
        }
        return result
    }

    /// Returns this entity in the type of a newer version, with the properties that both types have.
    func retyped(as newest: ODataEntity) -> ODataEntity {
        guard newest.shape.name != shape.name else { return self }
        var result = retyped(newest.shape)
        result.control.type = newest.control.type
        return result
    }

    private func retyped(_ other: TypeShape) -> ODataEntity {
        var result = ODataEntity(shape: other)
        result.control = control
        for (ordinal, property) in shape.properties.enumerated() {
            guard let value = values[ordinal], let place = other.place(of: property, at: ordinal) else { continue }
            result.values[place] = value
        }
        if other.isOpen { result.dynamicProperties = dynamicProperties }
        return result
    }
}

extension TypeShape {
    /// The position of another type's property in this type; `nil` if this type does not have the same property.
    fileprivate func place(of property: Property, at ordinal: Int) -> Int? {
        guard let place = self.ordinal(of: property.name) else { return nil }
        let type = properties[place].type
        // A derived type may declare a property again at the same position, to constrain it.
        let isConstrained = place == ordinal && (type.primitive == nil || property.type.primitive == nil)
        return type == property.type || isConstrained ? place : nil
    }

    /// Whether this type has all properties of another type at the same positions, as each derived type has those
    /// of its base.
    fileprivate func hasPlaces(of other: TypeShape) -> Bool {
        other.properties.allSatisfy { ordinal(of: $0.name) != nil }
    }
}

extension ODataValue {
    /// Whether a service may return one of two values after it was sent the other: an instant may have another
    /// offset, and properties of a complex value may not be loaded.
    func isSame(as other: ODataValue) -> Bool {
        switch (self, other) {
        case (.dateTimeOffset(let a), .dateTimeOffset(let b)):
            a.seconds == b.seconds && a.picoseconds == b.picoseconds
        // NaN equals NaN here: nobody has changed the value.
        case (.double(let a), .double(let b)): a == b || a.isNaN && b.isNaN
        case (.single(let a), .single(let b)): a == b || a.isNaN && b.isNaN
        case (.complex(let a), .complex(let b)): a.matches(b)
        case (.collection(let a), .collection(let b)):
            a.count == b.count && zip(a, b).allSatisfy { $0.isSame(as: $1) }
        default: self == other
        }
    }
}
