import Foundation
import GRDB
import ODataModel

/// Loads downloaded entities into a table. Statements are prepared once, values are bound by ordinal, and only rows
/// that differ are written.
///
/// A loader must be used inside one transaction on its own connection. It checks neither facets nor ETags and calls
/// no hook, because the back end has accepted the data already.
///
/// ```swift
/// try await store.bulkWrite { database in
///     let loader = try BulkLoader(table: table, in: database)
///     for entity in page { _ = try loader.load(entity, owner: query) }
/// }
/// ```
public final class BulkLoader {
    /// The result of loading an entity.
    public struct Outcome: Hashable, Sendable {
        /// The kinds of change of a row.
        public enum Change: Hashable, Sendable {
            /// The row is new.
            case inserted
            /// The row existed and differed.
            case updated
            /// The row existed and did not differ.
            case unchanged
        }

        /// The internal row id.
        public var rowID: Int64
        /// The kind of change.
        public var change: Change
        /// The defining query that owned the row before; `nil` for a new row.
        ///
        /// The row keeps its owner, unless the row was local (0) or hidden. In these cases, the new query becomes
        /// its owner.
        public var previousOwner: Int64?
    }

    let plan: WritePlan
    let database: Database
    let isContained: Bool
    let isSingleton: Bool
    let hiddenOwners: Set<Int64>
    /// The slots of the current entity, reused to avoid allocations.
    var values: [ODataValue?]
    private var inserts: [[Bool]: BoundStatement] = [:]
    var updates: [[Bool]: BoundStatement] = [:]
    var pattern: [Bool]
    private var lastInsert: (pattern: [Bool], statement: BoundStatement)?
    /// Returns the properties of an existing row that defining queries load. The closure is called if an entity has
    /// another ETag than the row and omits some of the row's properties.
    ///
    /// Without this closure, no other query loads further properties.
    public var holders: ((_ rowID: Int64) throws -> Holders)?
    /// Receives the values of an entity that could not be read or stored, and the row id. Without this closure,
    /// loading such an entity throws an error.
    public var onUnreadable: ((_ rowID: Int64, _ values: [String: UnreadableValue]) throws -> Void)?
    /// The slots of the most recently used type.
    var lastType: (shape: TypeShape, slots: [WritePlan.PropertySlot])?
    // These statements are prepared on demand, because many loaders only insert.
    private let selectsByKey: LazyStatement
    private let findsByKey: LazyStatement
    let updatesOwner: LazyStatement?
    private let deletesByRowID: LazyStatement
    /// Whether the last entity was new. The next one is then inserted without a search, because it is probably new,
    /// too.
    var expectsNew = true
    /// The inserts of rows in a JSON text (``load(_:owner:)-(JSONRow,_)``).
    lazy var direct = DirectInserts(plan)
    /// The rows that are inserted together with later ones (``load(_:owner:told:)``).
    let waiting = WaitingRows()

    /// Creates a loader for a table.
    ///
    /// - Parameters:
    ///   - table: the table of an entity set, singleton, or contained collection in a ``StorageMapping``. It must
    ///     have row ids, as in an ``OfflineLayout``. In a set without a key, each loaded entity is a new row.
    ///   - database: a connection inside a transaction.
    /// - Throws: ``StoreError/database(code:message:)`` if the table cannot be loaded; errors of SQLite.
    public init(table storage: TableStorage, in database: Database) throws {
        guard let model = storage.model, let rowID = storage.rowID else {
            throw StoreError.database(code: 1, message: "\(storage.set) is no mapped table with row ids")
        }
        plan = WritePlan(storage: storage, model: model)
        self.database = database
        isContained = storage.set.contains("/")
        isSingleton = model.singleton(storage.set) != nil
        values = [ODataValue?](repeating: nil, count: plan.slots.count)
        pattern = [Bool](repeating: false, count: plan.slots.count)
        let condition =
            if isSingleton {
                "\(rowID.sqlIdentifier) = 1"
            } else if storage.shape.key.isEmpty, !isContained {
                // Entities without a key are never found.
                "0"
            } else {
                plan.keyCondition(hasParent: isContained, includesHidden: true)
            }
        selectsByKey = LazyStatement("\(plan.selection) WHERE \(condition)", in: database)
        let table = storage.table.sqlIdentifier
        findsByKey = LazyStatement("SELECT \(rowID.sqlIdentifier) FROM \(table) WHERE \(condition)", in: database)
        deletesByRowID = LazyStatement("DELETE FROM \(table) WHERE \(rowID.sqlIdentifier) = ?", in: database)
        if let visibility = storage.visibility {
            updatesOwner = LazyStatement(
                "UPDATE \(table) SET \(visibility.ownerColumn.sqlIdentifier) = ? WHERE \(rowID.sqlIdentifier) = ?",
                in: database)
            hiddenOwners = try Set(
                Int64.fetchAll(database, sql: "SELECT id FROM \(visibility.hiddenTable.sqlIdentifier)"))
        } else {
            updatesOwner = nil
            hiddenOwners = []
        }
    }

    /// Creates a loader for an entity set, a singleton, or the path of a contained collection.
    ///
    /// - Throws: The same errors as ``init(table:in:)``.
    public convenience init(set: String, mapping: StorageMapping, in database: Database) throws {
        guard let table = mapping.tables[set] else {
            throw StoreError.database(code: 1, message: "\(set) has no table")
        }
        try self.init(table: table, in: database)
    }

    /// Inserts an entity, or updates the row with the same key if it differs.
    ///
    /// Properties that are not loaded remain unchanged, or become *not loaded* in a new row.
    ///
    /// - Parameters:
    ///   - entity: the entity with its key; its control information contains the ETag.
    ///   - owner: the defining query of the entity.
    ///   - parent: the row id of the containing entity, for a contained collection.
    /// - Throws: ``StoredValueError`` with table and column if a value does not fit or a key value is missing;
    ///   errors of SQLite.
    @discardableResult
    public func load(_ entity: ODataEntity, owner: Int64, parent: Int64? = nil) throws -> Outcome {
        guard let onUnreadable else { return try loadWhole(entity, owner: owner, parent: parent) }
        var kept = entity
        let outcome: Outcome
        do {
            outcome = try loadWhole(entity, owner: owner, parent: parent)
        } catch let error as StoredValueError {
            guard plan.nodes(of: entity.shape) != nil, hasKey(entity) else { throw error }
            kept = storable(entity)
            outcome = try loadWhole(kept, owner: owner, parent: parent)
        }
        let lost = kept.control.unreadable
        guard !lost.isEmpty else { return outcome }
        if outcome.change != .inserted { try unload(lost.keys, of: outcome.rowID, kept) }
        try onUnreadable(outcome.rowID, lost)
        return outcome
    }

    /// Returns whether an entity has a value for each part of the key that identifies its row.
    public func hasKey(_ entity: ODataEntity) -> Bool {
        isSingleton || isContained || plan.storage.shape.key.isEmpty || entity.key != nil
    }

    /// Marks properties of a row as not loaded.
    private func unload(_ paths: some Sequence<String>, of rowID: Int64, _ entity: ODataEntity) throws {
        var bare = ODataEntity(shape: entity.shape)
        bare.control.etag = entity.control.etag
        bare.dynamicProperties = entity.dynamicProperties
        try update(rowID, bare, unloading: Set(paths))
    }

    private func loadWhole(_ entity: ODataEntity, owner: Int64, parent: Int64?) throws -> Outcome {
        try fill(entity)
        // No index detects an existing row without a key.
        let isTold = !isContained || !plan.isFoundByParent
        if expectsNew, isTold, let rowID = try insert(entity, owner: owner, parent: parent) {
            return Outcome(rowID: rowID, change: .inserted, previousOwner: nil)
        }
        let selectByKey = try selectsByKey.prepared
        try bindKey(selectByKey, parent: parent)
        guard try selectByKey.step() else {
            selectByKey.reset()
            guard let rowID = try insert(entity, owner: owner, parent: parent) else {
                throw StoreError.constraint(message: "a row of \(plan.storage.table) was refused")
            }
            expectsNew = true
            return Outcome(rowID: rowID, change: .inserted, previousOwner: nil)
        }
        expectsNew = false
        return try merge(entity, selectByKey, owner: owner)
    }

    /// Returns the result that ``load(_:owner:parent:)`` would have, without writing. This also works on a
    /// read-only connection.
    ///
    /// - Returns: The row and whether it differs; `nil` if the entity would be new.
    /// - Throws: The same errors as ``load(_:owner:parent:)``.
    public func compare(_ entity: ODataEntity, parent: Int64? = nil) throws -> Outcome? {
        try fill(entity)
        let selectByKey = try selectsByKey.prepared
        try bindKey(selectByKey, parent: parent)
        guard try selectByKey.step() else {
            selectByKey.reset()
            return nil
        }
        let found = try comparison(entity, selectByKey)
        return Outcome(
            rowID: found.rowID, change: found.isSame ? .unchanged : .updated, previousOwner: found.previousOwner)
    }

    /// Returns the row id of the entity with a key, including hidden rows; `nil` if it does not exist.
    public func find(_ key: EntityKey, parent: Int64? = nil) throws -> Int64? {
        let findByKey = try findsByKey.prepared
        var index: Int32 = 0
        if !isSingleton {
            for (property, slot) in zip(plan.storage.shape.key, plan.keySlots) {
                guard let column = plan.slots[slot].column else { continue }
                index += 1
                try findByKey.bind(key[property.name] ?? .null, as: column, at: index)
            }
            if isContained { try findByKey.bind(parent.databaseValue, at: index + 1) }
        }
        defer { findByKey.reset() }
        return try findByKey.step() ? findByKey.integer(0) : nil
    }

    /// Writes the loaded properties of an entity into a row, including its key.
    ///
    /// Properties that are not loaded and the owner remain unchanged. The control information contains the ETag.
    ///
    /// - Parameters:
    ///   - rowID: the internal row id.
    ///   - entity: the entity, which may be incomplete.
    ///   - names: the properties of the row that become *not loaded*, including dynamic ones.
    /// - Throws: The same errors as ``load(_:owner:parent:)``. A missing row is ignored.
    public func update(_ rowID: Int64, _ entity: ODataEntity, unloading names: Set<String> = []) throws {
        try fill(entity, needsKey: false)
        let isWhole = isWhole(entity)
        let unloaded = unload(names, of: entity.shape)
        let column = (plan.storage.rowID ?? OfflineLayout.rowIDColumn).sqlIdentifier
        let statement = try database.cachedStatement(sql: "\(plan.selection) WHERE \(column) = ?")
        guard let row = try Row.fetchOne(statement, arguments: [rowID]) else { return }
        let stored = plan.stored(row)
        var bits = stored.notLoaded
        for (index, slot) in plan.slots.enumerated() where pattern[index] {
            guard let bit = slot.bit else { continue }
            if unloaded.contains(index) {
                WritePlan.set(bit, in: &bits)
            } else if bit / 8 < bits.count {
                bits[bit / 8] &= ~(1 << UInt8(bit % 8))
            }
        }
        let dynamic =
            isWhole
            ? WritePlan.dynamicText(entity.dynamicProperties)
            : try dynamicText(stored.dynamic, without: names, with: entity.dynamicProperties)
        try update(entity, etag: entity.control.etag, rowID: rowID, bits: bits, dynamic: dynamic)
    }

    /// Returns an entity with only the values that a row can contain.
    ///
    /// A value that violates the metadata, such as one with too many decimal places, becomes *not loaded* and is
    /// added to `ControlInformation.unreadable`. If the table does not support the entity's type, only the key
    /// remains.
    ///
    /// - Parameter entity: the entity, which may be incomplete.
    public func storable(_ entity: ODataEntity) -> ODataEntity {
        guard plan.nodes(of: entity.shape) != nil else {
            var bare = ODataEntity(shape: plan.storage.shape)
            for property in bare.shape.key { bare[property.path] = entity[property.path] }
            bare.markUnchanged()
            bare.control = entity.control
            return bare
        }
        guard !isStorable(entity) else { return entity }
        var result = entity
        for ordinal in entity.values.indices {
            guard let value = entity.values[ordinal] else { continue }
            var alone = ODataEntity(shape: entity.shape)
            alone.values[ordinal] = value
            guard let problem = problem(of: alone) else { continue }
            result.values[ordinal] = nil
            result.control.unreadable[entity.shape.properties[ordinal].name] = UnreadableValue(
                text: value.lexicalText ?? "\(value)", reason: "expected \(problem.expected)")
        }
        return result
    }

    private func isStorable(_ entity: ODataEntity) -> Bool { problem(of: entity) == nil }

    /// Returns the error for the first value that a row cannot contain.
    private func problem(of entity: ODataEntity) -> StoredValueError? {
        var row = [DatabaseValue?](repeating: nil, count: plan.slots.count)
        do {
            try plan.encode(entity, into: &row)
            return nil
        } catch {
            return error
        }
    }

    /// Inserts an entity with an earlier internal id, so that existing references to a deleted row remain valid.
    ///
    /// - Parameters:
    ///   - rowID: the internal row id.
    ///   - entity: the entity with its key.
    ///   - owner: the defining query of the deleted row.
    ///   - parent: the row id of the containing entity, for a contained collection.
    /// - Throws: ``StoreError/constraint(message:)`` if the id or the key exists; the errors of
    ///   ``load(_:owner:parent:)``.
    public func restore(_ rowID: Int64, _ entity: ODataEntity, owner: Int64, parent: Int64? = nil) throws {
        try fill(entity)
        guard try insert(entity, owner: owner, parent: parent, rowID: rowID) != nil else {
            throw StoreError.constraint(
                message: "the row \(rowID) of \(plan.storage.set), or another one with its key, is there already")
        }
    }

    /// Deletes a row; a missing row is ignored.
    public func delete(_ rowID: Int64) throws {
        let deleteByRowID = try deletesByRowID.prepared
        try deleteByRowID.bind(rowID, at: 1)
        try deleteByRowID.execute()
    }

    /// Reads a row; `nil` if it does not exist.
    ///
    /// - Throws: ``StoredValueError`` if a stored value is invalid.
    public func read(_ rowID: Int64) throws -> ODataEntity? {
        let column = (plan.storage.rowID ?? OfflineLayout.rowIDColumn).sqlIdentifier
        let statement = try database.cachedStatement(sql: "\(plan.selection) WHERE \(column) = ?")
        guard let row = try Row.fetchOne(statement, arguments: [rowID]) else { return nil }
        var entity = try plan.entity(plan.stored(row))
        // The id of a contained entity starts with the id of its container, which is not read here.
        guard !isContained else { return entity }
        entity.control.id = EntityID.canonical(
            set: plan.storage.set, key: isSingleton ? nil : entity.key, shape: plan.storage.shape, model: plan.model)
        return entity
    }

    // MARK: Steps

    /// Assigns the loaded values of an entity to the slots.
    private func fill(_ entity: ODataEntity, needsKey: Bool = true) throws {
        guard let nodes = plan.nodes(of: entity.shape) else {
            throw StoredValueError(
                table: plan.storage.table, found: "an entity of type \(entity.shape)",
                expected: "\(plan.storage.shape)")
        }
        clearSlots()
        fill(entity, nodes)
        for slot in plan.keySlots where values[slot].map(\.isNull) ?? needsKey {
            throw StoredValueError(
                table: plan.storage.table, column: plan.slots[slot].name, found: "no value", expected: "a key value")
        }
    }

    func clearSlots() {
        for index in values.indices {
            values[index] = nil
            pattern[index] = false
        }
    }

    private func fill(_ entity: ODataEntity, _ nodes: [WritePlan.Node]) {
        for (ordinal, node) in nodes.enumerated() {
            guard ordinal < entity.values.count, let value = entity.values[ordinal] else { continue }
            switch node {
            case .slot(let index): set(index, value)
            case .complex(_, let presence, let nested):
                if case .complex(let inner) = value {
                    set(presence, .integer(1))
                    fill(inner, nested)
                } else {
                    clear(node)
                }
            case .absent: continue
            }
        }
    }

    /// Clears the slots of properties that can be *not loaded*.
    ///
    /// - Returns: These slots.
    private func unload(_ names: Set<String>, of shape: TypeShape) -> Set<Int> {
        guard !names.isEmpty, let nodes = plan.nodes(of: shape) else { return [] }
        let unloaded = slots(at: names, shape.properties, nodes)
        for slot in unloaded {
            values[slot] = nil
            pattern[slot] = true
        }
        return unloaded
    }

    /// Returns the slots of properties that can be *not loaded*, by name or path.
    private func slots(at paths: Set<String>, _ properties: [Property], _ nodes: [WritePlan.Node]) -> Set<Int> {
        var found: Set<Int> = []
        for (property, node) in zip(properties, nodes) {
            if paths.contains(property.name) {
                found.formUnion(plan.optionalSlots(of: node))
            } else if case .complex(_, _, let nested) = node, case .complex(let name?) = property.type {
                let prefix = "\(property.name)/"
                let inner = paths.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
                guard !inner.isEmpty, let shape = plan.model.shape(name) else { continue }
                found.formUnion(slots(at: Set(inner), shape.properties, nested))
            }
        }
        return found
    }

    private func clear(_ node: WritePlan.Node) {
        switch node {
        case .slot(let index): set(index, .null)
        case .complex(_, let presence, let nested):
            set(presence, .integer(0))
            nested.forEach(clear)
        case .absent: break
        }
    }

    private func set(_ index: Int, _ value: ODataValue) {
        values[index] = value
        pattern[index] = true
    }

    private func bindKey(_ statement: BoundStatement, parent: Int64?) throws {
        guard !isSingleton else { return }
        var index: Int32 = 0
        for slot in plan.keySlots {
            index += 1
            try bind(slot, to: statement, at: index)
        }
        if isContained { try statement.bind(parent.databaseValue, at: index + 1) }
    }

    /// Binds the value of a slot.
    func bind(_ slot: Int, to statement: BoundStatement, at index: Int32) throws {
        guard let value = values[slot] else { return try statement.bindNull(at: index) }
        guard let column = plan.slots[slot].column else {
            if case .integer(let mark) = value { try statement.bind(mark, at: index) }
            return
        }
        do {
            try statement.bind(value, as: column, at: index)
        } catch let error as StoredValueError {
            throw error.at(table: plan.storage.table)
        }
    }

    /// Inserts the current row unless its key exists.
    ///
    /// - Returns: The row id; `nil` if the key exists.
    private func insert(_ entity: ODataEntity, owner: Int64, parent: Int64?, rowID: Int64? = nil) throws -> Int64? {
        let rowID = isSingleton ? 1 : rowID
        let statement =
            try rowID == nil || isSingleton ? insertStatement() : makeInsertStatement(pattern, namesRowID: true)
        var index: Int32 = 1
        func next() -> Int32 {
            defer { index += 1 }
            return index
        }
        if let rowID { try statement.bind(rowID, at: next()) }
        if plan.system.owner != nil { try statement.bind(owner, at: next()) }
        if isContained { try statement.bind(parent.databaseValue, at: next()) }
        if plan.system.etag != nil { try statement.bind(entity.control.etag.databaseValue, at: next()) }
        if plan.system.notLoaded != nil { try statement.bind(notLoadedBits(), at: next()) }
        if plan.system.discriminator != nil { try statement.bind(typeName(entity).databaseValue, at: next()) }
        if plan.system.dynamic != nil {
            try statement.bind(WritePlan.dynamicText(entity.dynamicProperties).databaseValue, at: next())
        }
        for slot in pattern.indices where pattern[slot] { try bind(slot, to: statement, at: next()) }
        return try statement.insert()
    }

    func notLoadedBits() -> DatabaseValue {
        var bits: [UInt8] = []
        for (index, slot) in plan.slots.enumerated() where !pattern[index] {
            if let bit = slot.bit { WritePlan.set(bit, in: &bits) }
        }
        return bits.isEmpty ? .null : Data(bits).databaseValue
    }

    func typeName(_ entity: ODataEntity) -> String? {
        entity.shape == plan.storage.shape ? nil : entity.shape.name.description
    }

    func insertStatement() throws -> BoundStatement {
        if let lastInsert, lastInsert.pattern == pattern { return lastInsert.statement }
        let statement = try inserts[pattern] ?? makeInsertStatement(pattern, namesRowID: isSingleton)
        // The copy has its own storage. Otherwise, changing the current pattern for the next row would copy it each
        // time.
        let known = pattern.map { $0 }
        inserts[known] = statement
        lastInsert = (known, statement)
        return statement
    }

    /// Prepares a statement that inserts rows except those with existing keys.
    ///
    /// - Parameters:
    ///   - pattern: whether rows have a value, for each slot.
    ///   - namesRowID: whether the statement has a parameter for the row id.
    ///   - rows: the number of rows.
    func makeInsertStatement(_ pattern: [Bool], namesRowID: Bool, rows: Int = 1) throws -> BoundStatement {
        let storage = plan.storage
        var columns: [String] = []
        if namesRowID, let rowID = storage.rowID { columns.append(rowID) }
        if let visibility = storage.visibility { columns.append(visibility.ownerColumn) }
        if isContained { columns.append(OfflineLayout.parentColumn) }
        if case .column(let name) = storage.etag { columns.append(name) }
        if let name = storage.notLoaded { columns.append(name) }
        if let name = storage.discriminator { columns.append(name) }
        if let name = storage.dynamicProperties { columns.append(name) }
        columns += pattern.indices.filter { pattern[$0] }.map { plan.slots[$0].name }
        let list = columns.map(\.sqlIdentifier).joined(separator: ", ")
        let marks = "(" + columns.map { _ in "?" }.joined(separator: ", ") + ")"
        let values = [String](repeating: marks, count: rows).joined(separator: ", ")
        // With FAIL, the rows before a refused row remain, as with separate inserts. SQLite then needs no copies of
        // pages for a statement rollback. For keys without order, these copies could fill a temporary file.
        let insert = rows > 1 ? "INSERT OR FAIL" : "INSERT"
        return try BoundStatement(
            "\(insert) INTO \(storage.table.sqlIdentifier) (\(list)) VALUES \(values) ON CONFLICT DO NOTHING",
            in: database,
            // A statement for several rows keeps the values of waiting rows, so that loaders must not share it.
            isKept: rows == 1)
    }
}
