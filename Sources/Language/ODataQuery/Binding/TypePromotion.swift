import ODataModel

/// Conversions of operands to a common type (OData URL Conventions 4.01, 5.1.1.12 *Numeric Promotion*).
package enum TypePromotion {
    /// Returns the type of an operation on two numbers.
    static func numeric(_ left: PrimitiveType, _ right: PrimitiveType) -> PrimitiveType {
        for type: PrimitiveType in [.double, .single, .decimal, .int64, .int32] where left == type || right == type {
            // A single cannot represent all digits of a decimal or 64-bit integer, so both are promoted to double.
            if type == .single, left == .decimal || right == .decimal || left == .int64 || right == .int64 {
                return .double
            }
            return type
        }
        return left == right ? left : .int16
    }

    /// Converts a constant to another type if no information is lost; returns `nil` otherwise.
    ///
    /// Numbers, null, strings, dates and the V2 types are converted:
    /// - null to any type;
    /// - strings to durations and enumerations, whose prefix is optional in 4.01;
    /// - dates to the instant at which they begin in UTC;
    /// - V2's `datetime` and `time` to the types that replaced them, and back.
    ///
    /// - Parameters:
    ///   - value: the constant.
    ///   - type: the target type.
    ///   - model: the model with the members of enumerations.
    package static func adapt(_ value: ODataValue, to type: TypeReference, model: EntityDataModel) -> ODataValue? {
        if value.isNull { return .null }
        if case .enumeration(let name) = type {
            if case .string(let members) = value, let enumeration = model.enumType(name) {
                return number(of: members, in: enumeration).map(ODataValue.enumeration)
            }
            if case .enumeration = value { return value }
            return nil
        }
        if case .collection(let element) = type {
            guard case .collection(let members) = value else { return nil }
            let adapted = members.compactMap { adapt($0, to: element, model: model) }
            guard adapted.count == members.count else { return nil }
            return .collection(adapted)
        }
        if case .untyped = type { return value }
        guard let primitive = type.primitive else { return nil }
        return adaptPrimitive(value, to: primitive)
    }

    /// Converts a primitive value to another primitive type if no information is lost; returns `nil` otherwise.
    static func adaptPrimitive(_ value: ODataValue, to type: PrimitiveType) -> ODataValue? {
        switch (value, type) {
        case (.integer(let number), _) where type.isInteger:
            // A conditional operator cannot be used here: ODataValue treats a nil literal as null.
            guard type.integerRange?.contains(number) == true else { return nil }
            return value
        case (.integer(let number), .decimal): return .decimal(ODataDecimal(number))
        case (.integer(let number), .double): return Double(exactly: number).map(ODataValue.double)
        case (.integer(let number), .single): return Float(exactly: number).map(ODataValue.single)
        case (.decimal, .decimal), (.double, .double), (.single, .single): return value
        case (.decimal(let number), .double): return Double(number.description).map(ODataValue.double)
        case (.decimal(let number), .single): return Float(number.description).map(ODataValue.single)
        case (.decimal(let number), _) where type.isInteger:
            let plain = number.normalized
            guard plain.scale <= 0, let integer = Int64(plain.description) else { return nil }
            return adaptPrimitive(.integer(integer), to: type)
        case (.double(let number), .single): return .single(Float(number))
        case (.single(let number), .double): return .double(Double(number))
        case (.string(let text), .duration): return ODataDuration(text).map(ODataValue.duration)
        case (.date(let date), .dateTimeOffset):
            return midnight(of: date).map { .dateTimeOffset(ODataDateTimeOffset(seconds: $0)) }
        case (.date(let date), .dateTime): return midnight(of: date).map { .dateTime(ODataDateTime(seconds: $0)) }
        case (.dateTime(let instant), .dateTimeOffset):
            return .dateTimeOffset(ODataDateTimeOffset(seconds: instant.seconds, picoseconds: instant.picoseconds))
        case (.dateTime(let instant), .date):
            guard instant.timeOfDay.picoseconds == 0 else { return nil }
            return .date(instant.date)
        case (.dateTimeOffset(let instant), .dateTime):
            return .dateTime(ODataDateTime(seconds: instant.seconds, picoseconds: instant.picoseconds))
        case (.duration(let duration), .timeOfDay):
            guard (0..<86_400).contains(duration.seconds) else { return nil }
            return ODataTimeOfDay(picoseconds: duration.seconds * 1_000_000_000_000 + duration.picoseconds)
                .map(ODataValue.timeOfDay)
        case (.timeOfDay(let time), .time):
            let (seconds, rest) = time.picoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000)
            return .duration(ODataDuration(seconds: seconds, picoseconds: rest))
        case (.boolean, .boolean), (.string, .string), (.binary, .binary), (.guid, .guid), (.date, .date),
            (.timeOfDay, .timeOfDay), (.dateTimeOffset, .dateTimeOffset), (.dateTime, .dateTime),
            (.duration, .duration), (.duration, .time):
            return value
        case (.geo(let geo), _) where geo.isOf(type): return value
        default: return nil
        }
    }

    /// Returns the second at which a date begins; `nil` if it exceeds 64 bits.
    private static func midnight(of date: ODataDate) -> Int64? {
        let (seconds, overflow) = date.daysSinceEpoch.multipliedReportingOverflow(by: 86_400)
        return overflow ? nil : seconds
    }

    /// Returns the value of a comma-separated list of members or numbers.
    ///
    /// The result is `nil` if a member is unknown, or if there are several and the type has no flags.
    static func number(of members: String, in type: EnumType) -> Int64? {
        let parts = members.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 1 || type.isFlags else { return nil }
        var result: Int64 = 0
        for part in parts {
            guard let value = type.members.first(where: { $0.name == part })?.value ?? Int64(part) else { return nil }
            result |= value
        }
        return result
    }
}
