import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Conversions between stored forms, and casts between types.
extension ExpressionCompiler {
    /// Returns the operand in the canonical form of its type, for functions and for comparisons of columns.
    func normalized(_ operand: Operand) throws -> Operand {
        let (x, label) = (operand.sql, operand.place.databaseValue)
        switch operand.codec {
        case .scaledDecimal(let scale):
            return form(operand, "outpost_decimal_of_scaled(\(x), \(bind: scale.databaseValue))", codec: .decimalBytes)
        case .numericDecimal:
            return form(operand, "outpost_decimal_of_number(\(x), \(bind: label))", codec: .decimalBytes)
        case .dateText: return form(operand, "outpost_date_of_text(\(x), \(bind: label))", codec: .date)
        case .timeText: return form(operand, "outpost_time_of_text(\(x), \(bind: label))", codec: .timeOfDay)
        case .guidText: return form(operand, "outpost_guid_of_text(\(x), \(bind: label))", codec: .guid)
        case .dateTimeText:
            return operand.type.primitive == .dateTime
                ? form(operand, "outpost_local_of_text(\(x), \(bind: label))", codec: .dateTime)
                : form(operand, "outpost_instant_of_text(\(x), \(bind: label))", codec: .dateTimeOffset)
        case .unixTime(let units):
            let unit = units.databaseValue
            return operand.type.primitive == .dateTime
                ? form(operand, "outpost_local_of_unix(\(x), \(bind: unit), \(bind: label))", codec: .dateTime)
                : form(operand, "outpost_instant_of_unix(\(x), \(bind: unit), \(bind: label))", codec: .dateTimeOffset)
        default: return operand
        }
    }

    private func form(_ operand: Operand, _ sql: SQLFragment, codec: ColumnCodec) -> Operand {
        Operand(sql: sql, type: operand.type, codec: codec, isNullable: operand.isNullable, place: operand.place)
    }

    /// Returns the operand in another form of the same value.
    func converted(_ operand: Operand, to codec: ColumnCodec) throws -> Operand {
        if operand.codec == codec { return operand }
        let from = try normalized(operand)
        if from.codec == codec { return from }
        let x = from.sql
        switch (from.codec, codec) {
        case (.integer, .decimalBytes): return form(from, "outpost_decimal_of_scaled(\(x), 0)", codec: codec)
        case (.double, .decimalBytes): return form(from, "outpost_dec_of_double(\(x))", codec: codec)
        case (.single, .decimalBytes): return form(from, "outpost_dec_of_single(\(x))", codec: codec)
        case (.integer, .double), (.integer, .single): return form(from, "CAST(\(x) AS REAL)", codec: codec)
        case (.decimalBytes, .double): return form(from, "outpost_dec_double(\(x))", codec: codec)
        case (.decimalBytes, .single): return form(from, "outpost_real_single(outpost_dec_double(\(x)))", codec: codec)
        case (.single, .double): return form(from, x, codec: codec)
        case (.double, .single): return form(from, "outpost_real_single(\(x))", codec: codec)
        case (.dateTime, .dateTimeOffset): return form(from, "outpost_offset_of_local(\(x))", codec: codec)
        default: throw Self.unsupported("\(operand.type) here")
        }
    }

    // MARK: cast

    /// Returns `cast(value, type)`, which is null for values that cannot be converted (OData URL Conventions 4.01,
    /// 5.1.1.10.1).
    func cast(_ operand: Operand, to type: TypeReference) throws -> Operand {
        if operand.type == type || operand.constant?.isNull == true {
            var same = operand
            same.type = type
            return same
        }
        if let dynamic = operand.dynamic { return try cast(dynamic, to: type, place: operand.place) }
        let codec = Operand.canonicalCodec(type)
        let from = try normalized(operand)
        let x = from.sql
        var result: Operand
        switch (from.codec, codec) {
        case (.string, .string), (.boolean, .boolean), (.guid, .guid), (.date, .date), (.timeOfDay, .timeOfDay),
            (.dateTime, .dateTime), (.dateTimeOffset, .dateTimeOffset), (.duration, .duration), (.binary, .binary),
            (.decimalBytes, .decimalBytes), (.double, .double), (.single, .single), (.integer, .integer):
            result = from
        case (.decimalBytes, .integer): result = form(from, "outpost_dec_integer(\(x))", codec: .integer)
        case (.double, .integer), (.single, .integer):
            result = form(from, "outpost_real_integer(\(x))", codec: .integer)
        case (_, .double) where from.codec.isNumeric, (_, .single) where from.codec.isNumeric,
            (_, .decimalBytes) where from.codec.isNumeric:
            result = try converted(from, to: codec)
        case (_, .string): result = try text(from)
        case (.string, .decimalBytes): result = form(from, "outpost_dec_of_text(\(x))", codec: codec)
        case (.string, .integer) where type.primitive?.isInteger == true:
            let number: SQLFragment = "outpost_dec_of_text(\(x))"
            result = form(
                from, "CASE WHEN outpost_dec_floor(\(number)) = \(number) THEN outpost_dec_integer(\(number)) END",
                codec: codec)
        case (.string, .integer):
            guard case .enumeration(let name) = type, let enumeration = mapping.model.enumType(name) else {
                throw Self.unsupported("cast of \(operand.type) to \(type)")
            }
            result = form(from, "outpost_enum_of_text(\(x), \(bind: enumeration.written.databaseValue))", codec: codec)
        case (.dateTimeOffset, .date), (.dateTime, .date): result = form(from, "outpost_date(\(x))", codec: codec)
        case (.dateTimeOffset, .timeOfDay), (.dateTime, .timeOfDay):
            result = form(from, "outpost_time(\(x))", codec: codec)
        case (.string, .boolean), (.string, .guid), (.string, .date), (.string, .timeOfDay), (.string, .dateTime),
            (.string, .dateTimeOffset), (.string, .duration), (.string, .binary), (.string, .double),
            (.string, .single):
            guard let primitive = type.primitive else {
                throw Self.unsupported("cast of \(operand.type) to \(type)")
            }
            result = form(from, "outpost_text_as(\(x), \(bind: primitive.rawValue.databaseValue))", codec: codec)
        default: throw Self.unsupported("cast of \(operand.type) to \(type)")
        }
        if let range = type.primitive?.integerRange, range.upperBound < .max, !Self.fits(from.type, range) {
            let (low, high) = (range.lowerBound.databaseValue, range.upperBound.databaseValue)
            result.sql =
                "CASE WHEN \(result.sql) BETWEEN \(bind: low) AND \(bind: high) THEN \(result.sql) END"
        }
        result.type = type
        result.isNullable = true
        return result
    }

    private static func fits(_ type: TypeReference, _ range: ClosedRange<Int64>) -> Bool {
        guard let own = type.primitive?.integerRange else { return false }
        return range.contains(own.lowerBound) && range.contains(own.upperBound)
    }

    private func text(_ operand: Operand) throws -> Operand {
        let x = operand.sql
        let sql: SQLFragment
        switch operand.codec {
        case .string: sql = x
        case .integer:
            if case .enumeration(let name) = operand.type, let enumeration = mapping.model.enumType(name) {
                sql = "outpost_enum_text(\(x), \(bind: enumeration.written.databaseValue))"
            } else {
                sql = "CAST(\(x) AS TEXT)"
            }
        case .boolean: sql = "CASE \(x) WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"
        case .double: sql = "outpost_real_text(\(x))"
        case .single: sql = "outpost_single_text(\(x))"
        case .decimalBytes: sql = "outpost_dec_text(\(x))"
        case .guid: sql = "outpost_guid_text(\(x))"
        case .date: sql = "outpost_date_text(\(x))"
        case .timeOfDay: sql = "outpost_time_text(\(x))"
        case .dateTime, .dateTimeOffset: sql = "outpost_instant_text(\(x))"
        case .duration: sql = "outpost_duration_text(\(x))"
        default: throw Self.unsupported("cast of \(operand.type) to Edm.String")
        }
        return form(operand, sql, codec: .string)
    }
}
