/// The string functions of OData, which count code points and do not depend on a locale.
///
/// Two strings are equal if their code points are; there is no normalisation (OData URL Conventions 4.01, 5.1.1.5
/// to 5.1.1.7). The in-memory evaluator and the SQL functions of the store share the code, so that their results
/// are the same.
public enum TextOperations {
    /// The maximum size of a computed text in bytes of UTF-8.
    ///
    /// Repeated concatenation doubles a text at each step, so a short request could otherwise exhaust the memory.
    public static let maxLength = 16 << 20

    /// Returns the number of code points.
    public static func length(_ text: String) -> Int { text.unicodeScalars.count }

    /// Returns the number of code points before the first occurrence of `part`; -1 if there is none, 0 for an empty
    /// part.
    public static func index(of part: String, in text: String) -> Int {
        let (text, part) = (Array(text.utf8), Array(part.utf8))
        guard let offset = offset(of: part, in: text) else { return -1 }
        // UTF-8 is self-synchronising: a match of whole code points starts at the first byte of one.
        return text[..<offset].reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
    }

    private static func offset(of part: [UInt8], in text: [UInt8]) -> Int? {
        if part.isEmpty { return 0 }
        var found: Int?
        visit(part, in: text) { offset in
            found = offset
            return false
        }
        return found
    }

    /// Calls a closure with the offsets of a non-empty part, without overlapping occurrences, until it returns
    /// `true`.
    ///
    /// The text is scanned once, in linear time (Knuth, Morris and Pratt).
    private static func visit<Failure: Error>(
        _ part: [UInt8], in text: [UInt8], _ body: (Int) throws(Failure) -> Bool
    ) throws(Failure) {
        // For each prefix of the part, the length of the longest proper prefix that is also its suffix.
        var borders = [0]
        borders.reserveCapacity(part.count)
        var length = 0
        func take(_ byte: UInt8) {
            while length > 0, part[length] != byte { length = borders[length - 1] }
            if part[length] == byte { length += 1 }
        }
        for byte in part.dropFirst() {
            take(byte)
            borders.append(length)
        }
        length = 0
        for (index, byte) in text.enumerated() {
            take(byte)
            guard length == part.count else { continue }
            guard try body(index + 1 - part.count) else { return }
            length = 0
        }
    }

    /// Returns at most `length` code points from `start`. A negative start counts from the end (OData URL
    /// Conventions 4.01, 5.1.1.7.5). A range outside the string is empty.
    public static func substring(_ text: String, from start: Int64, length: Int64?) -> String {
        let scalars = text.unicodeScalars
        let count = Int64(scalars.count)
        let first = start < 0 ? max(0, count + max(start, -count)) : min(start, count)
        let available = count - first
        let taken = min(max(length ?? available, 0), available)
        var result = String.UnicodeScalarView()
        result.append(contentsOf: scalars.dropFirst(Int(first)).prefix(Int(taken)))
        return String(result)
    }

    /// Returns the text without white space (Unicode's White_Space property) at its ends.
    public static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }

    /// Returns the text in lower case by the full Unicode mapping.
    public static func lowered(_ text: String) -> String { text.lowercased() }

    /// Returns the text in upper case by the full Unicode mapping.
    public static func uppered(_ text: String) -> String { text.uppercased() }

    /// Returns whether the text ends with `suffix`, code point by code point.
    public static func hasSuffix(_ text: String, _ suffix: String) -> Bool {
        let (text, suffix) = (text.utf8, suffix.utf8)
        return suffix.count <= text.count && text.suffix(suffix.count).elementsEqual(suffix)
    }

    /// Concatenates two texts.
    ///
    /// - Throws: ``EvaluationError/limit(_:)`` if the result exceeds ``maxLength`` bytes.
    public static func concatenated(_ first: String, _ second: String) throws(EvaluationError) -> String {
        try checkLength(first.utf8.count + second.utf8.count)
        return first + second
    }

    /// Returns the text with every occurrence of `part` replaced (V2 and V3); unchanged if `part` is empty.
    ///
    /// - Throws: ``EvaluationError/limit(_:)`` if the result exceeds ``maxLength`` bytes.
    public static func replacing(
        _ part: String, with replacement: String, in text: String
    ) throws(EvaluationError) -> String {
        let (bytes, part, replacement) = (Array(text.utf8), Array(part.utf8), Array(replacement.utf8))
        guard !part.isEmpty else { return text }
        var result: [UInt8] = []
        var start = 0
        try visit(part, in: bytes) { (offset) throws(EvaluationError) in
            result += bytes[start..<offset]
            result += replacement
            start = offset + part.count
            try checkLength(result.count)
            return true
        }
        try checkLength(result.count + bytes.count - start)
        return String(decoding: result + bytes[start...], as: UTF8.self)
    }

    private static func checkLength(_ length: Int) throws(EvaluationError) {
        guard length <= maxLength else { throw .limit("TextOperations.maxLength") }
    }
}
