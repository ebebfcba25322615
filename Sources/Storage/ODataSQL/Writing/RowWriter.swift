import Foundation
import GRDB
import ODataModel
import ODataService

/// Creates, changes and deletes single rows as a service does: checked against the model, guarded by ETags,
/// told to the hook in the same transaction.
///
/// All methods must be called inside a transaction, which the caller rolls back when they throw.
///
/// ```swift
/// let row = try writer.create(order, in: "Orders", request: request, database: database)
/// row.entity.control.id    // Orders(17)
/// ```
///
/// What is refused, is an ``ODataError``: 400 with the property as its target for values that break the
/// model, 404 for a key that is not there, 405 for what the set does not allow, 409 for a key that is taken,
/// 412 for an ETag that no longer holds, 501 for what a layout cannot hold.
public struct RowWriter: Sendable {
    /// Where the data lies.
    public let mapping: StorageMapping
    package var hook: (any WriteHook)?
    let plans: [String: WritePlan]
    package var check: ValueCheck
    /// What a writer does beyond the single row.
    package var rules: WriteRules
    /// How many deletions that others caused lie above this one.
    var cascadeDepth = 0
    /// Whose rows hold foreign keys to the rows of a set, by set; empty where nobody watches over them.
    let dependents: [String: [Dependents]]

    /// Makes a writer.
    ///
    /// - Parameters:
    ///   - mapping: where the data lies.
    ///   - hook: what takes part in each change.
    ///   - rules: what it does beyond the single row.
    public init(mapping: StorageMapping, hook: (any WriteHook)?, rules: WriteRules = WriteRules()) {
        self.mapping = mapping
        self.hook = hook
        self.rules = rules
        plans = mapping.tables.mapValues { WritePlan(storage: $0, model: mapping.model) }
        check = ValueCheck(model: mapping.model)
        dependents = rules.watchesReferences ? Dependents.all(in: mapping) : [:]
    }

    /// A row as it is after a change.
    public struct WrittenRow: Sendable {
        /// The entity, read again, with id and ETag in its control information.
        public var entity: ODataEntity
        /// The internal row id; `nil` where the table has none.
        public var rowID: Int64?
        /// The ETag.
        public var etag: String?
        /// The entity id relative to the service root.
        public var id: String
        /// Whether the row is new.
        public var isNew: Bool
        /// The entity set, singleton, or path of the contained collection that the row is in.
        public var set: String
        /// For a contained collection, the row id of the containing entity.
        public var parent: Int64?
        /// Whether the client that has changed the row can know all of it without reading it.
        var isForeseeable = true
    }

    // MARK: Changes

    /// Inserts an entity, with the related entities and references in it.
    ///
    /// - Parameters:
    ///   - entity: the entity; values of Computed properties are ignored.
    ///   - set: the entity set, singleton, or path of a contained collection.
    ///   - parent: for a contained collection, the row id of the containing entity.
    ///   - request: the request that asks for it, for the hook.
    ///   - database: a connection inside a transaction.
    /// - Throws: ``ODataError`` when refused.
    public func create(
        _ entity: ODataEntity, in set: String, parent: Int64? = nil, request: ODataRequest, database: Database
    ) throws -> WrittenRow {
        try create(entity, in: set, parent: parent, context: WriteContext(request: request, database: database))
    }

    /// Inserts an entity into a set or, with the row id of the containing entity, a contained collection.
    func create(
        _ entity: ODataEntity, in set: String, parent: Int64? = nil, context: WriteContext
    ) throws -> WrittenRow {
        let (request, database) = (context.request, context.database)
        let plan = try writable(set, "InsertRestrictions", property: "Insertable", request: request)
        let sent = entity
        var entity = entity
        if !rules.takesComputedValues { removeComputed(from: &entity) }
        // Before references set properties by name: what a body brought would seem not to be given then.
        let own = Self.given(entity)
        let principals = try resolveReferences(
            in: &entity, of: plan, before: nil, context: context)
        // A key that is null is one that was left out.
        let missing = entity.shape.key.map(\.path).filter { entity[$0]?.isNull ?? false }
        let given = own.union(entity.changedProperties).union(linked(by: entity, plan: plan)).subtracting(missing)
        try hook?.prepareInsert(&entity, into: plan.storage, request: request, in: database)
        try complete(&entity, plan: plan)
        try checkInsert(entity, plan: plan)
        try restrictions(of: set, plan)?.checkCreation(entity, given)
        try checkIsNew(entity, parent: parent, plan: plan, in: database)
        try checkReferences(entity, plan: plan, in: database)
        var row = [DatabaseValue?](repeating: nil, count: plan.slots.count)
        try encode(entity, plan: plan, into: &row)
        try adoptForms(into: &row, before: nil, plan: plan, in: database)
        let rowID = try insert(row, entity: entity, parent: parent, plan: plan, in: database)
        var written = try reread(rowID: rowID, row: row, parent: parent, plan: plan, in: database)
        if let hook {
            try hook.didWrite(
                RowChange(
                    kind: .insert, table: plan.storage, rowID: written.rowID, before: nil, after: written.entity,
                    changedProperties: given, request: request, parent: written.parent), in: database)
            // The hook may have given the row a version.
            written = try reread(rowID: rowID, row: row, parent: parent, plan: plan, in: database)
        }
        written.isNew = true
        written.isForeseeable = isForeseeable(written.entity, given: sent, before: nil, resets: true, plan: plan)
        // A deep insert is answered with what it brought (OData Protocol 4.01, 11.4.2.2).
        written.entity.related = principals
        try createRelated(of: entity, written: &written, plan: plan, in: context)
        return written
    }

    /// Changes the properties that `entity` gives: those set since it was read, else all that are loaded
    /// (PATCH; OData Protocol 4.01, 11.4.3). A key that is not there is inserted when the request has no
    /// `If-Match` and the key is the client's to give (upsert, 11.4.4).
    ///
    /// - Throws: ``ODataError`` when refused.
    public func update(
        _ entity: ODataEntity, key: EntityKey?, in set: String, parent: Int64? = nil, request: ODataRequest,
        database: Database
    ) throws -> WrittenRow {
        try update(
            entity, merging: .max, key: key, in: set, parent: parent, request: request, database: database)
    }

    /// Changes the properties that `entity` gives, of which the outer ones alone are merged with what is there.
    ///
    /// - Parameter levels: how many levels of complex values are merged; one that lies deeper is replaced as a whole
    ///   (PUT of a complex property; OData Protocol 4.01, 11.4.9.3).
    package func update(
        _ entity: ODataEntity, merging levels: Int, key: EntityKey?, in set: String, parent: Int64?,
        request: ODataRequest,
        database: Database
    ) throws -> WrittenRow {
        try write(
            entity, at: RowAddress(set: set, key: key, parent: parent), .merging(levels: levels),
            in: WriteContext(request: request, database: database))
    }

    /// Replaces an entity: properties that are not given get their default or null, except for the key and
    /// what the client may not change (PUT; OData Protocol 4.01, 11.4.3). A key that is not there is
    /// inserted as for ``update(_:key:in:parent:request:database:)``.
    ///
    /// - Throws: ``ODataError`` when refused.
    public func replace(
        _ entity: ODataEntity, key: EntityKey?, in set: String, parent: Int64? = nil, request: ODataRequest,
        database: Database
    ) throws -> WrittenRow {
        try write(
            entity, at: RowAddress(set: set, key: key, parent: parent), .replacing,
            in: WriteContext(request: request, database: database))
    }

    /// Deletes an entity.
    ///
    /// - Throws: ``ODataError`` when refused.
    public func delete(
        key: EntityKey?, in set: String, parent: Int64? = nil, request: ODataRequest, database: Database
    ) throws {
        try delete(
            at: RowAddress(set: set, key: key, parent: parent),
            in: WriteContext(request: request, database: database))
    }

    /// Changes the properties that an entity gives of the row at an address.
    func update(_ entity: ODataEntity, at address: RowAddress, in context: WriteContext) throws -> WrittenRow {
        try write(entity, at: address, .merging(levels: .max), in: context)
    }

    /// Deletes the row at an address.
    func delete(at address: RowAddress, in context: WriteContext) throws {
        let (set, key, parent) = (address.set, address.key, address.parent)
        let (request, database) = (context.request, context.database)
        let plan = try writable(set, "DeleteRestrictions", property: "Deletable", request: request)
        guard let found = try find(key: key, parent: parent, plan: plan, in: database) else {
            throw missing(set, key, request: request)
        }
        let row = try written(found, plan: plan, in: database)
        let before = row.entity
        try checkPrecondition(request, etag: before.control.etag, of: set, resource: name(set, key, plan: plan))
        try restrictions(of: set, plan)?.checkDeletion(before)
        try hook?.prepareDelete(row, in: plan.storage, request: request, database: database)
        let hanging = try dependentRows(on: row, plan: plan, in: database)
        let (condition, arguments) = try self.address(found, plan: plan)
        let table = plan.storage.table.sqlIdentifier
        try translating(plan, row: found.slots.map { $0 }, in: database) {
            let statement = try database.cachedStatement(sql: "DELETE FROM \(table) WHERE \(condition)")
            try statement.execute(arguments: StatementArguments(arguments))
        }
        try checkIsDone(to: found, plan: plan, in: database)
        try hook?.didWrite(
            RowChange(
                kind: .delete, table: plan.storage, rowID: found.rowID, owner: found.owner, before: before, after: nil,
                changedProperties: [], request: request, parent: row.parent), in: database)
        try settle(hanging, in: context)
    }

    /// Reads one entity as changes see it; `nil` when it is not there.
    ///
    /// - Throws: ``ODataError`` when the set is not stored, ``StoredValueError`` when a stored value is bad.
    public func read(key: EntityKey?, in set: String, parent: Int64? = nil, database: Database) throws -> WrittenRow? {
        try read(at: RowAddress(set: set, key: key, parent: parent), in: database)
    }

    /// Reads the row at an address.
    func read(at address: RowAddress, in database: Database) throws -> WrittenRow? {
        let plan = try self.plan(address.set)
        guard let found = try find(key: address.key, parent: address.parent, plan: plan, in: database) else {
            return nil
        }
        return try written(found, plan: plan, in: database)
    }

    // MARK: Steps

    /// The restrictions on changes of a set; `nil` where they do not count.
    private func restrictions(of set: String, _ plan: WritePlan) -> ChangeRestrictions? {
        rules.ignoresCapabilities ? nil : ChangeRestrictions(of: set, plan.storage.shape, in: mapping.model)
    }

    /// What becomes of that which an update does not give.
    enum Extent: Hashable {
        /// It stays, in complex values too, down to some level: from there on they are replaced as wholes.
        case merging(levels: Int)
        /// It gets its default or null.
        case replacing
    }

    private func write(
        _ entity: ODataEntity, at address: RowAddress, _ extent: Extent, in context: WriteContext
    ) throws -> WrittenRow {
        let (set, key, parent) = (address.set, address.key, address.parent)
        let (request, database) = (context.request, context.database)
        let replaces = extent == .replacing
        let plan = try writable(set, "UpdateRestrictions", property: "Updatable", request: request)
        guard let found = try find(key: key, parent: parent, plan: plan, in: database) else {
            // A media entity is made by its stream (11.4.4).
            guard request.ifMatch == nil, let key, keyIsGivenByClient(plan), !entity.shape.hasStream else {
                throw missing(set, key, request: request)
            }
            var entity = entity
            for part in key.parts {
                let path = plan.storage.shape.key.first { $0.name == part.name }?.path ?? part.name
                entity[path] = part.value
            }
            do {
                return try create(entity, in: set, parent: parent, context: context)
            } catch let error as ODataError where !replaces && error.code == Self.missingValue {
                // A patch that says too little to make an entity was meant for one that is there.
                throw missing(set, key, request: request)
            }
        }
        let row = try written(found, plan: plan, in: database)
        let before = row.entity
        let resource = name(set, key, plan: plan)
        try checkPrecondition(request, etag: before.control.etag, of: set, resource: resource)
        guard entity.shape == before.shape || mapping.model.isType(before.shape.name, entity.shape.name) else {
            throw ODataError(
                status: 400, code: "InvalidType",
                message: "\(resource) is of type \(before.shape), not \(entity.shape).")
        }
        var patch = try changes(of: entity, to: before, extent, plan: plan)
        patch.related = entity.related
        for (name, value) in entity.control.annotations where name.hasSuffix(Self.deltaMark) {
            patch.control.annotations[name] = value
        }
        // A dynamic property that goes is in the patch no more.
        var own = Self.given(patch).union(entity.dynamicProperties.keys)
        if replaces { own.formUnion(before.dynamicProperties.keys) }
        let principals = try resolveReferences(
            in: &patch, of: plan, before: row, context: context)
        try checkKeys(of: patch, before: row)
        let given = own.union(patch.changedProperties).union(linked(by: patch, plan: plan))
        try restrictions(of: set, plan)?.checkUpdate(given, patch, of: before)
        try hook?.prepareUpdate(&patch, of: row, in: plan.storage, request: request, database: database)
        try checkGiven(patch)
        try checkReferences(patch, before: before, plan: plan, in: database)
        var slots = [DatabaseValue?](repeating: nil, count: plan.slots.count)
        try encode(patch, plan: plan, into: &slots)
        try adoptForms(into: &slots, before: found.slots, plan: plan, in: database)
        try updateRow(
            slots, patch: patch, writesDynamic: replaces || !entity.dynamicProperties.isEmpty, found: found, plan: plan,
            in: database)
        var written = try reread(found, plan: plan, in: database)
        if let hook, !written.entity.isIdentical(to: before) || !patch.related.isEmpty || rules.tellsUnchanged {
            try hook.didWrite(
                RowChange(
                    kind: .update, table: plan.storage, rowID: found.rowID, owner: found.owner, before: before,
                    after: written.entity, changedProperties: given, request: request, parent: written.parent),
                in: database)
            // The hook may have given the row a new version.
            written = try reread(found, plan: plan, in: database)
        }
        written.isForeseeable = isForeseeable(
            written.entity, given: entity, before: Self.namesETag(request) ? before : nil, resets: replaces, plan: plan)
        written.entity.related = principals
        try createRelated(of: patch, written: &written, plan: plan, in: context)
        return written
    }

    /// The navigation properties of an entity that become rows of link tables, of which only this tells the hook.
    private func linked(by entity: ODataEntity, plan: WritePlan) -> [String] {
        entity.related.keys.filter { name in
            guard case .link? = plan.storage.navigation[name] else { return false }
            return entity.related[name] != RelatedEntities.none
        }
    }

    private func insert(
        _ row: [DatabaseValue?], entity: ODataEntity, parent: Int64?, plan: WritePlan, in database: Database
    ) throws -> Int64? {
        var columns: [String] = []
        var values: [DatabaseValue] = []
        for (slot, value) in zip(plan.slots, row) {
            guard let value else { continue }
            columns.append(slot.name)
            values.append(value)
        }
        if let discriminator = plan.storage.discriminator, entity.shape != plan.storage.shape {
            columns.append(discriminator)
            values.append(entity.shape.name.description.databaseValue)
        }
        if let dynamic = plan.storage.dynamicProperties, let text = WritePlan.dynamicText(entity.dynamicProperties) {
            columns.append(dynamic)
            values.append(text.databaseValue)
        }
        if let parent {
            columns.append(OfflineLayout.parentColumn)
            values.append(parent.databaseValue)
        }
        if mapping.model.singleton(plan.storage.set) != nil, let rowID = plan.storage.rowID {
            columns.append(rowID)
            values.append(1.databaseValue)
        }
        let list = columns.map(\.sqlIdentifier).joined(separator: ", ")
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        let table = plan.storage.table.sqlIdentifier
        let sql =
            columns.isEmpty
            ? "INSERT INTO \(table) DEFAULT VALUES" : "INSERT INTO \(table) (\(list)) VALUES (\(marks))"
        try translating(plan, row: row, in: database) {
            try database.cachedStatement(sql: sql).execute(arguments: StatementArguments(values))
        }
        try checkIsDone(to: nil, plan: plan, in: database)
        return plan.storage.rowID == nil ? nil : database.lastInsertedRowID
    }

    private func updateRow(
        _ row: [DatabaseValue?], patch: ODataEntity, writesDynamic: Bool, found: WritePlan.Stored, plan: WritePlan,
        in database: Database
    ) throws {
        var assignments: [String] = []
        var values: [DatabaseValue] = []
        for (index, value) in row.enumerated() {
            guard let value, !value.isIdentical(to: found.slots[index]) || plan.slots[index].bit != nil else {
                continue
            }
            assignments.append("\(plan.slots[index].name.sqlIdentifier) = ?")
            values.append(value)
        }
        if let dynamic = plan.storage.dynamicProperties, writesDynamic {
            assignments.append("\(dynamic.sqlIdentifier) = ?")
            values.append(WritePlan.dynamicText(patch.dynamicProperties)?.databaseValue ?? .null)
        }
        if let column = plan.storage.notLoaded, !found.notLoaded.isEmpty {
            // What was given is loaded now.
            var bits = found.notLoaded
            for (index, value) in row.enumerated() where value != nil {
                if let bit = plan.slots[index].bit, bit / 8 < bits.count { bits[bit / 8] &= ~(1 << UInt8(bit % 8)) }
            }
            assignments.append("\(column.sqlIdentifier) = ?")
            values.append(bits.allSatisfy { $0 == 0 } ? .null : Data(bits).databaseValue)
        }
        guard !assignments.isEmpty else { return }
        let (condition, address) = try address(found, plan: plan)
        let merged = zip(row, found.slots).map { $0 ?? $1 }
        let sql =
            "UPDATE \(plan.storage.table.sqlIdentifier) SET \(assignments.joined(separator: ", ")) WHERE \(condition)"
        try translating(plan, row: merged, in: database) {
            try database.cachedStatement(sql: sql).execute(arguments: StatementArguments(values + address))
        }
        try checkIsDone(to: found, plan: plan, in: database)
    }
}
