import GRDBSQLite
import ODataModel
import ODataService

/// The columns of a plan whose rows are copied directly to JSON.
///
/// This type contains only the data needed for each row. The names, types and codecs of ``ResultPlan/Slot`` would
/// cost a reference count each, for every row.
struct JSONColumns {
    /// The conversions of a column to a JSON value.
    enum Kind {
        case integer, boolean, double, single, string, date, dateText, guid
        case scaledDecimal(Int32)
        /// The text of an instant: the character between date and time, and whether it ends with `Z`.
        case instantText(separator: UInt8, hasZ: Bool)
        /// A column with a value that determines its own JSON form.
        case value(DirectColumn.Kind)
        /// A column that is written according to its slot.
        case other
    }

    /// A column.
    struct Column {
        var index: Int32
        /// The position of the field in the plan.
        var field: Int32
        /// The range of the name in ``names``, including quotation marks and colon.
        var start: Int32
        var end: Int32
        var kind: Kind
    }

    /// The columns in the order of the response.
    private(set) var columns: [Column] = []
    private var names: [UInt8] = []

    /// Creates the columns.
    ///
    /// - Returns: `nil` if rows differ in their type or properties, or if a field is not a plain value.
    init?(_ plan: ResultPlan, isIEEE754Compatible: Bool) {
        guard let direct = plan.direct else { return nil }
        columns.reserveCapacity(direct.count)
        for column in direct.sorted(by: { $0.field < $1.field }) {
            guard case .value(let name, _, let slot) = plan.fields[Int(column.field)] else { return nil }
            let start = Int32(names.count)
            names += JSONWriter.Key(name).text
            columns.append(
                Column(
                    index: column.column, field: column.field, start: start, end: Int32(names.count),
                    kind: Self.kind(of: column, slot.storage, isIEEE754Compatible)))
        }
    }

    private static func kind(
        of column: DirectColumn, _ storage: ColumnStorage, _ isIEEE754Compatible: Bool
    ) -> Kind {
        switch column.kind {
        case .integer: return isIEEE754Compatible && storage.type.primitive == .int64 ? .other : .integer
        case .boolean: return .boolean
        case .double: return .double
        case .single: return .single
        case .string: return .string
        case .date: return .date
        case .guid: return .guid
        case .scaledDecimal(let scale): return .scaledDecimal(scale)
        case .instant, .timeOfDay, .decimalBytes: return .value(column.kind)
        default: break
        }
        switch storage.codec {
        case .dateText: return .dateText
        case .dateTimeText(let form) where form.fractionDigits == 0 && storage.type.primitive == .dateTimeOffset:
            guard let separator = form.separator.asciiValue else { return .other }
            return .instantText(separator: separator, hasZ: form.suffix == "Z")
        default: return .other
        }
    }

    /// Writes a member of a row.
    ///
    /// - Parameter writesNulls: whether NULL is written as `null`.
    /// - Returns: Whether the member was written. Rare values are left to the caller, which knows the field of the
    ///   plan.
    @inline(__always)
    func write(
        _ column: Column, of row: StoredRow, to writer: inout JSONWriter, _ values: StoredValueWriter, writesNulls: Bool
    ) -> Bool {
        let value = StoredColumn(row, Int(column.index))
        switch (column.kind, value.kind) {
        case (_, SQLITE_NULL) where writesNulls:
            key(column, to: &writer)
            writer.null()
        case (.string, SQLITE_TEXT):
            key(column, to: &writer)
            value.withText { writer.string(utf8: $0) }
        case (.integer, SQLITE_INTEGER):
            key(column, to: &writer)
            writer.integer(value.integer)
        case (.boolean, SQLITE_INTEGER) where value.integer == 0 || value.integer == 1:
            key(column, to: &writer)
            writer.boolean(value.integer == 1)
        case (.double, SQLITE_FLOAT):
            key(column, to: &writer)
            writer.double(value.double)
        case (.single, SQLITE_FLOAT):
            key(column, to: &writer)
            writer.single(Float(value.double))
        case (.date, SQLITE_INTEGER) where StoredValueWriter.writtenDays.contains(value.integer):
            key(column, to: &writer)
            values.writeDate(value.integer, to: &writer)
        case (.scaledDecimal(let scale), SQLITE_INTEGER):
            key(column, to: &writer)
            values.writeScaled(value.integer, scale: Int(scale), to: &writer)
        case (.guid, SQLITE_BLOB) where value.bytes.count == 16:
            key(column, to: &writer)
            values.writeGuid(value.bytes, to: &writer)
        case (.dateText, SQLITE_TEXT) where value.withText({ DateText.isDate($0) }):
            key(column, to: &writer)
            value.withText { writer.string(utf8: $0) }
        case (.instantText(let separator, let hasZ), SQLITE_TEXT)
        where value.withText({ DateText.isInstant($0, separator: separator, hasZ: hasZ) }):
            key(column, to: &writer)
            value.withText { values.writeInstant($0, to: &writer) }
        case (.value(let kind), _):
            guard let value = value.value(kind), !value.isNull else { return false }
            key(column, to: &writer)
            writer.value(value, type: nil, model: values.model, isIEEE754Compatible: values.isIEEE754Compatible)
        default: return false
        }
        return true
    }

    @inline(__always)
    private func key(_ column: Column, to writer: inout JSONWriter) {
        names.withUnsafeBufferPointer { names in
            writer.key(prepared: UnsafeBufferPointer(rebasing: names[Int(column.start)..<Int(column.end)]))
        }
    }
}

/// Checks of date texts in the database, so that most of them are copied unchanged.
enum DateText {
    /// Returns whether a text is a date of the years 1 to 9999, `YYYY-MM-DD`.
    static func isDate(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count >= 10, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"), text.count == 10,
            let century = two(text, 0), let year = two(text, 2), let month = two(text, 5), let day = two(text, 8)
        else { return false }
        let full = century * 100 + year
        guard full > 0, 1...12 ~= month, day > 0 else { return false }
        switch month {
        case 2: return day <= (full % 4 == 0 && (full % 100 != 0 || full % 400 == 0) ? 29 : 28)
        case 4, 6, 9, 11: return day <= 30
        default: return day <= 31
        }
    }

    /// Returns whether a text is a date and a time in whole seconds.
    static func isInstant(_ text: UnsafeBufferPointer<UInt8>, separator: UInt8, hasZ: Bool) -> Bool {
        guard text.count == (hasZ ? 20 : 19), text[10] == separator, text[13] == UInt8(ascii: ":"),
            text[16] == UInt8(ascii: ":"), !hasZ || text[19] == UInt8(ascii: "Z"),
            isDate(UnsafeBufferPointer(rebasing: text[..<10])), let hour = two(text, 11), let minute = two(text, 14),
            let second = two(text, 17)
        else { return false }
        return hour < 24 && minute < 60 && second < 60
    }

    private static func two(_ text: UnsafeBufferPointer<UInt8>, _ index: Int) -> Int? {
        let (high, low) = (text[index] &- 0x30, text[index + 1] &- 0x30)
        return high < 10 && low < 10 ? Int(high) * 10 + Int(low) : nil
    }
}
