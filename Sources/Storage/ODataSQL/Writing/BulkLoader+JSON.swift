import GRDB
import ODataModel

/// Rows of a JSON text that go into the table without an entity between: what a first download is made of.
extension BulkLoader {
    /// Inserts the row that a cursor stands on, or updates the one with its key; see ``load(_:owner:parent:)``.
    ///
    /// A new row of the table's own type that has no complex values is bound straight from the text; any other becomes an
    /// entity first.
    ///
    /// - Parameters:
    ///   - row: the row.
    ///   - owner: the defining query that brings it.
    /// - Throws: ``JSONError`` with the place when the text is no value of its property's type; else as
    ///   ``load(_:owner:parent:)``.
    public func load(_ row: borrowing JSONRow, owner: Int64) throws -> Outcome {
        if expectsNew, !isContained, !isSingleton, let insert = try directInsert(row) {
            do {
                if let rowID = try execute(insert, row, owner: owner) {
                    return Outcome(rowID: rowID, change: .inserted, previousOwner: nil)
                }
                expectsNew = false
            } catch  where forgives(error) {
                // As an entity, it goes in without the value that cannot be read.
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

    /// Whether an error is about one value of a row whose other values are kept.
    func forgives(_ error: any Error) -> Bool {
        onUnreadable != nil && (error is JSONError || error is StoredValueError)
    }

    /// The statement for the properties that a row has; `nil` where the row must become an entity.
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
    /// - Parameter first: the row's first parameter.
    /// - Returns: the parameter after its last one.
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
        // The row is of the table's own type, and has nothing that the type does not declare.
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

/// The statements that insert rows of a JSON text, by the properties that the rows have.
final class DirectInserts {
    /// Where a property of the table's own type goes.
    enum Node {
        case column(slot: Int, ColumnStorage)
        /// Nowhere: rows that have it become entities.
        case other
        /// Nowhere: it is not kept.
        case absent
    }

    /// A property with its column. A class, as the next one is: they are passed on for each value of each row.
    final class Column {
        let ordinal: Int
        let storage: ColumnStorage
        /// The form of values that need not be encoded: the rest of the storage takes longer to pass on than to use.
        let form: ColumnCodec.PlainForm?
        /// Whether a string is stored as it is.
        let isText: Bool

        init(ordinal: Int, storage: ColumnStorage) {
            self.ordinal = ordinal
            self.storage = storage
            form = storage.codec.plainForm
            isText = form == .string
        }
    }

    /// A statement with what its parameters stand for.
    final class Insert {
        let statement: BoundStatement
        let notLoaded: DatabaseValue
        /// The properties in the order of their parameters.
        let columns: [Column]
        /// The slots that the statement has parameters for.
        let pattern: [Bool]
        /// The statement for many such rows at once, after it was needed.
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
        /// The row must become an entity.
        case entity
    }

    /// By ordinal.
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
        // A key within a complex value is left to who takes entities apart.
        keys = ordinals.count == plan.keySlots.count && !ordinals.isEmpty ? ordinals : [-1]
    }

    /// The statement for a row.
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

    /// Keeps the statement for rows like one.
    ///
    /// - Parameter pattern: the slots that the statement has parameters for.
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
