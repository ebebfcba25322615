/// The small grammar that header fields share (RFC 9110, 5.6).
enum HeaderTokens {
    /// Splits at a separator that stands outside quotes, and trims the parts.
    static func split(_ text: some StringProtocol, at separator: Character) -> [String] {
        var parts: [String] = []
        var current = ""
        var isQuoted = false
        var isEscaped = false
        for character in text {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == separator, !isQuoted {
                parts.append(trim(current))
                current = ""
                continue
            }
            current.append(character)
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

    /// The text without the quotes around it and the backslashes within.
    static func unquote(_ text: some StringProtocol) -> String {
        let trimmed = trim(text)
        guard trimmed.count >= 2, trimmed.hasPrefix("\""), trimmed.hasSuffix("\"") else { return trimmed }
        var result = ""
        var isEscaped = false
        for character in trimmed.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                isEscaped = false
                result.append(character)
            }
        }
        return result
    }

    static func quote(_ text: String) -> String {
        var result = "\""
        for character in text {
            if character == "\"" || character == "\\" { result.append("\\") }
            result.append(character)
        }
        return result + "\""
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
