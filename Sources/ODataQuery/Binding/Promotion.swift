import ODataModel

/// Which operand types go together, and what is converted for it (OData URL Conventions 4.01, 5.1.1.10
/// *Numeric Promotion* and 5.1.1.1 *Comparison Operators*).
enum Promotion {
    /// The type of a value whose syntax does not tell.
    static func type(of value: ODataValue) -> TypeReference {
        switch value {
        case .boolean: .primitive(.boolean)
        case .integer(let number): .primitive(Int32(exactly: number) == nil ? .int64 : .int32)
        case .single: .primitive(.single)
        case .double: .primitive(.double)
        case .decimal: .primitive(.decimal)
        case .string: .primitive(.string)
        case .binary: .primitive(.binary)
        case .guid: .primitive(.guid)
        case .date: .primitive(.date)
        case .timeOfDay: .primitive(.timeOfDay)
        case .dateTimeOffset: .primitive(.dateTimeOffset)
        case .dateTime: .primitive(.dateTime)
        case .duration: .primitive(.duration)
        case .collection(let values): .collection(values.first.map(type) ?? .untyped("Edm.Untyped"))
        case .complex(let entity): .complex(entity.shape.name)
        case .null, .enumeration, .geo: .untyped("Edm.Untyped")
        }
    }

    static func negated(_ value: ODataValue) -> ODataValue? {
        switch value {
        case .integer(let number): number == .min ? nil : .integer(-number)
        case .single(let number): .single(-number)
        case .double(let number): .double(-number)
        case .decimal(let number):
            ODataDecimal(isNegative: !number.isNegative, magnitude: number.magnitude, scale: number.scale)
                .map(ODataValue.decimal)
        default: nil
        }
    }

    /// A condition as it is, null as a boolean, anything else refused.
    static func boolean(_ expression: BoundExpression, offset: Int?) throws(QueryError) -> BoundExpression {
        if expression.isNull { return .constant(.null, .primitive(.boolean)) }
        switch expression.type {
        case .primitive(.boolean), .typeDefinition(_, .boolean), .untyped: return expression
        default:
            throw QueryError(.type, "Expected a condition, found a value of type \(expression.type).", offset: offset)
        }
    }

    /// Both sides of a comparison in one type.
    static func comparable(
        _ left: BoundExpression, _ right: BoundExpression, _ op: BinaryOperator, model: EntityDataModel, offset: Int?
    ) throws(QueryError) -> (BoundExpression, BoundExpression) {
        if left.isNull { return (.constant(.null, right.type), right) }
        if right.isNull { return (left, .constant(.null, left.type)) }
        if case .untyped = left.type { return (left, right) }
        if case .untyped = right.type { return (left, right) }
        switch (left.type, right.type) {
        case (.enumeration, _): return (left, try convert(right, to: left.type, model: model, offset: offset))
        case (_, .enumeration): return (try convert(left, to: right.type, model: model, offset: offset), right)
        case (.entity(let a?), .entity(let b?)) where model.isType(a, b) || model.isType(b, a): return (left, right)
        case (.complex(let a?), .complex(let b?)) where model.isType(a, b) || model.isType(b, a):
            if op == .equal || op == .notEqual { return (left, right) }
        default: break
        }
        guard let a = left.type.primitive, let b = right.type.primitive else {
            throw mismatch(left.type, right.type, offset)
        }
        if a == b { return (left, right) }
        if a.isNumeric, b.isNumeric {
            let common = numeric(a, b)
            return (try cast(left, to: common, offset), try cast(right, to: common, offset))
        }
        // A date stands for its first instant where an instant is compared with it.
        for instant in [PrimitiveType.dateTimeOffset, .dateTime] {
            if a == instant, case .constant(let value, _) = right, let converted = convert(value, to: instant) {
                return (left, .constant(converted, left.type))
            }
            if b == instant, case .constant(let value, _) = left, let converted = convert(value, to: instant) {
                return (.constant(converted, right.type), right)
            }
        }
        if a.isGeo, b.isGeo { return (left, right) }
        if a == .duration && b == .time || a == .time && b == .duration { return (left, right) }
        throw mismatch(left.type, right.type, offset)
    }

    private static func mismatch(_ left: TypeReference, _ right: TypeReference, _ offset: Int?) -> QueryError {
        QueryError(.type, "\(left) cannot be compared with \(right).", offset: offset)
    }

    /// The type that two numbers have together.
    static func numeric(_ left: PrimitiveType, _ right: PrimitiveType) -> PrimitiveType {
        rank(left) >= rank(right) ? left : right
    }

    private static func rank(_ type: PrimitiveType) -> Int {
        switch type {
        case .sbyte: 0
        case .byte: 1
        case .int16: 2
        case .int32: 3
        case .int64: 4
        case .decimal: 5
        case .single: 6
        default: 7
        }
    }

    /// A number in another numeric type: constants at once, others by a cast.
    static func cast(
        _ expression: BoundExpression, to type: PrimitiveType, _ offset: Int?
    ) throws(QueryError) -> BoundExpression {
        if expression.type.primitive == type { return expression }
        if case .constant(let value, _) = expression {
            guard let converted = convert(value, to: type) else {
                throw QueryError(.type, "The number does not fit \(type.rawValue).", offset: offset)
            }
            return .constant(converted, .primitive(type))
        }
        return .cast(expression, .primitive(type))
    }

    /// A constant as a value of another type; `nil` when it is none or would lose digits.
    static func convert(_ value: ODataValue, to type: PrimitiveType) -> ODataValue? {
        switch (value, type) {
        case (.null, _): return .null
        case (.integer(let number), .decimal): return .decimal(ODataDecimal(number))
        case (.integer(let number), .double): return .double(Double(number))
        case (.integer(let number), .single): return .single(Float(number))
        case (.integer(let number), _) where type.integerRange?.contains(number) == true: return value
        case (.decimal(let number), .double): return .double(number.doubleValue)
        case (.decimal(let number), .single): return .single(Float(number.doubleValue))
        case (.decimal(let number), _) where type.isInteger:
            guard let whole = number.rescaled(to: 0), let small = Int64(exactly: whole.magnitude) else { return nil }
            return convert(.integer(number.isNegative ? -small : small), to: type)
        case (.decimal, .decimal), (.double, .double), (.single, .single), (.string, .string), (.guid, .guid),
            (.boolean, .boolean), (.date, .date), (.timeOfDay, .timeOfDay), (.dateTimeOffset, .dateTimeOffset),
            (.dateTime, .dateTime), (.duration, .duration), (.duration, .time), (.binary, .binary):
            return value
        case (.double(let number), .single): return .single(Float(number))
        case (.single(let number), .double): return .double(Double(number))
        case (.date(let date), .dateTimeOffset):
            return .dateTimeOffset(ODataDateTimeOffset(seconds: date.daysSinceEpoch * 86_400))
        case (.date(let date), .dateTime): return .dateTime(ODataDateTime(seconds: date.daysSinceEpoch * 86_400))
        case (.dateTimeOffset(let instant), .dateTime): return .dateTime(instant.local)
        case (.dateTime(let instant), .dateTimeOffset):
            return .dateTimeOffset(ODataDateTimeOffset(seconds: instant.seconds, picoseconds: instant.picoseconds))
        default: return nil
        }
    }

    /// A bound expression as a value of a type, for keys, enumerations and `has`.
    static func convert(
        _ expression: BoundExpression, to type: TypeReference, model: EntityDataModel, offset: Int?
    ) throws(QueryError) -> BoundExpression {
        if expression.type == type { return expression }
        if case .constant(let value, _) = expression {
            if value.isNull { return .constant(.null, type) }
            if case .enumeration(let name) = type, let enumeration = model.enumType(name) {
                switch value {
                case .string(let text):
                    return .constant(.enumeration(try enumerationValue(text, enumeration, offset: offset)), type)
                case .integer(let number): return .constant(.enumeration(number), type)
                default: break
                }
            }
            if let primitive = type.primitive, let converted = convert(value, to: primitive) {
                return .constant(converted, type)
            }
        }
        throw QueryError(.type, "Expected a value of type \(type), found \(expression.type).", offset: offset)
    }

    /// The number of an enumeration literal's members.
    static func enumerationValue(
        _ members: String, _ type: EnumType, offset: Int?
    ) throws(QueryError) -> Int64 {
        var total: Int64 = 0
        for part in members.split(separator: ",") {
            let name = part.drop { $0 == " " }
            if let number = Int64(name) {
                total |= number
            } else if let member = type.members.first(where: { $0.name == name }) {
                total |= member.value
            } else {
                throw QueryError(
                    .unknownName, "\(type.name) has no member \(name).", offset: offset,
                    suggestions: nearest(to: String(name), among: type.members.map(\.name)))
            }
        }
        return total
    }

    // MARK: Arithmetic

    /// An arithmetic operation with its result type (URL Conventions 4.01, 5.1.1.2).
    static func arithmetic(
        _ op: BinaryOperator, _ left: BoundExpression, _ right: BoundExpression, offset: Int?
    ) throws(QueryError) -> BoundExpression {
        if left.isNull || right.isNull {
            return .constant(.null, left.isNull ? right.type : left.type)
        }
        guard let a = left.type.primitive, let b = right.type.primitive else {
            throw refusal(op, left.type, right.type, offset)
        }
        if a.isNumeric, b.isNumeric {
            var common = numeric(a, b)
            if op == .divideBy, common.isInteger { common = .decimal }
            return .binary(
                op, try cast(left, to: common, offset), try cast(right, to: common, offset), .primitive(common))
        }
        let result: PrimitiveType?
        switch (a, op, b) {
        case (.dateTimeOffset, .add, .duration), (.dateTimeOffset, .subtract, .duration): result = .dateTimeOffset
        case (.dateTime, .add, .duration), (.dateTime, .subtract, .duration): result = .dateTime
        case (.date, .add, .duration), (.date, .subtract, .duration): result = .date
        case (.timeOfDay, .add, .duration), (.timeOfDay, .subtract, .duration): result = .timeOfDay
        case (.duration, .add, .duration), (.duration, .subtract, .duration): result = .duration
        case (.dateTimeOffset, .subtract, .dateTimeOffset), (.date, .subtract, .date),
            (.dateTime, .subtract, .dateTime):
            result = .duration
        case (.duration, .multiply, _) where b.isNumeric, (.duration, .divide, _) where b.isNumeric,
            (.duration, .divideBy, _) where b.isNumeric:
            result = .duration
        case (_, .multiply, .duration) where a.isNumeric: result = .duration
        default: result = nil
        }
        guard let result else { throw refusal(op, left.type, right.type, offset) }
        return .binary(op, left, right, .primitive(result))
    }

    private static func refusal(
        _ op: BinaryOperator, _ left: TypeReference, _ right: TypeReference, _ offset: Int?
    ) -> QueryError {
        QueryError(.type, "'\(op.rawValue)' does not take \(left) and \(right).", offset: offset)
    }
}
