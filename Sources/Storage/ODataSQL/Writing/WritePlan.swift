import Foundation
import GRDB
import ODataModel

/// The storage of a table, prepared for access to whole rows.
///
/// Every column has a fixed position, and the properties of every type are a tree over these positions. Loops over
/// rows therefore need no search by name.
package struct WritePlan: Sendable {
    /// A column with the value of a property or the presence of a complex value.
    struct Slot: Sendable {
        var name: String
        /// The encoding of the values; `nil` for the presence column of a complex value. A presence column contains
        /// 1 for a value, 0 for null, and NULL if the value is not loaded or was never set.
        var column: ColumnStorage?
        /// The index of the column's bit in ``TableStorage/notLoaded``; `nil` if the column is always loaded.
        var bit: Int?
    }

    /// The slots of a property.
    indirect enum Node: Sendable {
        case slot(Int)
        case complex(TypeShape, presence: Int, [Node])
        case absent
    }

    /// A slot that can be *not loaded*, as a property of a type.
    struct PropertySlot: Sendable {
        var index: Int
        var bit: Int
        /// The path of the property.
        var path: [String]
    }

    /// The columns that are not properties, in the order of ``selection``.
    struct SystemColumns: Sendable {
        var rowID: Int?
        var etag: Int?
        var notLoaded: Int?
        var discriminator: Int?
        var dynamic: Int?
        var owner: Int?
        var parent: Int?
        var names: [String] = []

        fileprivate init(_ storage: TableStorage) {
            rowID = add(storage.rowID)
            if case .column(let name) = storage.etag { etag = add(name) }
            notLoaded = add(storage.notLoaded)
            discriminator = add(storage.discriminator)
            dynamic = add(storage.dynamicProperties)
            owner = add(storage.visibility?.ownerColumn)
            parent = add(storage.set.contains("/") ? OfflineLayout.parentColumn : nil)
        }

        private mutating func add(_ name: String?) -> Int? {
            guard let name else { return nil }
            names.append(name)
            return names.count - 1
        }
    }

    /// A foreign key: the referenced set and, for each part, its slot and the referenced column.
    struct VariableReference: Sendable {
        var target: String
        var pairs: [(slot: Int, column: String)]
    }

    let storage: TableStorage
    let model: EntityDataModel
    let slots: [Slot]
    let system: SystemColumns
    /// The slots of the key's columns, in key order.
    let keySlots: [Int]
    /// Whether SQLite may find a different key, because of the affinity or collation of a column.
    let hasTextKey: Bool
    /// Whether a part of the key has several stored forms.
    let hasVariableKey: Bool
    /// The foreign keys with parts that have several stored forms.
    let variableReferences: [VariableReference]
    /// The positions of ``TableStorage/digestColumns`` in a selected row, for its digest.
    let digestPositions: [Int]
    private let nodesByType: [QualifiedName: [Node]]

    init(storage: TableStorage, model: EntityDataModel) {
        self.storage = storage
        self.model = model
        var slots: [Slot] = []
        var positions: [String: Int] = [:]
        let bits = Dictionary(
            storage.columns.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { first, _ in first })
        func slot(_ name: String, _ column: ColumnStorage?) -> Int {
            if let known = positions[name] { return known }
            let bit = column?.isOptionallyLoaded == true && storage.notLoaded != nil ? bits[name] : nil
            slots.append(Slot(name: name, column: column, bit: bit))
            positions[name] = slots.count - 1
            return slots.count - 1
        }
        func node(_ property: PropertyStorage) -> Node {
            switch property {
            case .column(let column): .slot(slot(column.name, column))
            case .complex(let shape, let nested, let presence):
                .complex(shape, presence: slot(presence, nil), nested.map(node))
            case .absent: .absent
            }
        }
        var nodes = [storage.shape.name: storage.properties.map(node)]
        for (type, properties) in storage.derivedProperties.sorted(by: { $0.key.description < $1.key.description }) {
            nodes[type] = (nodes[storage.shape.name] ?? []) + properties.map(node)
        }
        self.slots = slots
        system = SystemColumns(storage)
        keySlots = storage.shape.key.compactMap { storage.column(at: $0.path).flatMap { positions[$0.name] } }
        hasTextKey = keySlots.contains { slots[$0].column?.isComparedAsText == true }
        hasVariableKey = keySlots.contains { slots[$0].column?.codec.hasSeveralForms == true }
        variableReferences = Self.variableReferences(of: storage, slots, positions: positions, model: model)
        digestPositions = storage.digestColumns.compactMap { [system] name in
            positions[name].map { $0 + system.names.count } ?? system.names.firstIndex(of: name)
        }
        nodesByType = nodes
    }

    private static func variableReferences(
        of storage: TableStorage, _ slots: [Slot], positions: [String: Int], model: EntityDataModel
    ) -> [VariableReference] {
        let shapes = [storage.shape] + TableLayout.derivedShapes(of: storage.shape, model: model)
        return storage.navigation.sorted { $0.key < $1.key }.compactMap { name, navigation in
            guard case .join(let target, let pairs) = navigation,
                // Only foreign keys in the rows of this table are relevant.
                shapes.contains(where: { $0.navigationProperty(name)?.constraints.isEmpty == false })
            else { return nil }
            let parts = pairs.compactMap { pair in positions[pair.source].map { (slot: $0, column: pair.target) } }
            guard parts.count == pairs.count,
                parts.contains(where: { slots[$0.slot].column?.codec.hasSeveralForms == true })
            else { return nil }
            return VariableReference(target: target, pairs: parts)
        }
    }

    /// Returns the tree of a type's properties; `nil` if the table does not contain the type.
    func nodes(of shape: TypeShape) -> [Node]? {
        nodesByType[shape.name]
            ?? (model.isType(shape.name, storage.shape.name) ? nodesByType[storage.shape.name] : nil)
    }

    /// Returns the slots below a node that can be *not loaded*.
    func optionalSlots(of node: Node) -> [Int] {
        switch node {
        case .slot(let index): return slots[index].bit == nil ? [] : [index]
        case .complex(_, let presence, let nested):
            let inner = nested.flatMap(optionalSlots)
            return inner.isEmpty ? [] : [presence] + inner
        case .absent: return []
        }
    }

    /// Returns the slots of a type's properties that can be *not loaded*.
    func propertySlots(of shape: TypeShape) -> [PropertySlot] {
        func collect(_ shape: TypeShape, _ nodes: [Node], path: [String]) -> [PropertySlot] {
            zip(shape.properties, nodes).flatMap { property, node -> [PropertySlot] in
                let path = path + [property.name]
                switch node {
                case .slot(let index):
                    return slots[index].bit.map { [PropertySlot(index: index, bit: $0, path: path)] } ?? []
                case .complex(let nested, _, let nodes): return collect(nested, nodes, path: path)
                case .absent: return []
                }
            }
        }
        return collect(shape, nodes(of: shape) ?? [], path: [])
    }

    /// Returns the presence slots of complex values without any loaded properties.
    ///
    /// - Parameters:
    ///   - dropped: the slots that become not loaded.
    ///   - bits: the bits of columns that were not loaded before.
    func presences(goneWith dropped: Set<Int>, _ bits: [UInt8], of shape: TypeShape) -> [Int] {
        func collect(_ node: Node) -> (isGone: Bool, isTouched: Bool, presences: [Int]) {
            switch node {
            case .slot(let index):
                let isDropped = dropped.contains(index)
                let wasMissing = slots[index].bit.map { Self.contains($0, in: bits) } ?? false
                return (isDropped || wasMissing, isDropped, [])
            case .complex(_, let presence, let nested):
                let inner = nested.map(collect)
                let isTouched = inner.contains { $0.isTouched }
                let isGone = isTouched && inner.allSatisfy { $0.isGone }
                return (isGone, isTouched, inner.flatMap(\.presences) + (isGone ? [presence] : []))
            case .absent: return (true, false, [])
            }
        }
        return (nodes(of: shape) ?? []).flatMap { collect($0).presences }
    }

    /// Returns the position of a column's slot.
    func slot(named column: String) -> Int? { slots.firstIndex { $0.name == column } }

    /// Returns the path of the property in a column, such as `Address/City`; the path of a derived type's property
    /// is its name.
    func path(ofColumn column: String) -> String? {
        guard let slot = slot(named: column) else { return nil }
        func search(_ shape: TypeShape, _ nodes: [Node], prefix: String) -> String? {
            for (property, node) in zip(shape.properties, nodes) {
                switch node {
                case .slot(slot): return prefix + property.name
                case .complex(let nested, _, let inner):
                    if let path = search(nested, inner, prefix: "\(prefix)\(property.name)/") { return path }
                default: continue
                }
            }
            return nil
        }
        for (type, nodes) in nodesByType.sorted(by: { $0.value.count < $1.value.count }) {
            if let shape = model.shape(type) ?? (type == storage.shape.name ? storage.shape : nil),
                let path = search(shape, nodes, prefix: "")
            {
                return path
            }
        }
        return nil
    }

    // MARK: SQL

    /// `SELECT` with the system columns and all slots, up to and including the table.
    package var selection: String {
        let columns = (system.names + slots.map(\.name)).map(\.sqlIdentifier).joined(separator: ", ")
        return "SELECT \(columns) FROM \(storage.table.sqlIdentifier)"
    }

    /// Whether rows have no key, as for a single-valued contained entity (OData CSDL 4.01, 6.5 *Key*).
    var isFoundByParent: Bool { storage.shape.key.isEmpty }

    /// Returns the condition for a visible row by key and, for contained collections, by the row id of its
    /// container.
    func keyCondition(hasParent: Bool, includesHidden: Bool = false) -> String {
        var conditions = keySlots.map { "\(slots[$0].name.sqlIdentifier) = ?" }
        if hasParent { conditions.append("\(OfflineLayout.parentColumn.sqlIdentifier) = ?") }
        if !includesHidden, let visibility = storage.visibility {
            conditions.append(
                "\(visibility.ownerColumn.sqlIdentifier) NOT IN (SELECT id FROM \(visibility.hiddenTable.sqlIdentifier))"
            )
        }
        return conditions.isEmpty ? "1" : conditions.joined(separator: " AND ")
    }

    // MARK: Entities to columns

    /// Writes the loaded properties of an entity to slots; other slots remain unchanged.
    ///
    /// - Throws: ``StoredValueError`` with the name of the column if a value does not fit.
    func encode(_ entity: ODataEntity, into row: inout [DatabaseValue?]) throws(StoredValueError) {
        guard let nodes = nodes(of: entity.shape) else {
            throw StoredValueError(
                table: storage.table, found: "an entity of type \(entity.shape)", expected: "\(storage.shape)")
        }
        try encode(entity, nodes, into: &row)
    }

    private func encode(
        _ entity: ODataEntity, _ nodes: [Node], into row: inout [DatabaseValue?]
    ) throws(StoredValueError) {
        for (ordinal, node) in nodes.enumerated() {
            guard ordinal < entity.values.count, let value = entity.values[ordinal] else { continue }
            switch node {
            case .slot(let index):
                guard let column = slots[index].column else { continue }
                do throws(StoredValueError) {
                    if !storage.storesNaN, value.isNaN {
                        throw StoredValueError(found: "NaN", expected: "a number that SQLite can hold")
                    }
                    row[index] = try column.codec.encode(value)
                } catch {
                    throw error.at(table: storage.table, column: column.name)
                }
            case .complex(_, let presence, let nested):
                if case .complex(let inner) = value {
                    row[presence] = 1.databaseValue
                    try encode(inner, nested, into: &row)
                } else {
                    clear(node, in: &row)
                }
            case .absent: continue
            }
        }
    }

    /// Writes null to all slots below a node.
    func clear(_ node: Node, in row: inout [DatabaseValue?]) {
        switch node {
        case .slot(let index): row[index] = .null
        case .complex(_, let presence, let nested):
            row[presence] = 0.databaseValue
            for node in nested { clear(node, in: &row) }
        case .absent: break
        }
    }

    /// Returns the dynamic properties in a JSON object.
    ///
    /// - Throws: ``StoredValueError`` if the text is not a JSON object.
    static func dynamicProperties(
        of text: String?, in model: EntityDataModel
    ) throws(StoredValueError) -> [String: ODataValue] {
        guard let text, case .complex(let holder) = try StoredJSON.decode(text, as: .complex(nil), in: model) else {
            return [:]
        }
        return holder.dynamicProperties
    }

    /// Returns the JSON object of dynamic properties; `nil` if there are none. A property with the value null does
    /// not exist (OData CSDL 4.01, 6.3).
    static func dynamicText(_ properties: [String: ODataValue]) -> String? {
        let properties = properties.filter { !$0.value.isNull }
        guard !properties.isEmpty else { return nil }
        let shape = TypeShape(dynamic: QualifiedName("Outpost", "Dynamic"), properties: [])
        var holder = ODataEntity(shape: shape)
        holder.dynamicProperties = properties
        return StoredJSON.encode(.complex(holder))
    }

    /// Returns the bits of the columns that are not loaded, which are the `nil` slots with a bit; NULL if there are
    /// none.
    func notLoadedBits(_ row: [DatabaseValue?]) -> DatabaseValue {
        var bits: [UInt8] = []
        for (index, slot) in slots.enumerated() where row[index] == nil {
            if let bit = slot.bit { Self.set(bit, in: &bits) }
        }
        return bits.isEmpty ? .null : Data(bits).databaseValue
    }

    static func set(_ bit: Int, in bits: inout [UInt8]) {
        while bits.count <= bit / 8 { bits.append(0) }
        bits[bit / 8] |= 1 << UInt8(bit % 8)
    }

    static func contains(_ bit: Int, in bits: [UInt8]) -> Bool {
        bit / 8 < bits.count && bits[bit / 8] & (1 << UInt8(bit % 8)) != 0
    }

    // MARK: Rows to entities

    /// A row selected by ``selection``.
    package struct Stored {
        var rowID: Int64?
        var owner: Int64?
        var parent: Int64?
        var etag: String?
        var notLoaded: [UInt8]
        var type: String?
        var dynamic: String?
        var slots: [DatabaseValue]
        var digest: String?
    }

    /// Reads the values of a row.
    package func stored(_ row: Row) -> Stored {
        let offset = system.names.count
        var stored = Stored(notLoaded: [], slots: slots.indices.map { row[offset + $0] })
        if let position = system.rowID { stored.rowID = row[position] }
        if let position = system.owner { stored.owner = row[position] }
        if let position = system.parent { stored.parent = row[position] }
        if let position = system.etag { stored.etag = row[position] }
        if let position = system.notLoaded, let bits: Data = row[position] { stored.notLoaded = Array(bits) }
        if let position = system.discriminator { stored.type = row[position] }
        if let position = system.dynamic { stored.dynamic = row[position] }
        if storage.etag == .contentDigest {
            var digest = RowDigest()
            for position in digestPositions { digest.add(row[position]) }
            stored.digest = digest.etag()
        }
        return stored
    }

    /// Returns the entity of a row, with its ETag and, for a derived type, its type in the control information.
    ///
    /// - Throws: ``StoredValueError`` with table and column if a value does not match its declaration.
    func entity(_ stored: Stored) throws(StoredValueError) -> ODataEntity {
        var shape = storage.shape
        if let type = stored.type.flatMap({ QualifiedName($0) }), let derived = model.shape(type) { shape = derived }
        let nodes = nodes(of: shape) ?? []
        var entity = ODataEntity(shape: shape)
        do {
            for (ordinal, node) in nodes.enumerated() {
                entity.values[ordinal] = try value(node, stored)
            }
            if stored.dynamic != nil {
                entity.dynamicProperties = try Self.dynamicProperties(of: stored.dynamic, in: model)
            }
        } catch {
            throw error.at(table: storage.table, row: stored.rowID.map { "\($0)" })
        }
        entity.control.etag = etag(stored)
        if shape != storage.shape { entity.control.type = shape.name }
        entity.markUnchanged()
        return entity
    }

    /// Returns the ETag of a row.
    func etag(_ stored: Stored) -> String? {
        switch storage.etag {
        case .column: return stored.etag
        case .contentDigest: return stored.digest
        case .none: return nil
        }
    }

    private func value(_ node: Node, _ stored: Stored) throws(StoredValueError) -> ODataValue? {
        switch node {
        case .slot(let index):
            let slot = slots[index]
            if let bit = slot.bit, Self.contains(bit, in: stored.notLoaded) { return nil }
            guard let column = slot.column else { return nil }
            return try column.decode(stored.slots[index], in: model)
        case .complex(let shape, let presence, let nested):
            let mark = Int64.fromDatabaseValue(stored.slots[presence])
            if mark == nil, !nested.isEmpty, nested.allSatisfy({ isNotLoaded($0, stored) }) { return nil }
            guard mark == 1 else { return .null }
            var entity = ODataEntity(shape: shape)
            for (ordinal, node) in nested.enumerated() { entity.values[ordinal] = try value(node, stored) }
            entity.markUnchanged()
            return .complex(entity)
        case .absent: return nil
        }
    }

    private func isNotLoaded(_ node: Node, _ stored: Stored) -> Bool {
        switch node {
        case .slot(let index): slots[index].bit.map { Self.contains($0, in: stored.notLoaded) } ?? false
        case .complex(_, _, let nested): nested.allSatisfy { isNotLoaded($0, stored) }
        case .absent: true
        }
    }
}

extension ODataValue {
    /// Whether the value is NaN, which SQLite cannot store as a number.
    fileprivate var isNaN: Bool {
        switch self {
        case .double(let number): number.isNaN
        case .single(let number): number.isNaN
        default: false
        }
    }
}
