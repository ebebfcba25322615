/// A string in a JSON text, as a view of the scanner's buffer.
///
/// The scanner has checked that the bytes are UTF-8 and the escapes are valid. The view must not outlive the
/// buffer; ``string`` returns a copy.
public struct JSONString {
    /// The bytes between the quotation marks, including escapes.
    let raw: UnsafeBufferPointer<UInt8>
    /// The offset of the opening quotation mark within the buffer.
    public let offset: Int
    /// Whether the string contains escapes.
    public let hasEscapes: Bool

    /// A copy of the characters.
    public var string: String {
        guard hasEscapes else { return String(decoding: raw, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: raw.count) { unescape(into: $0) }
    }

    /// Returns whether the unescaped UTF-8 contains a byte.
    public func contains(_ byte: UInt8) -> Bool { withUTF8 { $0.contains(byte) } }

    /// Whether the string has no characters.
    public var isEmpty: Bool { raw.isEmpty }

    /// The characters as UTF-8, valid as long as the buffer; `nil` if the string contains escapes.
    public var plainUTF8: UnsafeBufferPointer<UInt8>? { hasEscapes ? nil : raw }

    /// Calls `body` with the characters as UTF-8, which are copied only if the string has escapes.
    @inline(__always)
    public func withUTF8<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard hasEscapes else { return try body(raw) }
        return try unescaped().withUnsafeBufferPointer(body)
    }

    /// Writes the characters as UTF-8 to memory.
    ///
    /// - Returns: the number of bytes; `nil`, with nothing written, if the memory may be too small.
    package func write(into memory: UnsafeMutableRawBufferPointer) -> Int? {
        guard raw.count <= memory.count else { return nil }
        return memory.withMemoryRebound(to: UInt8.self) { unescape(into: $0) }
    }

    /// The first byte before unescaping, for a quick test before a comparison; zero for an empty string.
    public var firstByte: UInt8 { raw.first ?? 0 }

    /// Returns whether the characters equal `text`.
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

    /// Writes the unescaped characters. No escape is shorter than its character, so that `raw.count` bytes suffice.
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

/// Returns the value of a hexadecimal digit of either case.
@inline(__always)
package func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - 48
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - 55
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - 87
    default: nil
    }
}

extension TypeShape {
    /// Returns the ordinal of the structural property with a member name.
    ///
    /// - Parameters:
    ///   - key: the name.
    ///   - predicted: the ordinal to try first, usually the one after the last, because most payloads keep the
    ///     order.
    public func ordinal(of key: JSONString, predicted: Int) -> Int? {
        key.withUTF8 { name in
            if predicted < properties.count, propertyNames.matches(predicted, name) { return predicted }
            return propertyNames.ordinal(of: name)
        }
    }
}
