import Foundation
import GRDB
import ODataModel

/// Comparison of existing rows with loaded values, and their update.
///
/// Several defining queries may load different properties of the same row. An ETag refers to all values of a row.
/// If the loaded row omits some values, its ETag is stored only if no other query loads these values.
extension BulkLoader {
    /// The properties of a row that defining queries load.
    public struct Holders {
        /// The properties that the current query loads.
        public var own: PropertySelection
        /// The properties that other queries of the same row load.
        public var others: PropertySelection

        /// Creates a value from both selections.
        public init(own: PropertySelection, others: PropertySelection) {
            self.own = own
            self.others = others
        }
    }

    /// Updates the current row of a selection if it differs from the loaded values.
    func merge(_ entity: ODataEntity, _ selectByKey: BoundStatement, owner: Int64) throws -> Outcome {
        let found = try comparison(entity, selectByKey)
        let (rowID, previousOwner) = (found.rowID, found.previousOwner)
        if !found.isSame {
            try update(entity, etag: found.etag, rowID: rowID, bits: found.bits, dynamic: found.dynamic)
        }
        if let previousOwner, previousOwner != owner, previousOwner == 0 || hiddenOwners.contains(previousOwner),
            let updatesOwner
        {
            let updateOwner = try updatesOwner.prepared
            try updateOwner.bind(owner, at: 1)
            try updateOwner.bind(rowID, at: 2)
            try updateOwner.execute()
        }
        return Outcome(rowID: rowID, change: found.isSame ? .unchanged : .updated, previousOwner: previousOwner)
    }

    /// A comparison of a stored row with the loaded values.
    struct Comparison {
        var rowID: Int64
        var previousOwner: Int64?
        var isSame: Bool
        /// The bits of columns that are not loaded, after the update.
        var bits: [UInt8]
        /// The dynamic properties after the update.
        var dynamic: String?
        var etag: String?
    }

    /// Compares the current row of a selection with the loaded values, and ends the selection.
    func comparison(_ entity: ODataEntity, _ selectByKey: BoundStatement) throws -> Comparison {
        defer { selectByKey.reset() }
        let system = plan.system
        func column(_ position: Int?) -> Int32? { position.map { Int32($0) } }
        guard let rowIDColumn = column(system.rowID) else {
            throw StoreError.database(code: 1, message: "\(plan.storage.table) has no row ids")
        }
        var found = Comparison(
            rowID: selectByKey.integer(rowIDColumn),
            previousOwner: column(system.owner).map { selectByKey.integer($0) }, isSame: true, bits: [], dynamic: nil,
            etag: entity.control.etag)
        if let column = column(system.notLoaded), case .blob(let data) = selectByKey.value(column).storage {
            found.bits = Array(data)
            for (index, slot) in plan.slots.enumerated() where pattern[index] {
                if let bit = slot.bit, WritePlan.contains(bit, in: found.bits) {
                    found.bits[bit / 8] &= ~(1 << UInt8(bit % 8))
                    found.isSame = false
                }
            }
        }
        if let column = column(system.discriminator), selectByKey.text(column) != typeName(entity) {
            found.isSame = false
        }
        let storedDynamic = column(system.dynamic).flatMap { selectByKey.text($0) }
        if system.dynamic != nil {
            // An entity that is not complete may omit some of its dynamic properties.
            found.dynamic =
                isWhole(entity)
                ? WritePlan.dynamicText(entity.dynamicProperties)
                : try dynamicText(storedDynamic, with: entity.dynamicProperties)
        }
        if let column = column(system.etag) {
            let stored = selectByKey.text(column)
            if stored != entity.control.etag { try settle(&found, entity, etag: stored) }
            if stored != found.etag { found.isSame = false }
        }
        // Texts may differ only in their Unicode normalization.
        if !storedDynamic.databaseValue.isIdentical(to: found.dynamic.databaseValue) { found.isSame = false }
        if found.isSame { found.isSame = try isSameInSlots(selectByKey) }
        return found
    }

    /// Determines the stored values that an entity with another ETag omits.
    ///
    /// Values of other queries remain, together with the old ETag, so that a change cannot overwrite newer values
    /// unseen. Values that no query loads become *not loaded*.
    private func settle(_ found: inout Comparison, _ entity: ODataEntity, etag: String?) throws {
        guard let holders, !isWhole(entity) else { return }
        let slots = slots(of: entity.shape).filter { !pattern[$0.index] && !WritePlan.contains($0.bit, in: found.bits) }
        let names = try WritePlan.dynamicProperties(of: found.dynamic, in: plan.model).keys
            .filter { entity.dynamicProperties[$0] == nil }
        guard !slots.isEmpty || !names.isEmpty else { return }
        let held = try holders(found.rowID)
        // A delta may omit unchanged values.
        let foreign = slots.filter { !held.own.contains($0.path) }
        let foreignNames = names.filter { !held.own.contains([$0]) }
        let dropped = foreign.filter { !held.others.contains($0.path) }
        let droppedNames = Set(foreignNames.filter { !held.others.contains([$0]) })
        if dropped.count < foreign.count || droppedNames.count < foreignNames.count, entity.control.etag != nil {
            found.etag = etag
        }
        guard !dropped.isEmpty || !droppedNames.isEmpty else { return }
        found.isSame = false
        drop(dropped, of: entity.shape, &found.bits)
        if !droppedNames.isEmpty { found.dynamic = try dynamicText(found.dynamic, without: droppedNames, with: [:]) }
    }

    /// Marks the values of a row that no query loads as not loaded.
    ///
    /// The ETag is removed, too, because the version of the remaining values is unknown. Until the row is loaded
    /// again, conflicts are detected by comparing values.
    ///
    /// - Parameters:
    ///   - rowID: the internal row id.
    ///   - held: the properties that queries still load.
    /// - Throws: Errors of SQLite. A missing row is ignored.
    public func unload(_ rowID: Int64, but held: PropertySelection) throws {
        guard !held.isAll else { return }
        let column = (plan.storage.rowID ?? OfflineLayout.rowIDColumn).sqlIdentifier
        let statement = try database.cachedStatement(sql: "\(plan.selection) WHERE \(column) = ?")
        guard let row = try Row.fetchOne(statement, arguments: [rowID]) else { return }
        let stored = plan.stored(row)
        let type = stored.type.flatMap { QualifiedName($0) }.flatMap { plan.model.shape($0) } ?? plan.storage.shape
        var bits = stored.notLoaded
        let dropped = slots(of: type).filter { !WritePlan.contains($0.bit, in: bits) && !held.contains($0.path) }
        let names = try WritePlan.dynamicProperties(of: stored.dynamic, in: plan.model).keys
            .filter { !held.contains([$0]) }
        guard !dropped.isEmpty || !names.isEmpty else { return }
        clearSlots()
        drop(dropped, of: type, &bits)
        let dynamic = try names.isEmpty ? stored.dynamic : dynamicText(stored.dynamic, without: Set(names), with: [:])
        try update(ODataEntity(shape: type), etag: nil, rowID: rowID, bits: bits, dynamic: dynamic)
    }

    /// Clears slots whose values become not loaded.
    private func drop(_ dropped: [WritePlan.PropertySlot], of shape: TypeShape, _ bits: inout [UInt8]) {
        let indices = Set(dropped.map(\.index))
        for slot in plan.presences(goneWith: indices, bits, of: shape) + indices {
            values[slot] = nil
            pattern[slot] = true
        }
        for slot in dropped { WritePlan.set(slot.bit, in: &bits) }
    }

    /// Returns whether all declared properties of an entity were loaded.
    func isWhole(_ entity: ODataEntity) -> Bool {
        // A table of several types has columns that this type lacks.
        !pattern.contains(false) || slots(of: entity.shape).allSatisfy { pattern[$0.index] }
    }

    private func slots(of shape: TypeShape) -> [WritePlan.PropertySlot] {
        if let lastType, lastType.shape === shape { return lastType.slots }
        let slots = plan.propertySlots(of: shape)
        lastType = (shape, slots)
        return slots
    }

    /// Returns the stored text of dynamic properties after some were removed and others were set.
    func dynamicText(
        _ stored: String?, without names: Set<String> = [], with others: [String: ODataValue]
    ) throws -> String? {
        guard stored != nil, !names.isEmpty || !others.isEmpty else {
            return stored ?? WritePlan.dynamicText(others)
        }
        let known = try WritePlan.dynamicProperties(of: stored, in: plan.model).filter { !names.contains($0.key) }
        return WritePlan.dynamicText(known.merging(others) { $1 })
    }

    private func isSameInSlots(_ selectByKey: BoundStatement) throws -> Bool {
        let offset = plan.system.names.count
        for (index, slot) in plan.slots.enumerated() {
            guard let value = values[index] else { continue }
            let position = Int32(offset + index)
            if let column = slot.column {
                do throws(StoredValueError) {
                    guard try selectByKey.column(position, holds: value, as: column) else { return false }
                } catch {
                    throw error.at(table: plan.storage.table)
                }
            } else if case .integer(let mark) = value {
                guard !selectByKey.isNull(position), selectByKey.integer(position) == mark else { return false }
            }
        }
        return true
    }

    func update(_ entity: ODataEntity, etag: String?, rowID: Int64, bits: [UInt8], dynamic: String?) throws {
        let statement = try updates[pattern] ?? makeUpdateStatement()
        updates[pattern.map { $0 }] = statement
        var index: Int32 = 1
        func next() -> Int32 {
            defer { index += 1 }
            return index
        }
        if plan.system.etag != nil { try statement.bind(etag.databaseValue, at: next()) }
        if plan.system.notLoaded != nil {
            try statement.bind(bits.allSatisfy { $0 == 0 } ? .null : Data(bits).databaseValue, at: next())
        }
        if plan.system.discriminator != nil { try statement.bind(typeName(entity).databaseValue, at: next()) }
        if plan.system.dynamic != nil { try statement.bind(dynamic.databaseValue, at: next()) }
        for slot in pattern.indices where pattern[slot] { try bind(slot, to: statement, at: next()) }
        try statement.bind(rowID, at: next())
        try statement.execute()
    }

    private func makeUpdateStatement() throws -> BoundStatement {
        let storage = plan.storage
        var columns: [String] = []
        if case .column(let name) = storage.etag { columns.append(name) }
        if let name = storage.notLoaded { columns.append(name) }
        if let name = storage.discriminator { columns.append(name) }
        if let name = storage.dynamicProperties { columns.append(name) }
        columns += pattern.indices.filter { pattern[$0] }.map { plan.slots[$0].name }
        let list = columns.map { "\($0.sqlIdentifier) = ?" }.joined(separator: ", ")
        let rowID = (storage.rowID ?? OfflineLayout.rowIDColumn).sqlIdentifier
        return try BoundStatement(
            "UPDATE \(storage.table.sqlIdentifier) SET \(list) WHERE \(rowID) = ?", in: database)
    }
}
