extension JSONScanner {
    /// Consumes the next member's name, with comma and colon, if it is the name at `ordinal` in its usual notation;
    /// otherwise consumes nothing.
    @inline(__always)
    mutating func takeExpectedKey(_ ordinal: Int, in table: PropertyNameTable) -> Bool {
        var index = offset
        if needsComma {
            guard index < bytes.count, bytes[index] == UInt8(ascii: ",") else { return false }
            index += 1
        }
        // Indented texts have a line for each member.
        while index < bytes.count, bytes[index] <= 0x20, Self.isWhitespace(bytes[index]) { index += 1 }
        let length = table.length(of: ordinal, in: bytes, at: index)
        guard length > 0 else { return false }
        offset = index + length
        needsComma = false
        return true
    }

    /// Reads the next value without converting it.
    @inline(__always)
    mutating func readSlot() throws(JSONError) -> JSONRow.Slot {
        switch try peekByte("a value") {
        case UInt8(ascii: "\""):
            let opening = offset
            let closing = skipPlain(from: opening + 1)
            if closing < bytes.count, bytes[closing] == UInt8(ascii: "\"") {
                offset = closing + 1
                needsComma = true
                return .string(
                    JSONString(
                        raw: UnsafeBufferPointer(rebasing: bytes[(opening + 1)..<closing]), offset: opening,
                        hasEscapes: false))
            }
            let string = try scanString()
            needsComma = true
            return .string(string)
        case UInt8(ascii: "n"):
            try readNull()
            return .null
        case UInt8(ascii: "t"), UInt8(ascii: "f"):
            let start = offset
            return .boolean(try readBoolean(), offset: start)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .nested(try skipValue())
        default: return isAtBareNumber ? .string(try readBareNumber()) : .number(try readNumber())
        }
    }

    /// Moves back to a value that was read before.
    mutating func revisit(at offset: Int) {
        self.offset = offset
        needsComma = false
    }

    /// Returns the offset of a part of the buffer.
    func offset(of part: UnsafeBufferPointer<UInt8>) -> Int {
        guard let start = part.baseAddress, let base = bytes.baseAddress else { return 0 }
        return start - base
    }
}
