import ODataModel

/// Parsing of primitive literals (OData ABNF 4.01, section 7 *Literal Data Values*; URL Conventions 5.1.1.14.1),
/// and of those of OData 2.0 and 3.0 if the dialect allows them.
extension QueryParser {
    /// Whether the next sign belongs to a literal.
    var startsSignedLiteral: Bool {
        peek(1).isDigit
            || (peek(1) == UInt8(ascii: "I") && peek(2) == UInt8(ascii: "N") && peek(3) == UInt8(ascii: "F")
                && !isNamePart(peek(4)))
    }

    private func isNamePart(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || byte == UInt8(ascii: "_") || byte >= 0x80
    }

    /// Parses a literal that starts with a quote, a sign or a digit; returns `nil` if there is none.
    mutating func literal() throws(QueryError) -> Literal? {
        let start = offset
        switch current {
        case UInt8(ascii: "'"):
            return Literal(.string(try quotedString()), type: .string, at: start)
        case _ where current.isDigit:
            if let guid = guid() { return guid }
            if let time = try temporal() { return time }
            return try number()
        case UInt8(ascii: "-"):
            guard startsSignedLiteral else { return nil }
            if let time = try temporal() { return time }
            return try number()
        case UInt8(ascii: "+"):
            return peek(1).isDigit ? try number() : nil
        default: return nil
        }
    }

    /// Parses a literal without quotes that starts with a letter, such as `null`, `true`, `INF` or a GUID; returns
    /// `nil` if there is none.
    mutating func wordLiteral() -> Literal? {
        if let guid = guid() { return guid }
        let start = position
        let at = offset
        switch current | 0x20 {
        case UInt8(ascii: "t") where takeWord("true"):
            if !continuesAsPath { return Literal(.boolean(true), type: .boolean, at: at) }
        case UInt8(ascii: "f") where takeWord("false"):
            if !continuesAsPath { return Literal(.boolean(false), type: .boolean, at: at) }
        case UInt8(ascii: "n") where isNext("null") && takeWord("null"):
            if !continuesAsPath { return Literal(.null, at: at) }
        case UInt8(ascii: "n") where isNext("NaN") && takeWord("nan"):
            if !continuesAsPath { return Literal(.double(.nan), type: .double, at: at) }
        case UInt8(ascii: "i") where isNext("INF") && takeWord("inf"):
            if !continuesAsPath { return Literal(.double(.infinity), type: .double, at: at) }
        default: break
        }
        position = start
        return nil
    }

    private var continuesAsPath: Bool {
        current == UInt8(ascii: "/") || current == UInt8(ascii: ".") || current == UInt8(ascii: "(")
            || current == UInt8(ascii: "'")
    }

    /// Parses `'…'`, in which quotes are doubled.
    mutating func quotedString() throws(QueryError) -> String {
        let start = position
        try require("'")
        var bytes: [UInt8] = []
        var run = position
        while true {
            guard position < source.bytes.count else {
                throw failure("The string that starts here has no closing quote.", at: start)
            }
            guard source.bytes[position] == UInt8(ascii: "'") else {
                position += 1
                continue
            }
            bytes.append(contentsOf: source.bytes[run..<position])
            position += 1
            guard current == UInt8(ascii: "'") else { return String(decoding: bytes, as: UTF8.self) }
            run = position
            position += 1
        }
    }

    /// Parses `prefix'…'` at the quote.
    mutating func prefixed(_ prefix: Identifier) throws(QueryError) -> Literal {
        let start = position
        let content = try quotedString()
        func literal(_ value: ODataValue?, _ type: PrimitiveType) throws(QueryError) -> Literal {
            guard let value else {
                throw failure(
                    "\u{201C}\(content.prefix(40))\u{201D} is not a value of \(type.rawValue).", at: start + 1)
            }
            return Literal(value, type: type, at: prefix.offset)
        }
        switch prefix.text.lowercased() {
        case "duration": return try literal(ODataDuration(content).map(ODataValue.duration), .duration)
        case "binary" where dialect == .v4: return try literal(Self.base64URL(content).map(ODataValue.binary), .binary)
        case "geography", "geometry":
            let family: GeoValue.Family = prefix.text.lowercased() == "geography" ? .geography : .geometry
            do throws(GeoError) {
                let geo = try GeoValue(wellKnownText: content, family: family)
                return Literal(.geo(geo), type: geo.type, at: prefix.offset)
            } catch {
                throw failure("Expected \(error.expected), as in SRID=0;Point(1 2).", at: start + 1 + error.offset)
            }
        case "binary" where dialect == .v2, "x" where dialect == .v2:
            return try literal(Self.hexadecimal(content).map(ODataValue.binary), .binary)
        case "datetime" where dialect == .v2:
            return try literal(ODataDateTime(content).map(ODataValue.dateTime), .dateTime)
        case "datetimeoffset" where dialect == .v2:
            return try literal(ODataDateTimeOffset(content).map(ODataValue.dateTimeOffset), .dateTimeOffset)
        case "time" where dialect == .v2: return try literal(ODataDuration(content).map(ODataValue.duration), .time)
        case "guid" where dialect == .v2: return try literal(ODataGuid(content).map(ODataValue.guid), .guid)
        default: break
        }
        guard prefix.text.contains(".") else {
            let generation = dialect == .v4 ? "duration, binary, geography, geometry" : "datetime, guid, time, X"
            throw QueryError(
                .syntax,
                "Expected a literal's prefix (\(generation), …) or the qualified name of an enumeration type, "
                    + "found \u{201C}\(prefix)\u{201D}.", offset: prefix.offset)
        }
        for member in content.split(separator: ",", omittingEmptySubsequences: false)
        where !Self.isEnumerationMember(member) {
            throw failure("\u{201C}\(content.prefix(40))\u{201D} is not a list of members or numbers.", at: start + 1)
        }
        return Literal(
            .string(content), enumeration: .init(type: prefix.text, members: content), at: prefix.offset)
    }

    private static func isEnumerationMember(_ text: Substring) -> Bool {
        if Int64(text) != nil { return true }
        guard let first = text.first, first.isLetter || first == "_" else { return false }
        return text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }

    // MARK: Numbers, identifiers, times

    private mutating func guid() -> Literal? {
        guard position + 36 <= source.bytes.count, source.bytes[position + 8] == UInt8(ascii: "-"),
            !isNamePart(peek(36)), peek(36) != UInt8(ascii: "-"),
            let guid = ODataGuid(lexical: source.bytes[position..<position + 36])
        else { return nil }
        let start = offset
        position += 36
        return Literal(.guid(guid), type: .guid, at: start)
    }

    /// Parses a date, a date with time, or a time of day; returns `nil` and reads nothing for other digits.
    private mutating func temporal() throws(QueryError) -> Literal? {
        let start = position
        var index = position
        let bytes = source.bytes
        func digits() -> Int {
            let from = index
            while index < bytes.count, bytes[index].isDigit { index += 1 }
            return index - from
        }
        func take(_ character: Unicode.Scalar) -> Bool {
            guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
            index += 1
            return true
        }
        let isNegative = take("-")
        let first = digits()
        if first == 2, !isNegative, take(":"), digits() == 2, !numbersBeforeColon.contains(start) {
            skipTime(&index)
            do throws(QueryError) {
                let time = try finish(start..<index, "time of day", type: .timeOfDay) {
                    ODataTimeOfDay($0).map(ODataValue.timeOfDay)
                }
                if index == start + 5 { hoursAndMinutes = start }
                return time
            } catch {
                // The digits are a number, followed by the colon and value of the enclosing condition.
                guard openConditions > 0 else { throw error }
                return nil
            }
        }
        index = start + (isNegative ? 1 : 0) + first
        guard first >= 4, take("-"), digits() == 2, take("-"), digits() == 2 else { return nil }
        guard index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "t"),
            index + 1 < bytes.count, bytes[index + 1].isDigit
        else {
            return try finish(start..<index, "date", type: .date) { ODataDate($0).map(ODataValue.date) }
        }
        index += 1
        _ = digits()
        if take(":") { _ = digits() }
        skipTime(&index)
        if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "z") {
            index += 1
        } else if index < bytes.count, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") {
            index += 1
            _ = digits()
            if take(":") { _ = digits() }
        }
        return try finish(start..<index, "date and time with an offset", type: .dateTimeOffset) {
            Self.isHour24($0) ? nil : ODataDateTimeOffset($0).map(ODataValue.dateTimeOffset)
        }
    }

    /// Returns whether the hour is 24, which only the XML of V2 allows; hours in URLs end at 23.
    private static func isHour24(_ text: String) -> Bool { text.contains("T24") || text.contains("t24") }

    /// Skips `:ss.fff` after hours and minutes.
    private func skipTime(_ index: inout Int) {
        let bytes = source.bytes
        guard index + 1 < bytes.count, bytes[index] == UInt8(ascii: ":"), bytes[index + 1].isDigit else { return }
        index += 1
        while index < bytes.count, bytes[index].isDigit { index += 1 }
        guard index + 1 < bytes.count, bytes[index] == UInt8(ascii: "."), bytes[index + 1].isDigit else { return }
        index += 1
        while index < bytes.count, bytes[index].isDigit { index += 1 }
    }

    private mutating func finish(
        _ range: Range<Int>, _ what: String, type: PrimitiveType, read: (String) -> ODataValue?
    ) throws(QueryError) -> Literal {
        let lexical = text(range)
        guard let value = read(lexical),
            range.upperBound >= source.bytes.count
                || !isNamePart(source.bytes[range.upperBound])
        else { throw failure("\u{201C}\(lexical)\u{201D} is not a \(what).", at: range.lowerBound) }
        position = range.upperBound
        return Literal(value, type: type, at: source.offset(at: range.lowerBound))
    }

    /// Parses a number. Integers and decimals keep every digit. A number with an exponent, or with more digits than
    /// a decimal can hold, is a double.
    private mutating func number() throws(QueryError) -> Literal {
        let start = position
        let at = offset
        let isNegative = take("-")
        if !isNegative { _ = take("+") }
        if isNegative, isNext("INF") {
            position += 3
            return Literal(.double(-.infinity), type: .double, at: at)
        }
        var hasPoint = false
        var hasExponent = false
        while current.isDigit { position += 1 }
        if current == UInt8(ascii: "."), peek(1).isDigit {
            hasPoint = true
            position += 1
            while current.isDigit { position += 1 }
        }
        let beforeExponent = position
        if current | 0x20 == UInt8(ascii: "e") {
            position += 1
            if current == UInt8(ascii: "-") || current == UInt8(ascii: "+") { position += 1 }
            if current.isDigit { hasExponent = true } else { position = beforeExponent }
            while current.isDigit { position += 1 }
        }
        let lexical = text(start..<position)
        if dialect == .v2, let literal = try suffixed(lexical, at: start) { return literal }
        guard !isNamePart(current) else { throw failure(expected: "a digit or the end of the number") }
        if !hasExponent, !hasPoint, let integer = Int64(lexical) { return Literal(.integer(integer), at: at) }
        if !hasExponent, let decimal = ODataDecimal(lexical) {
            return Literal(.decimal(decimal), type: .decimal, at: at)
        }
        guard let double = Double(lexical), double.isFinite else {
            throw beyondEveryType(lexical, at: start)
        }
        return Literal(.double(double), type: .double, at: at)
    }

    private func beyondEveryType(_ lexical: String, at start: Int) -> QueryError {
        failure("\u{201C}\(lexical.prefix(40))\u{201D} is beyond every numeric type.", at: start)
    }

    /// Parses the letter after a number in V2 and V3, which states the type.
    private mutating func suffixed(_ lexical: String, at start: Int) throws(QueryError) -> Literal? {
        let value: ODataValue?
        let type: PrimitiveType
        switch current | 0x20 {
        case UInt8(ascii: "l"): (value, type) = (Int64(lexical).map(ODataValue.integer), .int64)
        case UInt8(ascii: "m"): (value, type) = (ODataDecimal(lexical).map(ODataValue.decimal), .decimal)
        case UInt8(ascii: "d"): (value, type) = (Double(lexical).map(ODataValue.double), .double)
        case UInt8(ascii: "f"): (value, type) = (Float(lexical).map(ODataValue.single), .single)
        default: return nil
        }
        guard let value, !isNamePart(peek(1)) else { return nil }
        switch value {
        case .double(let double) where double.isInfinite: throw beyondEveryType(lexical, at: start)
        case .single(let single) where single.isInfinite: throw beyondEveryType(lexical, at: start)
        default: break
        }
        position += 1
        return Literal(value, type: type, at: source.offset(at: start))
    }

    // MARK: Bytes

    /// Decodes base64url. The characters `+` and `/` of plain base64 are not part of the grammar.
    static func base64URL(_ text: String) -> [UInt8]? {
        text.utf8.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") } ? nil : Base64URL.decode(text)
    }

    private static func hexadecimal(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index].hexadecimalDigit, let low = digits[index + 1].hexadecimalDigit else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
