import Foundation
import GRDB
import ODataModel

/// Rows that are there, compared with what comes and brought up to it.
///
/// What one query brings need not be all that others have brought of the same row (rule 12). An ETag is one of all values of
/// a row: where some of them are left out, it is renewed only when nobody else brings these.
extension BulkLoader {
    /// Who brings what of a row.
    public struct Holders {
        /// What is brought by who loads.
        public var own: PropertySelection
        /// What is brought by the others that hold the row.
        public var others: PropertySelection

        /// Says who brings what.
        public init(own: PropertySelection, others: PropertySelection) {
            self.own = own
            self.others = others
        }
    }

    /// Updates the row that the selection stands on, where it differs from the values at hand.
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

    /// A stored row beside the values at hand.
    struct Comparison {
        var rowID: Int64
        var previousOwner: Int64?
        var isSame: Bool
        /// What is not loaded after the values at hand are written.
        var bits: [UInt8]
        /// What is in the row after that.
        var dynamic: String?
        var etag: String?
    }

    /// Compares the row that the selection stands on with the values at hand, and lets go of it.
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
            // An entity that is not loaded as a whole does not say which dynamic properties it has besides.
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
        // Texts in it may differ in their normal forms alone.
        if !storedDynamic.databaseValue.isIdentical(to: found.dynamic.databaseValue) { found.isSame = false }
        if found.isSame { found.isSame = try isSameInSlots(selectByKey) }
        return found
    }

    /// Decides what becomes of loaded values that an entity with another ETag leaves out: what others bring stays, and keeps
    /// the ETag that it came with, so that nobody overwrites unseen what is there by now; what nobody brings any more is
    /// not loaded from now on.
    private func settle(_ found: inout Comparison, _ entity: ODataEntity, etag: String?) throws {
        guard let holders, !isWhole(entity) else { return }
        let slots = slots(of: entity.shape).filter { !pattern[$0.index] && !WritePlan.contains($0.bit, in: found.bits) }
        let names = try WritePlan.dynamicProperties(of: found.dynamic, in: plan.model).keys
            .filter { entity.dynamicProperties[$0] == nil }
        guard !slots.isEmpty || !names.isEmpty else { return }
        let held = try holders(found.rowID)
        // A delta may leave out what has not changed.
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

    /// Lets go of what nobody brings any more of a row: from then on it is not loaded. Its ETag goes with it, since nothing
    /// tells which version the rest is of: until it comes again, values are compared instead.
    ///
    /// - Parameters:
    ///   - rowID: the internal row id.
    ///   - held: what is still brought.
    /// - Throws: errors of SQLite; nothing happens when the row is not there.
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

    /// Empties slots of which the values are not loaded any more.
    private func drop(_ dropped: [WritePlan.PropertySlot], of shape: TypeShape, _ bits: inout [UInt8]) {
        let indices = Set(dropped.map(\.index))
        for slot in plan.presences(goneWith: indices, bits, of: shape) + indices {
            values[slot] = nil
            pattern[slot] = true
        }
        for slot in dropped { WritePlan.set(slot.bit, in: &bits) }
    }

    /// Whether everything came that the type of an entity declares.
    func isWhole(_ entity: ODataEntity) -> Bool {
        // Tables of several types have columns that are no property's of this one.
        !pattern.contains(false) || slots(of: entity.shape).allSatisfy { pattern[$0.index] }
    }

    private func slots(of shape: TypeShape) -> [WritePlan.PropertySlot] {
        if let lastType, lastType.shape === shape { return lastType.slots }
        let slots = plan.propertySlots(of: shape)
        lastType = (shape, slots)
        return slots
    }

    /// Dynamic properties as they are stored, without some, and with others put over them.
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
