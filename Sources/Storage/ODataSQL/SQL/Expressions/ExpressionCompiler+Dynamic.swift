import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Values without a declared type. The values of one property may have several types; an operation treats a value
/// of an unexpected type as null instead of failing.
extension ExpressionCompiler {
    /// Returns the value in the type to which it is compared; NULL if it has another type.
    ///
    /// Decimals and dates are texts in JSON, so that a text with their format is converted.
    func typed(_ dynamic: DynamicValue, as type: TypeReference, place: String) throws -> Operand {
        switch Operand.canonicalCodec(type) {
        case .string: return made(dynamic.text, type, codec: .string, place: place)
        case .boolean: return made(dynamic.flag, type, codec: .boolean, place: place)
        case .integer where type.primitive == nil:
            return made(
                "CASE WHEN \(dynamic.kind) = 'integer' THEN \(dynamic.value) END", type, codec: .integer, place: place)
        // The number may have a fraction, even if it is compared to an integer.
        case .integer, .decimalBytes: return read(dynamic, as: .decimal, place)
        case .double, .single: return read(dynamic, as: .double, place)
        case .json: return try member(dynamic.value, type, place: place, dynamic: dynamic)
        default:
            guard let primitive = type.primitive else { throw Self.unsupported("\(type) within JSON") }
            return read(dynamic, as: primitive, place)
        }
    }

    private func read(_ dynamic: DynamicValue, as type: PrimitiveType, _ place: String) -> Operand {
        let name = type.rawValue.databaseValue
        return made(
            "outpost_dynamic_value(\(dynamic.kind), \(dynamic.value), \(bind: name))", .primitive(type),
            codec: Operand.canonicalCodec(.primitive(type)), place: place)
    }

    private func made(_ sql: SQLFragment, _ type: TypeReference, codec: ColumnCodec, place: String) -> Operand {
        Operand(sql: sql, type: type, codec: codec, place: place)
    }

    /// Returns `cast` of the value, which is null for values that cannot be converted (OData URL Conventions 4.01,
    /// 5.1.1.10.1).
    func cast(_ dynamic: DynamicValue, to type: TypeReference, place: String) throws -> Operand {
        let codec = Operand.canonicalCodec(type)
        if codec == .json { return try member(dynamic.value, type, place: place, dynamic: dynamic) }
        if case .enumeration(let name) = type, let enumeration = mapping.model.enumType(name) {
            let members = enumeration.written.databaseValue
            let sql: SQLFragment = """
                CASE \(dynamic.kind) WHEN 'integer' THEN \(dynamic.value) WHEN 'text' THEN \
                outpost_enum_of_text(\(dynamic.value), \(bind: members)) END
                """
            return made(sql, type, codec: codec, place: place)
        }
        guard let primitive = type.primitive else { throw Self.unsupported("cast to \(type)") }
        let name = primitive.rawValue.databaseValue
        return made(
            "outpost_dynamic_cast(\(dynamic.kind), \(dynamic.value), \(bind: name))", type, codec: codec, place: place)
    }

    /// Returns the comparison of such a value with a value of a declared type. A value of another type is treated
    /// as null, but does not equal null.
    func mixed(_ op: BinaryOperator, _ dynamic: DynamicValue, typed: Operand, comparison: SQLFragment)
        -> SQLFragment
    {
        let isOther: SQLFragment = "(\(dynamic.value) IS NOT NULL AND (\(typed.sql)) IS NULL)"
        return op == .notEqual ? "(\(isOther) OR \(comparison))" : "(NOT \(isOther) AND \(comparison))"
    }

    /// Returns the comparison of two such values. They are ordered if both are numbers, texts or booleans.
    func compare(_ op: BinaryOperator, left: DynamicValue, right: DynamicValue) -> SQLFragment {
        let (a, b) = (left.value, right.value)
        let equal: SQLFragment = "(coalesce(\(left.order), 0) = coalesce(\(right.order), 0) AND \(a) IS \(b))"
        let symbol: SQLFragment
        switch op {
        case .equal: return equal
        case .notEqual: return "NOT \(equal)"
        case .less, .lessOrEqual: symbol = "<"
        default: symbol = ">"
        }
        let ordered: SQLFragment = "coalesce(\(left.order) = \(right.order) AND \(a) \(symbol) \(b), 0)"
        guard op == .lessOrEqual || op == .greaterOrEqual else { return ordered }
        let isSame: SQLFragment = """
            (\(left.order) = \(right.order) AND \(a) = \(b) OR \(a) IS NULL AND \(b) IS NULL)
            """
        return "(\(ordered) OR coalesce(\(isSame), 0))"
    }
}
