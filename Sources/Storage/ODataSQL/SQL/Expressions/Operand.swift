import GRDB
import ODataModel

/// A compiled expression: an SQL fragment and properties of its value.
package struct Operand {
    var sql: SQLFragment
    var type: TypeReference
    /// The stored form of the value.
    var codec: ColumnCodec
    /// Whether the value can be NULL.
    var isNullable = true
    /// The value of a constant, which can be converted to the stored form of another column.
    var constant: ODataValue?
    /// The column name for error messages of functions that read values of existing databases.
    var place = ""
    /// The location of a JSON value without a declared type, which takes the type of the value to which it is
    /// compared.
    var dynamic: DynamicValue?
    /// Whether text is compared by its bytes without an explicit collation.
    var comparesBytes = false
    /// The column whose value the SQL converts to text, so that an index on the column can be used.
    var anyTextColumn: SQLFragment?

    /// Returns the default stored form of a type.
    package static func canonicalCodec(_ type: TypeReference) -> ColumnCodec {
        switch type {
        case .primitive(let primitive), .typeDefinition(_, let primitive):
            switch primitive {
            case .boolean: .boolean
            case .byte, .sbyte, .int16, .int32, .int64: .integer
            case .decimal: .decimalBytes
            case .double: .double
            case .single: .single
            case .string: .string
            case .binary, .stream: .binary
            case .guid: .guid
            case .date: .date
            case .timeOfDay: .timeOfDay
            case .dateTime: .dateTime
            case .dateTimeOffset: .dateTimeOffset
            case .duration, .time: .duration
            default: .json
            }
        case .enumeration: .integer
        default: .json
        }
    }

    /// Returns a constant in canonical form.
    static func constant(_ value: ODataValue, _ type: TypeReference) throws -> Operand {
        let codec = canonicalCodec(type)
        let stored = try codec.encode(value.fitted(to: codec))
        return Operand(
            sql: SQLFragment(bind: stored), type: type, codec: codec, isNullable: value.isNull, constant: value)
    }

    /// The form for comparisons. Text is compared by code points, regardless of the collation of its column.
    var sortable: SQLFragment {
        switch codec {
        case .string where !comparesBytes, .dateText where !comparesBytes: "\(sql) COLLATE BINARY"
        // A condition may end with an operator.
        case .boolean: "(\(sql))"
        default: sql
        }
    }

    /// The form for ORDER BY and for grouping, in which instants have no offsets.
    var order: SQLFragment { codec == .dateTimeOffset ? "substr(\(sql), 1, 16)" : sortable }
}

extension ODataValue {
    /// Returns the number in the type of the codec, because a literal may have a narrower type than its operand.
    func fitted(to codec: ColumnCodec) -> ODataValue {
        switch (codec, self) {
        case (.double, .integer(let number)): .double(Double(number))
        case (.double, .decimal(let number)): .double(number.doubleValue)
        case (.double, .single(let number)): .double(Double(number))
        case (.single, .integer(let number)): .single(Float(number))
        case (.single, .decimal(let number)): .single(Float(number.doubleValue))
        case (.single, .double(let number)): .single(Float(number))
        case (.integer, .decimal(let number)):
            number.rescaled(to: 0).flatMap { ColumnCodec.int64($0) }.map { .integer($0) } ?? self
        case (.dateTimeOffset, .dateTime(let instant)):
            .dateTimeOffset(ODataDateTimeOffset(seconds: instant.seconds, picoseconds: instant.picoseconds))
        case (.dateTime, .dateTimeOffset(let instant)): .dateTime(instant.local)
        default: self
        }
    }
}
