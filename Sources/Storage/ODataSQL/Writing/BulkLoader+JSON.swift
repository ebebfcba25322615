import GRDB
import ODataModel

/// Loading of rows in a JSON text without intermediate entities, for first downloads.
extension BulkLoader {
    /// Inserts the current row of a cursor, or updates the row with the same key; see ``load(_:owner:parent:)``.
    ///
    /// A new row of the table's own type without complex values is bound directly from the text. Other rows are
    /// converted to entities first.
    ///
    /// - Parameters:
    ///   - row: the row.
    ///   - owner: the defining query of the row.
    /// - Throws: ``JSONError`` with the position if the text is not a value of its property's type; otherwise, the
    ///   errors of ``load(_:owner:parent:)``.
    public func load(_ row: borrowing JSONRow, owner: Int64) throws -> Outcome {
        if expectsNew, !isContained, !isSingleton, let insert = try directInsert(row) {
            do {
                if let rowID = try execute(insert, row, owner: owner) {
                    return Outcome(rowID: rowID, change: .inserted, previousOwner: nil)
                }
                expectsNew = false
            } catch  where forgives(error) {
                // The row is loaded as an entity, without the unreadable value.
            }
        }
        let entity: ODataEntity
        do throws(EntityError) {
            entity = try row.entity(as: row.shape)
        } catch {
            if case .malformed(let place) = error { throw place }
            throw error
        }
        return try load(entity, owner: owner)
    }

    /// Returns whether an error concerns a single value of a row, whose other values are kept.
    func forgives(_ error: any Error) -> Bool {
        onUnreadable != nil && (error is JSONError || error is StoredValueError)
    }

    /// Returns the statement for the properties of a row; `nil` if the row must be converted to an entity.
    func directInsert(_ row: borrowing JSONRow) throws -> DirectInserts.Insert? {
        guard row.shape === plan.storage.shape else { return nil }
        let direct = direct
        switch direct.find(row) {
        case .known(let insert): return insert
        case .entity: return nil
        case .unknown: break
        }
        for index in pattern.indices { pattern[index] = false }
        for (ordinal, node) in direct.nodes.enumerated() {
            if case .column(let slot, _) = node, !row.isMissing(ordinal) { pattern[slot] = true }
        }
        return direct.keep(try insertStatement(), pattern, notLoaded: notLoadedBits(), row: row)
    }

    private func execute(_ insert: DirectInserts.Insert, _ row: borrowing JSONRow, owner: Int64) throws -> Int64? {
        _ = try bind(insert, row, owner: owner, to: insert.statement, at: 1)
        return try insert.statement.insert()
    }

    /// Binds a row.
    ///
    /// - Parameter first: the first parameter of the row.
    /// - Returns: The parameter after the last one.
    func bind(
        _ insert: DirectInserts.Insert, _ row: borrowing JSONRow, owner: Int64, to statement: BoundStatement,
        at first: Int32
    ) throws -> Int32 {
        var index = first
        func next() -> Int32 {
            defer { index += 1 }
            return index
        }
        if plan.system.owner != nil { try statement.bind(owner, at: next()) }
        if plan.system.etag != nil {
            switch try row.slot(of: "@odata.etag", or: "@etag") {
            case .string(let text): try statement.bind(text, at: next())
            default: try statement.bindNull(at: next())
            }
        }
        if plan.system.notLoaded != nil { try statement.bind(insert.notLoaded, at: next()) }
        // The row has the table's own type and only declared properties.
        if plan.system.discriminator != nil { try statement.bindNull(at: next()) }
        if plan.system.dynamic != nil { try statement.bindNull(at: next()) }
        for column in insert.columns {
            switch row[column.ordinal] {
            case .null: try statement.bindNull(at: next())
            case .string(let text) where column.isText: try statement.bind(text, at: next())
            default:
                let (value, index) = (try row.value(at: column.ordinal) ?? .null, next())
                guard try !statement.bind(value, in: column.form, at: index) else { continue }
                do {
                    try statement.bind(value, as: column.storage, at: index)
                } catch let error as StoredValueError {
                    throw error.at(table: plan.storage.table)
                }
            }
        }
        return index
    }
}

/// The statements that insert rows of a JSON text, by the properties of the rows.
final class DirectInserts {
    /// The storage of a property of the table's own type.
    enum Node {
        case column(slot: Int, ColumnStorage)
        /// A property that requires the conversion of rows to entities.
        case other
        /// A property that is not stored.
        case absent
    }

    /// A property with its column. This type and ``Insert`` are classes, because they are passed on for each value
    /// of each row.
    final class Column {
        let ordinal: Int
        let storage: ColumnStorage
        /// The form of values that need no encoding, which is cheaper to pass on than the whole storage.
        let form: ColumnCodec.PlainForm?
        /// Whether a string is stored without conversion.
        let isText: Bool

        init(ordinal: Int, storage: ColumnStorage) {
            self.ordinal = ordinal
            self.storage = storage
            form = storage.codec.plainForm
            isText = form == .string
        }
    }

    /// A statement with the meaning of its parameters.
    final class Insert {
        let statement: BoundStatement
        let notLoaded: DatabaseValue
        /// The properties in the order of their parameters.
        let columns: [Column]
        /// Whether the statement has a parameter, for each slot.
        let pattern: [Bool]
        /// The statement for several rows, as soon as it was needed.
        var many: BoundStatement?
        fileprivate let isThere: [Bool]

        init(
            _ statement: BoundStatement, _ pattern: [Bool], notLoaded: DatabaseValue, columns: [Column], isThere: [Bool]
        ) {
            self.statement = statement
            self.pattern = pattern
            self.notLoaded = notLoaded
            self.columns = columns
            self.isThere = isThere
        }
    }

    enum Found {
        case known(Insert)
        case unknown
        /// The row must be converted to an entity.
        case entity
    }

    /// The storage of the properties, by ordinal.
    let nodes: [Node]
    private let keys: [Int]
    private var inserts: [[Bool]: Insert] = [:]
    private var last: Insert?

    init(_ plan: WritePlan) {
        let shape = plan.storage.shape
        let nodes: [Node] = (plan.nodes(of: shape) ?? []).map { node in
            switch node {
            case .slot(let slot): plan.slots[slot].column.map { .column(slot: slot, $0) } ?? .other
            case .complex: .other
            case .absent: .absent
            }
        }
        self.nodes = nodes
        let ordinals = nodes.indices.filter { ordinal in
            if case .column(let slot, _) = nodes[ordinal] { plan.keySlots.contains(slot) } else { false }
        }
        // Rows with a key in a complex value must be converted to entities.
        keys = ordinals.count == plan.keySlots.count && !ordinals.isEmpty ? ordinals : [-1]
    }

    /// Returns the statement for a row.
    func find(_ row: borrowing JSONRow) -> Found {
        guard keys.allSatisfy({ row.hasValue($0) }) else { return .entity }
        if let last, (0..<nodes.count).allSatisfy({ row.isMissing($0) != last.isThere[$0] }) { return .known(last) }
        var isThere = [Bool](repeating: false, count: nodes.count)
        for (ordinal, node) in nodes.enumerated() where !row.isMissing(ordinal) {
            if case .other = node { return .entity }
            isThere[ordinal] = true
        }
        guard let known = inserts[isThere] else { return .unknown }
        last = known
        return .known(known)
    }

    /// Stores the statement for rows with the same properties.
    ///
    /// - Parameter pattern: whether the statement has a parameter, for each slot.
    func keep(
        _ statement: BoundStatement, _ pattern: [Bool], notLoaded: DatabaseValue, row: borrowing JSONRow
    ) -> Insert {
        var bySlot: [Int: Column] = [:]
        for (ordinal, node) in nodes.enumerated() {
            if case .column(let slot, let column) = node { bySlot[slot] = Column(ordinal: ordinal, storage: column) }
        }
        let isThere = nodes.indices.map { !row.isMissing($0) }
        let insert = Insert(
            statement, pattern.map { $0 }, notLoaded: notLoaded,
            columns: pattern.indices.filter { pattern[$0] }.compactMap { bySlot[$0] }, isThere: isThere)
        inserts[isThere] = insert
        last = insert
        return insert
    }
}
