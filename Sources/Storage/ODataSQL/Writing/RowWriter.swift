import Foundation
import GRDB
import ODataModel
import ODataService

/// Creates, changes and deletes single rows like a service. Changes are checked against the model, ETags are
/// compared, and the hook is called in the same transaction.
///
/// All methods must be called inside a transaction, which the caller rolls back if they throw.
///
/// ```swift
/// let row = try writer.create(order, in: "Orders", request: request, database: database)
/// row.entity.control.id    // Orders(17)
/// ```
///
/// A refused change throws an ``ODataError``:
///
/// - 400 with the property as its target for values that violate the model,
/// - 404 for an unknown key,
/// - 405 for a change that the set does not allow,
/// - 409 for an existing key,
/// - 412 for an outdated ETag,
/// - 501 for types that the layout does not support.
public struct RowWriter: Sendable {
    /// The tables and columns of the data.
    public let mapping: StorageMapping
    package var hook: (any WriteHook)?
    let plans: [String: WritePlan]
    package var check: ValueCheck
    /// The additional effects of changes.
    package var rules: WriteRules
    /// The number of cascading deletions that have led to the current one.
    var cascadeDepth = 0
    /// The sets with foreign keys to the rows of a set, by set; empty if references are not watched.
    let dependents: [String: [Dependents]]

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - mapping: the tables and columns of the data.
    ///   - hook: a hook that takes part in each change.
    ///   - rules: the additional effects of changes.
    public init(mapping: StorageMapping, hook: (any WriteHook)?, rules: WriteRules = WriteRules()) {
        self.mapping = mapping
        self.hook = hook
        self.rules = rules
        plans = mapping.tables.mapValues { WritePlan(storage: $0, model: mapping.model) }
        check = ValueCheck(model: mapping.model)
        dependents = rules.watchesReferences ? Dependents.all(in: mapping) : [:]
    }

    /// A row after a change.
    public struct WrittenRow: Sendable {
        /// The entity as read after the change, with id and ETag in its control information.
        public var entity: ODataEntity
        /// The internal row id; `nil` if the table has no row ids.
        public var rowID: Int64?
        /// The ETag.
        public var etag: String?
        /// The entity id relative to the service root.
        public var id: String
        /// Whether the row is new.
        public var isNew: Bool
        /// The entity set, the singleton, or the path of the contained collection.
        public var set: String
        /// The row id of the containing entity, for a contained collection.
        public var parent: Int64?
        /// Whether the client that has changed the row can know its representation without reading it.
        var isForeseeable = true
    }

    // MARK: Changes

    /// Inserts an entity, including its related entities and references.
    ///
    /// - Parameters:
    ///   - entity: the entity; values of computed properties are ignored.
    ///   - set: the entity set, the singleton, or the path of a contained collection.
    ///   - parent: the row id of the containing entity, for a contained collection.
    ///   - request: the request, for the hook.
    ///   - database: a connection inside a transaction.
    /// - Throws: ``ODataError`` if the change is refused.
    public func create(
        _ entity: ODataEntity, in set: String, parent: Int64? = nil, request: ODataRequest, database: Database
    ) throws -> WrittenRow {
        try create(entity, in: set, parent: parent, context: WriteContext(request: request, database: database))
    }

    /// Inserts an entity into a set or, with the row id of the containing entity, into a contained collection.
    func create(
        _ entity: ODataEntity, in set: String, parent: Int64? = nil, context: WriteContext
    ) throws -> WrittenRow {
        let (request, database) = (context.request, context.database)
        let plan = try writable(set, "InsertRestrictions", property: "Insertable", request: request)
        let sent = entity
        var entity = entity
        if !rules.takesComputedValues { removeComputed(from: &entity) }
        // All values of a new entity are given, even if some of them were set after it was read from a body.
        let own = Self.loaded(entity)
        let principals = try resolveReferences(
            in: &entity, of: plan, before: nil, context: context)
        // A key property with the value null counts as omitted.
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
            // The hook may have changed the version of the row.
            written = try reread(rowID: rowID, row: row, parent: parent, plan: plan, in: database)
        }
        written.isNew = true
        written.isForeseeable = isForeseeable(written.entity, given: sent, before: nil, resets: true, plan: plan)
        // The response to a deep insert contains the related entities (OData Protocol 4.01, 11.4.2.2).
        written.entity.related = principals
        try createRelated(of: entity, written: &written, plan: plan, in: context)
        return written
    }

    /// Changes the given properties of an entity (PATCH; OData Protocol 4.01, 11.4.3).
    ///
    /// The given properties are those set since the entity was read or, if there are none, all loaded properties.
    /// An unknown key is inserted if the request has no `If-Match` and clients may specify the key (upsert,
    /// 11.4.4).
    ///
    /// - Throws: ``ODataError`` if the change is refused.
    public func update(
        _ entity: ODataEntity, key: EntityKey?, in set: String, parent: Int64? = nil, request: ODataRequest,
        database: Database
    ) throws -> WrittenRow {
        try update(
            entity, merging: .max, key: key, in: set, parent: parent, request: request, database: database)
    }

    /// Changes the given properties of an entity, and merges complex values up to a level.
    ///
    /// - Parameter levels: the number of levels of complex values to merge. Deeper values are replaced as a whole
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

    /// Replaces an entity (PUT; OData Protocol 4.01, 11.4.3).
    ///
    /// Omitted properties are set to their default value or null, except the key and properties that clients cannot
    /// change. An unknown key is inserted as in ``update(_:key:in:parent:request:database:)``.
    ///
    /// - Throws: ``ODataError`` if the change is refused.
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
    /// - Throws: ``ODataError`` if the change is refused.
    public func delete(
        key: EntityKey?, in set: String, parent: Int64? = nil, request: ODataRequest, database: Database
    ) throws {
        try delete(
            at: RowAddress(set: set, key: key, parent: parent),
            in: WriteContext(request: request, database: database))
    }

    /// Changes the given properties of the row at an address.
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
        try hook?.prepareChange(of: row, in: plan.storage, request: request, database: database)
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

    /// Reads an entity in the state on which changes are based; `nil` if it does not exist.
    ///
    /// - Throws: ``ODataError`` if the set is not stored, ``StoredValueError`` if a stored value is invalid.
    public func read(key: EntityKey?, in set: String, parent: Int64? = nil, database: Database) throws -> WrittenRow? {
        try read(at: RowAddress(set: set, key: key, parent: parent), in: database)
    }

    func read(at address: RowAddress, in database: Database) throws -> WrittenRow? {
        let plan = try self.plan(address.set)
        guard let found = try find(key: address.key, parent: address.parent, plan: plan, in: database) else {
            return nil
        }
        return try written(found, plan: plan, in: database)
    }

    // MARK: Steps

    /// Returns the restrictions on changes of a set; `nil` if they are ignored.
    private func restrictions(of set: String, _ plan: WritePlan) -> ChangeRestrictions? {
        rules.ignoresCapabilities ? nil : ChangeRestrictions(of: set, plan.storage.shape, in: mapping.model)
    }

    /// The effect of an update on omitted properties.
    enum Extent: Hashable {
        /// Omitted properties remain, including those of complex values up to a level. Deeper values are replaced
        /// as a whole.
        case merging(levels: Int)
        /// Omitted properties are set to their default value or null.
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
            // A media entity is created by its stream (11.4.4).
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
                // A patch that lacks mandatory values is assumed to refer to an existing entity.
                throw missing(set, key, request: request)
            }
        }
        let row = try written(found, plan: plan, in: database)
        try hook?.prepareChange(of: row, in: plan.storage, request: request, database: database)
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
        // The patch no longer contains a removed dynamic property.
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
            // The hook may have changed the version of the row.
            written = try reread(found, plan: plan, in: database)
        }
        written.isForeseeable = isForeseeable(
            written.entity, given: entity, before: Self.namesETag(request) ? before : nil, resets: replaces, plan: plan)
        written.entity.related = principals
        try createRelated(of: patch, written: &written, plan: plan, in: context)
        return written
    }

    /// Returns the navigation properties of an entity that become rows of link tables. The hook knows them only
    /// from this list.
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
            // The given values become loaded.
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
