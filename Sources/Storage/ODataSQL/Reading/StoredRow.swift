import GRDB
import GRDBSQLite
import ODataModel
import ODataService

/// The current row of a statement, from which values are read on demand.
///
/// A value of this type is valid until the next step of the statement.
struct StoredRow {
    let statement: SQLiteStatement

    /// Returns the storage class of a column: `SQLITE_INTEGER`, `SQLITE_FLOAT`, `SQLITE_TEXT`, `SQLITE_BLOB` or
    /// `SQLITE_NULL`.
    @inline(__always)
    func kind(_ index: Int) -> Int32 { sqlite3_column_type(statement, Int32(index)) }

    @inline(__always)
    func isNull(_ index: Int) -> Bool { kind(index) == SQLITE_NULL }

    @inline(__always)
    func integer(_ index: Int) -> Int64 { sqlite3_column_int64(statement, Int32(index)) }

    @inline(__always)
    func double(_ index: Int) -> Double { sqlite3_column_double(statement, Int32(index)) }

    /// Returns the approximate number of bytes of a stored value.
    func size(_ index: Int) -> Int {
        switch kind(index) {
        case SQLITE_TEXT, SQLITE_BLOB: Int(sqlite3_column_bytes(statement, Int32(index)))
        case SQLITE_NULL: 1
        default: 8
        }
    }

    /// Calls a closure with the bytes of a text column.
    @inline(__always)
    func withText<Result>(_ index: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        let start = sqlite3_column_text(statement, Int32(index))
        let count = Int(sqlite3_column_bytes(statement, Int32(index)))
        return try body(UnsafeBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    /// Calls a closure with the bytes of a BLOB column.
    @inline(__always)
    func withBlob<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let start = sqlite3_column_blob(statement, Int32(index))
        let count = Int(sqlite3_column_bytes(statement, Int32(index)))
        return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    /// Returns the text of a column; `nil` for NULL.
    func text(_ index: Int) -> String? {
        let column = StoredColumn(self, index)
        return column.kind == SQLITE_NULL ? nil : column.text
    }

    func value(_ index: Int) -> DatabaseValue {
        // GRDB reads text only up to the first NUL character.
        if kind(index) == SQLITE_TEXT, let text = text(index) { return text.databaseValue }
        return DatabaseValue(sqliteStatement: statement, index: Int32(index))
    }

    /// Returns whether a column is loaded.
    func isLoaded(_ slot: ResultPlan.Slot, _ plan: ResultPlan) -> Bool {
        guard let notLoaded = plan.notLoaded, !isNull(notLoaded) else { return true }
        return withBlob(notLoaded) { ResultPlan.isLoaded(slot, $0) }
    }

    /// Returns the fields for the row's type or kind, and the shape of a derived type.
    func variant(_ plan: ResultPlan) -> (derived: TypeShape?, fields: [ResultPlan.Field]) {
        guard let variant = plan.variant else { return declared(plan) }
        let kind = Int(integer(variant))
        guard plan.variants.indices.contains(kind) else { return (nil, plan.fields) }
        guard plan.variants[kind].isEntity else { return (nil, plan.variants[kind].fields) }
        let (derived, fields) = declared(plan)
        return (derived, fields + plan.variants[kind].fields)
    }

    private func declared(_ plan: ResultPlan) -> (derived: TypeShape?, fields: [ResultPlan.Field]) {
        guard let discriminator = plan.discriminator, let name = text(discriminator),
            let variant = plan.derivedFields[name], variant.shape != plan.shape
        else { return (nil, plan.fields) }
        return (variant.shape, variant.fields)
    }

    /// Returns whether the row is an entity of the plan's set.
    func isEntity(_ plan: ResultPlan) -> Bool {
        guard plan.set != nil, let variant = plan.variant else { return plan.set != nil }
        let kind = Int(integer(variant))
        return plan.variants.indices.contains(kind) && plan.variants[kind].isEntity
    }

    /// The approximate memory of decoded JSON in relation to its text.
    private static let decodedFactor = 16
    /// The length limit of SQLite for connections without a smaller one.
    private static let standardLimit = 1_000_000_000

    /// Checks that a JSON text can be decoded. The length limit of the connection is the memory of the request while
    /// a request with a budget runs.
    ///
    /// - Throws: ``ODataError`` 413 if the request has less memory than the decoded text needs.
    private func requireRoom(toDecode index: Int) throws(ODataError) {
        let limit = Int(sqlite3_limit(sqlite3_db_handle(statement), SQLITE_LIMIT_LENGTH, -1))
        guard limit < Self.standardLimit, size(index) > limit / Self.decodedFactor else { return }
        throw ODataError(
            status: 413, code: "ResponseTooLarge",
            message: "A nested collection of the response needs more than \(limit) bytes of memory. "
                + "Ask for less with $filter, $select or top.")
    }

    /// Decodes the value of a slot.
    ///
    /// - Throws: ``StoredValueError`` with table, column and row; ``ODataError`` 413 for JSON that does not fit into
    ///   the memory of the request.
    func decode(_ slot: ResultPlan.Slot, _ plan: ResultPlan, model: EntityDataModel) throws -> ODataValue {
        // The most common cases do not need a `DatabaseValue`.
        switch (kind(slot.index), slot.storage.codec) {
        case (SQLITE_NULL, _): return .null
        case (SQLITE_TEXT, .string): return .string(StoredColumn(self, slot.index).text)
        case (SQLITE_FLOAT, .double): return .double(double(slot.index))
        case (SQLITE_INTEGER, .integer):
            if case .enumeration = slot.storage.type { return .enumeration(integer(slot.index)) }
            return .integer(integer(slot.index))
        case (SQLITE_TEXT, .json): try requireRoom(toDecode: slot.index)
        default: break
        }
        do {
            return try slot.storage.decode(value(slot.index), in: model)
        } catch {
            throw error.at(table: plan.table, row: name(plan))
        }
    }

    /// Returns the name of the row for error messages: its key or row id.
    func name(_ plan: ResultPlan) -> String? {
        if !plan.key.isEmpty {
            return plan.key.map { key in
                let stored = value(key.slot.index)
                return "\(key.name)=\(stored)"
            }.joined(separator: ",")
        }
        return plan.rowID.map { "\(value($0))" }
    }

    /// Returns the key; `nil` for rows without a key.
    func key(_ plan: ResultPlan, _ model: EntityDataModel) throws -> EntityKey? {
        if plan.key.isEmpty || !isEntity(plan) { return nil }
        return EntityKey(
            try plan.key.map { EntityKey.Part(name: $0.name, value: try decode($0.slot, plan, model: model)) })
    }

    /// Returns the canonical id of the row (OData URL Conventions 4.01, 4.3.3 and 4.3.4); `nil` if the row is not
    /// an entity.
    func id(_ plan: ResultPlan, _ model: EntityDataModel) throws -> String? {
        guard let set = plan.set, isEntity(plan) else { return nil }
        switch plan.id {
        case .none: return nil
        case .singleton: return set
        case .numbered(let start, let column):
            // This runs for every entity, and a string interpolation would allocate more memory than most ids need.
            return start + String(integer(column)) + ")"
        case .keyed: return try id(set, plan.shape, key: plan.key, plan: plan, model: model)
        case .contained(let containers, let property, let hasKey):
            var place = ""
            for container in containers {
                place =
                    try id(place + container.segment, container.shape, key: container.key, plan: plan, model: model)
                    + "/"
            }
            return try id(place + property, plan.shape, key: hasKey ? plan.key : [], plan: plan, model: model)
        }
    }

    /// Returns the id of a row of another set with its key in the columns.
    func id(
        _ set: String, _ shape: TypeShape, key: [(name: String, slot: ResultPlan.Slot)], plan: ResultPlan,
        model: EntityDataModel
    ) throws -> String {
        let key = EntityKey(
            try key.map { EntityKey.Part(name: $0.name, value: try decode($0.slot, plan, model: model)) })
        return EntityID.canonical(set: set, key: key, shape: shape, model: model)
    }
}

/// A column of the current row, for several accesses to the same value.
///
/// A statement finds the column for each access and takes a lock. The value found can be read without a lock,
/// because only one thread uses a connection at a time. A value of this type is valid until the next step of the
/// statement.
struct StoredColumn {
    private let value: OpaquePointer?

    @inline(__always)
    init(_ row: StoredRow, _ index: Int) { value = sqlite3_column_value(row.statement, Int32(index)) }

    /// The storage class, as in ``StoredRow/kind(_:)``.
    @inline(__always)
    var kind: Int32 { sqlite3_value_type(value) }

    @inline(__always)
    var integer: Int64 { sqlite3_value_int64(value) }

    @inline(__always)
    var double: Double { sqlite3_value_double(value) }

    /// The content of a BLOB.
    @inline(__always)
    var bytes: UnsafeRawBufferPointer {
        let start = sqlite3_value_blob(value)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
    }

    /// Calls a closure with the bytes of the content as text.
    @inline(__always)
    func withText<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        // The number of bytes is valid only after the text was requested.
        let start = sqlite3_value_text(value)
        let count = Int(sqlite3_value_bytes(value))
        return try body(UnsafeBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    /// The content as text; empty for NULL.
    @inline(__always)
    var text: String { withText { String(decoding: $0, as: UTF8.self) } }
}
