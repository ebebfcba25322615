import ErrorCodes

/// An error in a text that is not valid for a type.
public struct LexicalError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text, truncated to 80 characters.
    public var text: String
    /// The requested type.
    public var type: PrimitiveType
    /// A description of the expected form.
    public var expected: String { type.lexicalDescription }

    /// Creates an error.
    public init(text: String, type: PrimitiveType) {
        self.text = String(text.prefix(80))
        self.type = type
    }

    /// A message with the text and the expected form.
    public var description: String { "\"\(text)\" is no \(type.rawValue); expected \(expected)." }
}

extension ODataValue {
    /// Parses the text form of a primitive value, as in default values, XML payloads, unquoted key segments and
    /// command lines (OData CSDL 4.01, 7.2.7; OData ABNF, `primitiveValue`).
    ///
    /// V2 forms are also accepted: base64 with the standard alphabet, `/Date(…)/`, and `1` and `0` as booleans. Geo
    /// values may be well-known text or GeoJSON.
    /// - Throws: ``LexicalError`` with the text and the expected form.
    public init(lexical text: String, type: PrimitiveType) throws(LexicalError) {
        var copy = text
        guard let value = copy.withUTF8({ ODataValue(lexical: $0, type: type) }) else {
            throw LexicalError(text: text, type: type)
        }
        self = value
    }

    /// Parses the text form of a primitive value from its bytes; `nil` if the text is invalid.
    public init?(lexical bytes: UnsafeBufferPointer<UInt8>, type: PrimitiveType) {
        let value: ODataValue?
        switch type {
        case .string: value = String(validating: bytes, as: UTF8.self).map { .string($0) }
        case .boolean: value = Self.boolean(bytes)
        case .byte, .sbyte, .int16, .int32, .int64: value = Self.integer(bytes, type)
        case .decimal:
            value = ODataDecimal(lexical: bytes).map { .decimal($0) } ?? Self.special(bytes).map { .double($0) }
        case .double:
            value = Self.special(bytes).map { .double($0) } ?? Self.number(bytes) { $0.double }.map { .double($0) }
        case .single:
            value =
                Self.special(bytes).map { .single(Float($0)) } ?? Self.number(bytes) { $0.single }.map { .single($0) }
        case .binary, .stream: value = Base64URL.decode(bytes).map { .binary($0) }
        case .guid: value = ODataGuid(lexical: bytes).map { .guid($0) }
        case .date: value = LexicalCursor.read(bytes) { $0.date() }.map { .date($0) }
        case .timeOfDay: value = LexicalCursor.read(bytes) { $0.timeOfDay() }.map { .timeOfDay($0) }
        case .dateTimeOffset:
            value = (LexicalCursor.read(bytes) { $0.dateTimeOffset() } ?? Self.tickDate(bytes))
                .map { .dateTimeOffset($0) }
        case .dateTime:
            value = (LexicalCursor.read(bytes) { $0.dateTime() } ?? Self.tickDate(bytes)?.local)
                .map { .dateTime($0) }
        case .duration, .time: value = LexicalCursor.read(bytes) { $0.duration() }.map { .duration($0) }
        default: value = Self.geo(bytes, type)
        }
        guard let value else { return nil }
        self = value
    }

    /// The text form of a primitive value; `nil` for null, complex values and collections.
    ///
    /// The text of an enumeration value is its number, because only the model contains the names
    /// (``EnumType/text(of:)``).
    public var lexicalText: String? {
        switch self {
        case .null, .complex, .collection: nil
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value), .enumeration(let value): String(value)
        case .single(let value): Self.text(value.description, value.isFinite, isNaN: value.isNaN, isNegative: value < 0)
        case .double(let value): Self.text(value.description, value.isFinite, isNaN: value.isNaN, isNegative: value < 0)
        case .decimal(let value): value.description
        case .string(let value): value
        case .geo(let value): value.wellKnownText
        case .binary(let value): Base64URL.encode(value)
        case .guid(let value): value.description
        case .date(let value): value.description
        case .timeOfDay(let value): value.description
        case .dateTimeOffset(let value): value.description
        case .dateTime(let value): value.description
        case .duration(let value): value.description
        }
    }

    private static func text(_ digits: String, _ isFinite: Bool, isNaN: Bool, isNegative: Bool) -> String {
        if isFinite { return digits.hasSuffix(".0") ? String(digits.dropLast(2)) : digits }
        return isNaN ? "NaN" : isNegative ? "-INF" : "INF"
    }

    private static func boolean(_ bytes: UnsafeBufferPointer<UInt8>) -> ODataValue? {
        if bytes.elementsEqual("true".utf8) || bytes.elementsEqual("1".utf8) { return .boolean(true) }
        if bytes.elementsEqual("false".utf8) || bytes.elementsEqual("0".utf8) { return .boolean(false) }
        return nil
    }

    private static func integer(_ bytes: UnsafeBufferPointer<UInt8>, _ type: PrimitiveType) -> ODataValue? {
        // A leading plus and leading zeros are valid here, although not in JSON.
        guard let value = jsonNumber(bytes)?.int64 ?? Int64(String(decoding: bytes, as: UTF8.self)),
            type.integerRange?.contains(value) == true
        else { return nil }
        return .integer(value)
    }

    /// Parses a number in JSON notation, optionally with a plus sign or leading zeros, as `doubleValue` of the ABNF
    /// allows.
    private static func number<Number: FloatingPoint>(
        _ bytes: UnsafeBufferPointer<UInt8>, _ value: (JSONNumber) -> Number?
    ) -> Number? {
        var digits = bytes[...]
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits = digits.dropFirst() }
        while digits.first == UInt8(ascii: "0"), let next = digits.dropFirst().first, (0x30...0x39).contains(next) {
            digits = digits.dropFirst()
        }
        let text = UnsafeBufferPointer(rebasing: digits)
        guard text.first != UInt8(ascii: "-"), let magnitude = jsonNumber(text).flatMap(value) else { return nil }
        return isNegative ? -magnitude : magnitude
    }

    private static func jsonNumber(_ bytes: UnsafeBufferPointer<UInt8>) -> JSONNumber? {
        var index = 0
        guard let number = JSONScanner.number(in: bytes, at: &index), index == bytes.count else { return nil }
        return number
    }

    private static func special(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
        if bytes.elementsEqual("INF".utf8) { return .infinity }
        if bytes.elementsEqual("-INF".utf8) { return -.infinity }
        return bytes.elementsEqual("NaN".utf8) ? .nan : nil
    }

    private static func geo(_ bytes: UnsafeBufferPointer<UInt8>, _ type: PrimitiveType) -> ODataValue? {
        guard let family = type.geoFamily else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        let value =
            bytes.first == UInt8(ascii: "{")
            ? try? GeoValue(geoJSON: text, family: family) : try? GeoValue(wellKnownText: text, family: family)
        return value.flatMap { $0.isOf(type) ? .geo($0) : nil }
    }

    /// Parses the V2 form `/Date(milliseconds±minutes)/`.
    private static func tickDate(_ bytes: UnsafeBufferPointer<UInt8>) -> ODataDateTimeOffset? {
        guard bytes.starts(with: "/Date(".utf8), bytes.count < 40, bytes.suffix(2).elementsEqual(")/".utf8) else {
            return nil
        }
        let body = Array(bytes[6..<(bytes.count - 2)])
        let sign = body.dropFirst().lastIndex { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
        let end = sign ?? body.count
        guard let ticks = Int64(String(decoding: body[..<end], as: UTF8.self)) else { return nil }
        var offset = 0
        if let sign {
            // The range is checked without `abs`, because the least integer has no absolute value.
            guard let minutes = Int(String(decoding: body[sign...], as: UTF8.self)), (-840...840).contains(minutes)
            else { return nil }
            offset = minutes
        }
        let seconds = ticks / 1000 - (ticks % 1000 < 0 ? 1 : 0)
        // Years of more than six digits are rejected, as in other forms.
        guard abs(seconds) < 31_556_952 * 1_000_000 else { return nil }
        return ODataDateTimeOffset(
            seconds: seconds, picoseconds: (ticks - seconds * 1000) * 1_000_000_000, offsetMinutes: offset)
    }
}

extension PrimitiveType {
    /// A description of the text form of values, for use in messages.
    public var lexicalDescription: String {
        switch self {
        case .binary, .stream: "base64url"
        case .boolean: "true or false"
        case .byte: "a whole number from 0 to 255"
        case .sbyte: "a whole number from -128 to 127"
        case .int16: "a whole number from -32768 to 32767"
        case .int32: "a whole number from -2147483648 to 2147483647"
        case .int64: "a whole number of at most 64 bits"
        case .decimal: "a decimal number of at most \(ODataDecimal.maxDigits) digits, INF, -INF or NaN"
        case .double: "a number in the range of binary64, INF, -INF or NaN"
        case .single: "a number in the range of binary32, INF, -INF or NaN"
        case .string: "a string"
        case .guid: "a GUID such as 01234567-89ab-cdef-0123-456789abcdef"
        case .date: "a date such as 2026-11-21"
        case .timeOfDay: "a time of day such as 13:20:00"
        case .dateTimeOffset: "a date and time with offset such as 2026-11-21T13:20:00Z"
        case .dateTime: "a date and time without offset such as 2026-11-21T13:20:00"
        case .duration, .time: "a duration such as PT1H30M"
        default: "well-known text such as SRID=4326;Point(1 2), or a GeoJSON object"
        }
    }
}

extension LexicalError: CodedError {
    /// `value.malformed`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "value.malformed") }
    /// The text is no value of its type.
    public var failureKind: FailureKind { .request }
}
