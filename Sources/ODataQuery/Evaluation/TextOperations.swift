/// What OData's string functions do, counted in code points and without a locale: equal strings are equal code
/// points, nothing is normalised (OData URL Conventions 4.01, 5.1.1.5 to 5.1.1.7).
///
/// The in-memory evaluator and the SQL functions of the store both call these, so that they cannot differ.
public enum TextOperations {
    /// The number of code points.
    public static func length(_ text: String) -> Int { text.unicodeScalars.count }

    /// The code points before the first occurrence of `part`; -1 when there is none, 0 for nothing.
    public static func index(of part: String, in text: String) -> Int {
        let (text, part) = (Array(text.utf8), Array(part.utf8))
        guard let offset = offset(of: part, in: text) else { return -1 }
        // UTF-8 is self-synchronising: a match of whole code points starts at the first byte of one.
        return text[..<offset].reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
    }

    private static func offset(of part: [UInt8], in text: [UInt8]) -> Int? {
        guard let first = part.first else { return 0 }
        guard part.count <= text.count else { return nil }
        for start in 0...(text.count - part.count) where text[start] == first {
            if text[start..<(start + part.count)].elementsEqual(part) { return start }
        }
        return nil
    }

    /// The code points from `start`, at most `length` of them. A negative start counts from the end
    /// (OData URL Conventions 4.01, 5.1.1.7.5); what lies outside the string is empty.
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

    /// The text without white space (Unicode's White_Space property) at its ends.
    public static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }

    /// The full Unicode lower-case mapping.
    public static func lowered(_ text: String) -> String { text.lowercased() }

    /// The full Unicode upper-case mapping.
    public static func uppered(_ text: String) -> String { text.uppercased() }

    /// Whether the text ends with `suffix`, code point by code point.
    public static func hasSuffix(_ text: String, _ suffix: String) -> Bool {
        let (text, suffix) = (text.utf8, suffix.utf8)
        return suffix.count <= text.count && text.suffix(suffix.count).elementsEqual(suffix)
    }

    /// The text with every occurrence of `part` replaced (V2 and V3); unchanged when `part` is empty.
    public static func replacing(_ part: String, with replacement: String, in text: String) -> String {
        let (bytes, part, replacement) = (Array(text.utf8), Array(part.utf8), Array(replacement.utf8))
        guard !part.isEmpty else { return text }
        var result: [UInt8] = []
        var rest = bytes[...]
        while let offset = offset(of: part, in: Array(rest)) {
            result += rest.prefix(offset)
            result += replacement
            rest = rest.dropFirst(offset + part.count)
        }
        return String(decoding: result + rest, as: UTF8.self)
    }
}
