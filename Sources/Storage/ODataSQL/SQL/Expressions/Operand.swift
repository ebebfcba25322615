import GRDB
import ODataModel

/// A compiled expression: SQL with what it yields.
package struct Operand {
    /// The SQL.
    var sql: SQLFragment
    /// The type of the value.
    var type: TypeReference
    /// How the value is written.
    var codec: ColumnCodec
    /// Whether it can be NULL.
    var isNullable = true
    /// The value of a constant, which can then be written in the form of the column that it meets.
    var constant: ODataValue?
    /// The column, for the messages of functions that read foreign forms.
    var place = ""
    /// For a value of JSON whose type nobody declared: it takes the type of what it is compared with.
    var dynamic: DynamicValue?
    /// Whether text is compared by its bytes without being told.
    var comparesBytes = false
    /// The column whose value the SQL makes a text of, which an index may find.
    var anyTextColumn: SQLFragment?

    /// The form that values of a type have where no column says otherwise.
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

    /// A constant in canonical form.
    static func constant(_ value: ODataValue, _ type: TypeReference) throws -> Operand {
        let codec = canonicalCodec(type)
        let stored = try codec.encode(value.fitted(to: codec))
        return Operand(
            sql: SQLFragment(bind: stored), type: type, codec: codec, isNullable: value.isNull, constant: value)
    }

    /// The form for comparisons: text compares by code points whatever collation its column declares.
    var sortable: SQLFragment {
        switch codec {
        case .string where !comparesBytes, .dateText where !comparesBytes: "\(sql) COLLATE BINARY"
        // A condition may end in an operator.
        case .boolean: "(\(sql))"
        default: sql
        }
    }

    /// The form for ORDER BY, and for telling groups apart: instants count without their offsets.
    var order: SQLFragment { codec == .dateTimeOffset ? "substr(\(sql), 1, 16)" : sortable }
}

extension ODataValue {
    /// The number as the codec writes numbers: a literal's own type may be narrower than its operand's.
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
