import ODataModel

/// The function `cast` for values; a value that cannot be converted becomes null (OData URL Conventions 4.01,
/// 5.1.1.10.1 *cast*).
package struct ValueCast {
    /// The model with the members of enumerations.
    let model: EntityDataModel

    /// Converts a value from one type to another.
    func cast(_ value: ODataValue, from source: TypeReference, to type: TypeReference) -> ODataValue {
        switch (value, type) {
        case (.null, _): return .null
        case (.collection(let members), .collection(let element)):
            return .collection(members.map { cast($0, from: source.element, to: element) })
        case (.enumeration(let number), .enumeration): return .enumeration(number)
        case (.enumeration(let number), _):
            if type.primitive == .string, case .enumeration(let name) = source, let declared = model.enumType(name) {
                return .string(declared.text(of: number))
            }
            return Self.cast(.integer(number), to: type.primitive)
        case (.string(let text), .enumeration(let name)):
            return model.enumType(name)?.value(of: text).map { .enumeration($0) } ?? .null
        case (.integer(let number), .enumeration): return .enumeration(number)
        case (.complex, _), (.collection, _): return value
        default:
            if case .untyped = type { return value }
            return Self.cast(value, to: type.primitive)
        }
    }

    /// Converts a value to a primitive type.
    package static func cast(_ value: ODataValue, to type: PrimitiveType?) -> ODataValue {
        guard let type else { return value }
        if type.isInteger {
            let number: Int64? =
                switch value {
                case .integer(let number): number
                case .decimal(let number): NumberOperations.whole(number)
                case .single, .double: value.double.flatMap { Int64(exactly: $0.rounded(.towardZero)) }
                case .string(let text):
                    ODataDecimal(text).flatMap { $0.rescaled(to: 0) }.flatMap(NumberOperations.whole)
                default: nil
                }
            guard let number, type.integerRange?.contains(number) == true else { return .null }
            return .integer(number)
        }
        switch (value, type) {
        case (.string(let text), _):
            if type == .string { return value }
            return (try? ODataValue(lexical: text, type: type)) ?? .null
        case (_, .string): return value.lexicalText.map { .string($0) } ?? .null
        case (_, .decimal): return value.decimal.map { .decimal($0) } ?? .null
        case (_, .double): return value.double.map { .double($0) } ?? .null
        case (_, .single): return value.double.map { .single(Float($0)) } ?? .null
        case (.dateTimeOffset(let instant), .date): return .date(instant.local.date)
        case (.dateTimeOffset(let instant), .timeOfDay): return .timeOfDay(instant.local.timeOfDay)
        case (.dateTime(let instant), .date): return .date(instant.date)
        case (.dateTime(let instant), .timeOfDay): return .timeOfDay(instant.timeOfDay)
        default:
            let adapted = TypePromotion.adaptPrimitive(value, to: type)
            return adapted ?? .null
        }
    }
}
