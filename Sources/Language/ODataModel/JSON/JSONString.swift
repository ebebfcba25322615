/// A string of a JSON text, seen in the scanner's buffer without a copy.
///
/// Checked when it was scanned: its bytes are UTF-8 and its escapes are valid. It must not outlive the
/// buffer; ``string`` makes a copy that may.
public struct JSONString {
    /// The bytes between the quotation marks as they stand, escapes included.
    let raw: UnsafeBufferPointer<UInt8>
    /// The offset of the opening quotation mark within the buffer.
    public let offset: Int
    /// Whether any escape is among them.
    public let hasEscapes: Bool

    /// The characters.
    public var string: String {
        guard hasEscapes else { return String(decoding: raw, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: raw.count) { unescape(into: $0) }
    }

    /// Whether the byte stands among the characters.
    public func contains(_ byte: UInt8) -> Bool { withUTF8 { $0.contains(byte) } }

    /// Whether the string is empty.
    public var isEmpty: Bool { raw.isEmpty }

    /// The characters as UTF-8 where they stand; `nil` where escapes are among them. Good as long as the buffer is.
    public var plainUTF8: UnsafeBufferPointer<UInt8>? { hasEscapes ? nil : raw }

    /// Gives the characters as UTF-8, without a copy where the string has no escapes.
    @inline(__always)
    public func withUTF8<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard hasEscapes else { return try body(raw) }
        return try unescaped().withUnsafeBufferPointer(body)
    }

    /// Writes the characters as UTF-8 into memory that has room for them.
    ///
    /// - Returns: how many bytes they are; `nil`, with nothing written, where the room may not be enough.
    package func write(into memory: UnsafeMutableRawBufferPointer) -> Int? {
        guard raw.count <= memory.count else { return nil }
        return memory.withMemoryRebound(to: UInt8.self) { unescape(into: $0) }
    }

    /// The first byte as it stands; zero for the empty string. A quick test before comparing.
    public var firstByte: UInt8 { raw.first ?? 0 }

    /// Whether the characters are those of `text`.
    public static func == (left: JSONString, text: StaticString) -> Bool {
        left.withUTF8 { bytes in
            guard bytes.count == text.utf8CodeUnitCount else { return false }
            for index in bytes.indices where bytes[index] != text.utf8Start[index] { return false }
            return true
        }
    }

    private func unescaped() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: raw.count) { memory, count in count = unescape(into: memory) }
    }

    /// Writes the characters; no escape is shorter than what it stands for, so `raw.count` bytes are enough.
    private func unescape(into memory: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var count = 0
        func put(_ byte: UInt8) {
            guard count < memory.count else { return }
            memory[count] = byte
            count += 1
        }
        var index = 0
        while index < raw.count {
            guard raw[index] == UInt8(ascii: "\\"), index + 1 < raw.count else {
                put(raw[index])
                index += 1
                continue
            }
            let escape = raw[index + 1]
            index += 2
            switch escape {
            case UInt8(ascii: "b"): put(0x08)
            case UInt8(ascii: "f"): put(0x0C)
            case UInt8(ascii: "n"): put(0x0A)
            case UInt8(ascii: "r"): put(0x0D)
            case UInt8(ascii: "t"): put(0x09)
            case UInt8(ascii: "u"):
                var code = codeUnit(at: index)
                index += 4
                if code & 0xFC00 == 0xD800 {
                    code = 0x10000 + ((code & 0x3FF) << 10 | codeUnit(at: index + 2) & 0x3FF)
                    index += 6
                }
                UTF8.encode(Unicode.Scalar(code) ?? "\u{FFFD}")?.forEach(put)
            default: put(escape)
            }
        }
        return count
    }

    private func codeUnit(at start: Int) -> UInt32 {
        var code: UInt32 = 0
        for index in start..<min(start + 4, raw.count) { code = code << 4 | UInt32(hexDigit(raw[index]) ?? 0) }
        return code
    }
}

/// The value of a hexadecimal digit of either case.
@inline(__always)
func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - 48
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - 55
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - 87
    default: nil
    }
}

extension TypeShape {
    /// The ordinal of the structural property that a member name stands for.
    ///
    /// - Parameters:
    ///   - key: the name.
    ///   - predicted: the ordinal to try first: the one after the last, since most payloads keep the order.
    public func ordinal(of key: JSONString, predicted: Int) -> Int? {
        key.withUTF8 { name in
            if predicted < properties.count, propertyNames.matches(predicted, name) { return predicted }
            return propertyNames.ordinal(of: name)
        }
    }
}
