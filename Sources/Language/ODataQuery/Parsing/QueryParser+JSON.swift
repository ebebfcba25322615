import ODataModel

/// Parsing of JSON objects as parameter values, and of strings in double quotes (OData ABNF 4.01, section 5; URL
/// Conventions 5.1.1.14.4 *Complex and Collection Literals*).
///
/// The members of objects may be expressions.
extension QueryParser {
    /// Parses `{…}`, which is kept as text after its syntax was checked.
    mutating func jsonObject() throws(QueryError) -> CommonExpression {
        let start = position
        try require("{")
        try enter()
        defer { leave() }
        skipSpace()
        if !take("}") {
            repeat {
                guard current == UInt8(ascii: "\"") else { throw failure(expected: "a member's name in double quotes") }
                _ = try jsonString()
                skipSpace()
                try require(":")
                skipSpace()
                _ = try value()
            } while takeSeparator(",")
            try close("}")
        }
        try node()
        return .json(text(start..<position))
    }

    /// Parses `"…"` with the escapes of JSON.
    mutating func jsonString() throws(QueryError) -> String {
        let start = position
        try require("\"")
        var bytes: [UInt8] = []
        while true {
            guard !isAtEnd else { throw failure("The string that starts here has no closing quote.", at: start) }
            let byte = current
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                try escape(into: &bytes)
            case 0..<32:
                throw failure("A control character must be escaped within a string.", at: position)
            default:
                bytes.append(byte)
                position += 1
            }
        }
    }

    private mutating func escape(into bytes: inout [UInt8]) throws(QueryError) {
        let start = position
        position += 1
        let kind = current
        position += 1
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(kind)
        case UInt8(ascii: "b"): bytes.append(8)
        case UInt8(ascii: "f"): bytes.append(12)
        case UInt8(ascii: "n"): bytes.append(10)
        case UInt8(ascii: "r"): bytes.append(13)
        case UInt8(ascii: "t"): bytes.append(9)
        case UInt8(ascii: "u"):
            guard var code = fourDigits() else {
                throw failure("Expected four hexadecimal digits after \\u.", at: start)
            }
            if (0xD800..<0xDC00).contains(code), isNext("\\u") {
                position += 2
                guard let low = fourDigits(), (0xDC00..<0xE000).contains(low) else {
                    throw failure("Expected the second half of a surrogate pair.", at: start)
                }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else {
                throw failure("Half a surrogate pair is no character.", at: start)
            }
            bytes.append(contentsOf: String(Character(scalar)).utf8)
        default: throw failure("Expected one of \" \\ / b f n r t u after a backslash.", at: start)
        }
    }

    private mutating func fourDigits() -> UInt32? {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = current.hexadecimalDigit else { return nil }
            code = code << 4 | UInt32(digit)
            position += 1
        }
        return code
    }
}
