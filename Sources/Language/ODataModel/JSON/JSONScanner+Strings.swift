extension JSONScanner {
    /// Reads a string.
    public mutating func readString() throws(JSONError) -> String { try readStringView().string }

    /// Reads a string without copying it.
    public mutating func readStringView() throws(JSONError) -> JSONString {
        guard try peekByte("a string") == UInt8(ascii: "\"") else {
            if isAtBareNumber { return try readBareNumber() }
            throw unexpected("a string")
        }
        let string = try scanString()
        needsComma = true
        return string
    }

    /// Reads the string whose opening quotation mark is the next byte.
    mutating func scanString() throws(JSONError) -> JSONString {
        let opening = offset
        let count = bytes.count
        var index = opening + 1
        var hasEscapes = false
        while true {
            index = skipPlain(from: index)
            guard index < count else { throw end("a quotation mark that ends the string") }
            switch bytes[index] {
            case UInt8(ascii: "\""):
                offset = index + 1
                return JSONString(
                    raw: UnsafeBufferPointer(rebasing: bytes[(opening + 1)..<index]), offset: opening,
                    hasEscapes: hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                index = try checkEscape(at: index)
            case let byte where byte < 0x20:
                throw error(
                    .controlCharacter(byte), at: index,
                    expected: "an escape such as \\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))")
            case let byte where byte >= 0x80:
                index = try checkMultibyte(at: index)
            default: index += 1
            }
        }
    }

    /// Returns the index of the next byte that is a quotation mark, a backslash, a control character or not ASCII.
    ///
    /// The search examines words of eight bytes and flags candidate bytes. A carry can flag a wrong byte, but never
    /// the lowest.
    @inline(__always)
    func skipPlain(from start: Int) -> Int {
        let count = bytes.count
        guard let base = UnsafeRawPointer(bytes.baseAddress) else { return start }
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        var index = start
        while index + 8 <= count {
            let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            let quoteHit = (quote &- ones) & ~quote
            let backslashHit = (backslash &- ones) & ~backslash
            let controlHit = (word &- (ones &* 0x20)) & ~word
            let hits = (quoteHit | backslashHit | controlHit | word) & highs
            if hits != 0 { return index + hits.trailingZeroBitCount / 8 }
            index += 8
        }
        return index
    }

    /// Checks the escape at a backslash and returns the index after it.
    private func checkEscape(at backslash: Int) throws(JSONError) -> Int {
        guard backslash + 1 < bytes.count else { throw end("an escape") }
        switch bytes[backslash + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return backslash + 2
        case UInt8(ascii: "u"):
            let unit = try codeUnit(at: backslash)
            if unit & 0xFC00 == 0xDC00 {
                throw error(.invalidEscape, at: backslash, expected: "a high surrogate before a low one")
            }
            guard unit & 0xFC00 == 0xD800 else { return backslash + 6 }
            let next = backslash + 6
            guard next + 1 < bytes.count else { throw end("a low surrogate") }
            guard bytes[next] == UInt8(ascii: "\\"), bytes[next + 1] == UInt8(ascii: "u"),
                try codeUnit(at: next) & 0xFC00 == 0xDC00
            else { throw error(.invalidEscape, at: next, expected: "a low surrogate after the high one") }
            return next + 6
        default:
            throw error(.invalidEscape, at: backslash, expected: "one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX")
        }
    }

    private func codeUnit(at backslash: Int) throws(JSONError) -> UInt32 {
        var code: UInt32 = 0
        for index in (backslash + 2)..<(backslash + 6) {
            guard index < bytes.count else { throw end("four hexadecimal digits") }
            guard let digit = hexDigit(bytes[index]) else {
                throw error(.invalidEscape, at: index, expected: "four hexadecimal digits")
            }
            code = code << 4 | UInt32(digit)
        }
        return code
    }

    /// Checks the multi-byte characters from `start` and returns the index of the next ASCII byte (The Unicode
    /// Standard, table 3-7: shortest forms only, no surrogates).
    private func checkMultibyte(at start: Int) throws(JSONError) -> Int {
        let count = bytes.count
        var index = start
        while index < count, bytes[index] >= 0x80 {
            let length: Int
            var second: ClosedRange<UInt8> = 0x80...0xBF
            switch bytes[index] {
            case 0xC2...0xDF: length = 2
            case 0xE0: (length, second) = (3, 0xA0...0xBF)
            case 0xED: (length, second) = (3, 0x80...0x9F)
            case 0xE1...0xEF: length = 3
            case 0xF0: (length, second) = (4, 0x90...0xBF)
            case 0xF4: (length, second) = (4, 0x80...0x8F)
            case 0xF1...0xF3: length = 4
            default: throw error(.invalidUTF8, at: index, expected: "UTF-8")
            }
            for position in 1..<length {
                guard index + position < count else { throw end("the rest of a character") }
                let valid = position == 1 ? second : 0x80...0xBF
                guard valid.contains(bytes[index + position]) else {
                    throw error(.invalidUTF8, at: index, expected: "UTF-8")
                }
            }
            index += length
        }
        return index
    }
}
