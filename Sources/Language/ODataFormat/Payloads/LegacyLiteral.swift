import ODataModel

/// Literals in URLs of V1 to V3 (OData V2, *Overview*, 6 *Primitive Data Types*).
enum LegacyLiteral {
    /// Returns the literal of a value, converted to the requested type if possible; `nil` if the value has no
    /// literal.
    static func text(_ value: ODataValue, type: TypeReference) -> String? {
        let value = type.primitive.flatMap { value.legacyValue(of: $0) } ?? value
        switch value {
        case .null: return "null"
        case .string(let text): return quoted("", text)
        case .boolean, .dateTimeOffset, .guid, .dateTime, .duration, .date, .timeOfDay:
            guard let text = value.lexicalText else { return nil }
            switch value {
            case .guid: return quoted("guid", text)
            case .dateTime: return quoted("datetime", text)
            case .dateTimeOffset: return quoted("datetimeoffset", text)
            case .duration: return quoted("time", text)
            // These versions lack the type; a service that supports the type accepts the literal of V4.
            default: return text
            }
        case .integer(let number): return type.primitive == .int64 ? "\(number)L" : String(number)
        case .decimal(let number): return "\(number)M"
        case .double(let number):
            return number.isFinite ? "\(value.lexicalText ?? "")d" : value.lexicalText.map { $0 == "NaN" ? "Nan" : $0 }
        case .single(let number):
            return number.isFinite ? "\(value.lexicalText ?? "")f" : value.lexicalText.map { $0 == "NaN" ? "Nan" : $0 }
        case .binary(let bytes):
            let digits = bytes.map { byte in
                let text = String(byte, radix: 16, uppercase: true)
                return byte < 16 ? "0" + text : text
            }
            return "X'\(digits.joined())'"
        case .enumeration(let number): return String(number)
        case .geo, .complex, .collection: return nil
        }
    }

    /// Returns a placeholder in braces with the notation for literals of its type.
    static func place(named name: String, type: TypeReference) -> String {
        let place = "{\(name)}"
        switch type.primitive {
        case .string?: return quoted("", place)
        case .guid?: return quoted("guid", place)
        case .dateTime?: return quoted("datetime", place)
        case .dateTimeOffset?: return quoted("datetimeoffset", place)
        case .time?, .duration?: return quoted("time", place)
        case .binary?: return quoted("X", place)
        case .int64?: return place + "L"
        case .decimal?: return place + "M"
        case .double?: return place + "d"
        case .single?: return place + "f"
        default: return place
        }
    }

    private static func quoted(_ prefix: String, _ text: String) -> String {
        "\(prefix)'\(text.doubling(UInt8(ascii: "'")))'"
    }
}

extension ODataValue {
    /// Converts the value to a type of V1 to V3. The literals of these versions depend on the type (`5L`, `5.00M`,
    /// `datetime'…'`), and the versions lack dates and times of day.
    ///
    /// - Parameter type: the type of the other operand or of the parameter.
    /// - Returns: `nil` if the value has an incompatible type or would lose information.
    package func legacyValue(of type: PrimitiveType) -> ODataValue? {
        switch (self, type) {
        case (.integer, .int64): return self
        case (.integer(let number), .decimal): return .decimal(ODataDecimal(number))
        case (.integer(let number), .double): return Double(exactly: number).map { .double($0) }
        case (.integer(let number), .single): return Float(exactly: number).map { .single($0) }
        case (.decimal(let number), .double): return Double(number.description).map { .double($0) }
        case (.decimal(let number), .single): return Float(number.description).map { .single($0) }
        case (.double(let number), .decimal): return ODataDecimal("\(number)").map { .decimal($0) }
        case (.double(let number), .single): return .single(Float(number))
        case (.dateTimeOffset(let instant), .dateTime):
            return .dateTime(ODataDateTime(seconds: instant.seconds, picoseconds: instant.picoseconds))
        case (.date(let date), .dateTime):
            return .dateTime(ODataDateTime(seconds: date.daysSinceEpoch * 86_400))
        case (.date(let date), .dateTimeOffset):
            return .dateTimeOffset(ODataDateTimeOffset(seconds: date.daysSinceEpoch * 86_400))
        case (.timeOfDay(let time), .time):
            let (seconds, rest) = time.picoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000)
            return .duration(ODataDuration(seconds: seconds, picoseconds: rest))
        case (.duration, .time): return self
        case (.string(let text), .guid): return ODataGuid(text).map { .guid($0) }
        default: return nil
        }
    }
}
