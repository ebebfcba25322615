extension JSONScanner {
    /// The numbers that JSON does not have.
    private static let bareNumbers = ["NaN", "Infinity", "-Infinity", "INF", "-INF"].map { Array($0.utf8) }

    /// Whether the next byte begins a number that JSON does not have, and the scanner takes such numbers.
    @inline(__always)
    var isAtBareNumber: Bool {
        guard takesBareNumbers, offset < bytes.count else { return false }
        switch bytes[offset] {
        case UInt8(ascii: "N"), UInt8(ascii: "I"): return true
        case UInt8(ascii: "-"): return offset + 1 < bytes.count && bytes[offset + 1] == UInt8(ascii: "I")
        default: return false
        }
    }

    /// Reads a number that JSON does not have, as a string.
    mutating func readBareNumber() throws(JSONError) -> JSONString {
        let start = offset
        let rest = bytes[start...]
        for word in Self.bareNumbers {
            if rest.count < word.count, !isComplete, word.starts(with: rest) { throw end("a number") }
            guard rest.starts(with: word) else { continue }
            let next = start + word.count
            // At the end of an incomplete buffer, more letters may follow.
            if next == bytes.count, !isComplete { throw end("the end of the number") }
            if next < bytes.count, !Self.endsNumber(bytes[next]) { continue }
            offset = next
            needsComma = true
            return JSONString(
                raw: UnsafeBufferPointer(rebasing: bytes[start..<next]), offset: start, hasEscapes: false)
        }
        throw unexpected("a value")
    }

    private static func endsNumber(_ byte: UInt8) -> Bool {
        isWhitespace(byte) || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
    }
}
