import ODataModel

/// The grammar that header fields share (RFC 9110, 5.6).
enum HeaderTokens {
    /// Splits a text at separators outside quotes, and trims the parts.
    static func split(_ text: some StringProtocol, at separator: Unicode.Scalar) -> [String] {
        var parts: [String] = []
        var current = ""
        var isQuoted = false
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, scalar == "\\" {
                isEscaped = true
            } else if scalar == "\"" {
                isQuoted.toggle()
            } else if scalar == separator, !isQuoted {
                parts.append(trim(current))
                current = ""
                continue
            }
            current.unicodeScalars.append(scalar)
        }
        parts.append(trim(current))
        return parts
    }

    static func trim(_ text: some StringProtocol) -> String {
        var rest = text[...]
        while let first = rest.first, first == " " || first == "\t" { rest = rest.dropFirst() }
        while let last = rest.last, last == " " || last == "\t" { rest = rest.dropLast() }
        return String(rest)
    }

    /// Returns the text without the enclosing quotes and without backslash escapes.
    static func unquote(_ text: some StringProtocol) -> String {
        let trimmed = trim(text)
        let quote = UInt8(ascii: "\"")
        guard trimmed.utf8.count >= 2, trimmed.utf8.first == quote, trimmed.utf8.last == quote else { return trimmed }
        var result = ""
        var isEscaped = false
        for scalar in trimmed.unicodeScalars.dropFirst().dropLast() {
            if scalar == "\\", !isEscaped {
                isEscaped = true
            } else {
                isEscaped = false
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    static func quote(_ text: String) -> String {
        let backslash = UInt8(ascii: "\\")
        return "\"" + text.escaping([backslash, UInt8(ascii: "\"")], with: backslash) + "\""
    }

    static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
