extension ODataValue {
    /// Parses a text that is invalid for the type but has only one possible meaning.
    ///
    /// Examples are `Infinity`, `TRUE`, a GUID in braces, and a date with the time of midnight. Clients accept such
    /// forms because some services write them; services refuse them.
    /// - Returns: `nil` if the text has several possible meanings, or none.
    package init?(otherForm text: String, type: PrimitiveType) {
        let trimmed = text.trimmingBlanks
        if trimmed != text, let value = try? ODataValue(lexical: trimmed, type: type) {
            self = value
            return
        }
        let value: ODataValue? =
            switch type {
            case .string: .string(text)
            case .boolean: ["true": true, "false": false][trimmed.lowercased()].map { .boolean($0) }
            case .byte, .sbyte, .int16, .int32, .int64, .decimal, .double, .single: Self.number(trimmed, type)
            case .guid: Self.guid(trimmed)
            case .date: Self.date(trimmed)
            case .timeOfDay: Self.timeOfDay(trimmed)
            case .duration, .time:
                ODataTimeOfDay(trimmed).map { .duration(ODataDuration(picosecondsOfDay: $0.picoseconds)) }
            case .dateTime, .dateTimeOffset: Self.instant(trimmed, type)
            case .binary: try? ODataValue(lexical: text.filter { !$0.isWhitespace }, type: type)
            default: nil
            }
        guard let value else { return nil }
        self = value
    }

    /// Returns whether a text is an initial value of the service's programming language, which represents null.
    ///
    /// Such values are a date of zeros, and an empty text for types other than strings and binaries.
    package static func isInitial(_ text: String, of type: PrimitiveType) -> Bool {
        guard type != .string, type != .binary else { return false }
        let trimmed = text.trimmingBlanks
        if trimmed.isEmpty { return true }
        switch type {
        case .date, .dateTime, .dateTimeOffset:
            let digits = trimmed.filter(\.isNumber)
            return digits.count >= 8 && digits.allSatisfy { $0 == "0" }
                && trimmed.allSatisfy { "0-:./TZ+ ".contains($0) }
        default: return false
        }
    }

    private static func number(_ text: String, _ type: PrimitiveType) -> ODataValue? {
        let isReal = [.decimal, .double, .single].contains(type)
        switch text.lowercased() {
        case "infinity" where isReal, "+infinity" where isReal, "inf" where isReal, "+inf" where isReal:
            return try? ODataValue(lexical: "INF", type: type)
        case "-infinity" where isReal, "-inf" where isReal: return try? ODataValue(lexical: "-INF", type: type)
        case "nan" where isReal: return try? ODataValue(lexical: "NaN", type: type)
        default: break
        }
        var digits = text
        // The sign of a negative number may follow the digits.
        if digits.hasSuffix("-"), digits.first?.isNumber == true { digits = "-" + digits.dropLast() }
        if digits.hasPrefix("+") { digits.removeFirst() }
        return digits == text ? nil : try? ODataValue(lexical: digits, type: type)
    }

    private static func guid(_ text: String) -> ODataValue? {
        var digits = text
        if let first = digits.first, let last = digits.last,
            (first == "{" && last == "}") || (first == "(" && last == ")")
        {
            digits = String(digits.dropFirst().dropLast())
        }
        if digits.utf8.count == 32, digits.allSatisfy(\.isHexDigit) {
            var parts: [Substring] = []
            var rest = digits[...]
            for length in [8, 4, 4, 4, 12] {
                parts.append(rest.prefix(length))
                rest = rest.dropFirst(length)
            }
            digits = parts.joined(separator: "-")
        }
        return try? ODataValue(lexical: digits, type: .guid)
    }

    /// Parses a date with the time of midnight, or without hyphens.
    private static func date(_ text: String) -> ODataValue? {
        if text.utf8.count == 8, text.allSatisfy(\.isNumber) {
            let hyphenated = "\(text.prefix(4))-\(text.dropFirst(4).prefix(2))-\(text.suffix(2))"
            return try? ODataValue(lexical: hyphenated, type: .date)
        }
        guard let instant = ODataDateTime(withOffset: text) ?? ODataDateTime(text) else { return nil }
        return instant.timeOfDay.picoseconds == 0 ? .date(instant.date) : nil
    }

    private static func timeOfDay(_ text: String) -> ODataValue? {
        guard case .duration(let duration)? = try? ODataValue(lexical: text, type: .duration),
            (0..<86_400).contains(duration.seconds)
        else { return nil }
        return ODataTimeOfDay(picoseconds: duration.seconds * 1_000_000_000_000 + duration.picoseconds)
            .map { .timeOfDay($0) }
    }

    /// Parses a date-time with a blank between date and time.
    private static func instant(_ text: String, _ type: PrimitiveType) -> ODataValue? {
        guard let blank = text.firstIndex(of: " ") else { return nil }
        let joined = "\(text[..<blank])T\(text[text.index(after: blank)...])"
        if let value = try? ODataValue(lexical: joined, type: type) { return value }
        return type == .dateTime ? ODataDateTime(withOffset: joined).map { .dateTime($0) } : nil
    }
}

extension ODataDuration {
    fileprivate init(picosecondsOfDay time: Int64) {
        self.init(seconds: time / 1_000_000_000_000, picoseconds: time % 1_000_000_000_000)
    }
}

extension String {
    fileprivate var trimmingBlanks: String {
        var result = self[...]
        while result.first?.isWhitespace == true { result.removeFirst() }
        while result.last?.isWhitespace == true { result.removeLast() }
        return String(result)
    }
}
