// `Int64(exactly:)` calls the mathematics library for rounding. Only this import links the library in a program
// without Foundation.
#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Writes JSON (RFC 8259) to a buffer that the caller empties.
///
/// Commas are inserted automatically. Only the characters that require an escape are escaped.
///
/// ```swift
/// var writer = JSONWriter()
/// writer.beginObject()
/// writer.key("Name")
/// writer.string("Chai")
/// writer.endObject()
/// send(writer.bytes)
/// ```
public struct JSONWriter: Sendable {
    /// A member name with quotation marks and colon, escaped once for repeated use.
    public struct Key: Hashable, Sendable {
        package let text: [UInt8]

        /// Prepares a name.
        public init(_ name: String) {
            var writer = JSONWriter()
            writer.string(name)
            writer.bytes.append(UInt8(ascii: ":"))
            text = writer.bytes
        }
    }

    /// The output that has not been flushed.
    public var bytes: [UInt8] = []
    private var needsComma = false

    /// Creates a writer.
    ///
    /// - Parameter capacity: the capacity to reserve in bytes.
    public init(reservingCapacity capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    /// Calls `body` with the output and empties the buffer, whose capacity remains.
    public mutating func flush<Failure: Error>(
        _ body: (borrowing [UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        try body(bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    // MARK: Objects and arrays

    /// Opens an object.
    public mutating func beginObject() { open(UInt8(ascii: "{")) }
    /// Closes an object.
    public mutating func endObject() { close(UInt8(ascii: "}")) }
    /// Opens an array.
    public mutating func beginArray() { open(UInt8(ascii: "[")) }
    /// Closes an array.
    public mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Writes a member's name.
    public mutating func key(_ name: String) {
        separate()
        quoted(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a prepared member name.
    public mutating func key(_ key: Key) {
        separate()
        bytes.append(contentsOf: key.text)
        needsComma = false
    }

    /// Writes a member name from text that contains the quotation marks, the colon and the necessary escapes.
    @inline(__always)
    package mutating func key(prepared text: UnsafeBufferPointer<UInt8>) {
        separate()
        bytes.append(contentsOf: text)
        needsComma = false
    }

    // MARK: Values

    /// Writes `null`.
    public mutating func null() { literal("null") }

    /// Writes `true` or `false`.
    public mutating func boolean(_ value: Bool) { literal(value ? "true" : "false") }

    /// Writes a string.
    public mutating func string(_ value: String) {
        separate()
        quoted(value)
    }

    /// Writes UTF-8 as a string.
    public mutating func string(utf8: UnsafeBufferPointer<UInt8>) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        escape(utf8)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes an integer.
    public mutating func integer(_ value: Int64) {
        separate()
        append(value)
    }

    /// Writes a binary64 number in the shortest form that reads back the same. The values without JSON notation are
    /// the strings `INF`, `-INF` and `NaN` (OData JSON Format 4.01, 7.1).
    public mutating func double(_ value: Double) {
        if let whole = Int64(exactly: value), abs(whole) < 1 << 53, !(whole == 0 && value.sign == .minus) {
            integer(whole)
        } else {
            floating(value.description, isFinite: value.isFinite, isNaN: value.isNaN, isNegative: value < 0)
        }
    }

    /// Writes a binary32 number in the shortest form that reads back the same.
    public mutating func single(_ value: Float) {
        if let whole = Int64(exactly: value), abs(whole) < 1 << 24, !(whole == 0 && value.sign == .minus) {
            integer(whole)
        } else {
            floating(value.description, isFinite: value.isFinite, isNaN: value.isNaN, isNegative: value < 0)
        }
    }

    /// Writes an exact decimal number as a number.
    public mutating func decimal(_ value: ODataDecimal) {
        separate()
        LexicalWriter.bytes({ bytes.append(contentsOf: $0) }, { value.write(to: &$0) })
    }

    /// Writes a value from JSON text.
    public mutating func raw(_ json: some Sequence<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    /// Writes a date, number or identifier as a string. Such texts never need escapes.
    @inline(__always)
    mutating func plain(_ body: (inout LexicalWriter) -> Void) {
        separate()
        LexicalWriter.bytes(
            { bytes.append(contentsOf: $0) },
            {
                $0.byte(UInt8(ascii: "\""))
                body(&$0)
                $0.byte(UInt8(ascii: "\""))
            })
    }

    // MARK: Bytes

    @inline(__always)
    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func literal(_ text: StaticString) {
        separate()
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func floating(_ text: String, isFinite: Bool, isNaN: Bool, isNegative: Bool) {
        if isFinite { return raw(text.utf8) }
        string(isNaN ? "NaN" : isNegative ? "-INF" : "INF")
    }

    private mutating func append(_ value: Int64) {
        LexicalWriter.bytes({ bytes.append(contentsOf: $0) }) {
            if value < 0 { $0.byte(UInt8(ascii: "-")) }
            $0.number(value.magnitude)
        }
    }

    private mutating func quoted(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        let done: Void? = text.utf8.withContiguousStorageIfAvailable { escape($0) }
        if done == nil {
            // Strings bridged from another runtime have no contiguous bytes.
            Array(text.utf8).withUnsafeBufferPointer { escape($0) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes the characters with escapes; runs without special characters are copied as a whole.
    private mutating func escape(_ utf8: UnsafeBufferPointer<UInt8>) {
        var run = 0
        while true {
            let index = Self.firstSpecial(in: utf8, from: run)
            if run < index { bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[run..<index])) }
            guard index < utf8.count else { return }
            run = index + 1
            let byte = utf8[index]
            bytes.append(UInt8(ascii: "\\"))
            switch byte {
            case 0x08: bytes.append(UInt8(ascii: "b"))
            case 0x09: bytes.append(UInt8(ascii: "t"))
            case 0x0A: bytes.append(UInt8(ascii: "n"))
            case 0x0C: bytes.append(UInt8(ascii: "f"))
            case 0x0D: bytes.append(UInt8(ascii: "r"))
            case 0x00..<0x20:
                bytes.append(contentsOf: [0x75, 0x30, 0x30, 0x30 + byte >> 4])
                bytes.append(byte & 15 < 10 ? 48 + byte & 15 : 87 + byte & 15)
            default: bytes.append(byte)
            }
        }
    }

    /// Returns the index of the first quotation mark, backslash or control character, and examines eight bytes at a
    /// time.
    private static func firstSpecial(in utf8: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        guard let base = UnsafeRawPointer(utf8.baseAddress) else { return start }
        let ones: UInt64 = 0x0101_0101_0101_0101
        var index = start
        while index + 8 <= utf8.count {
            let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            // A carry can flag a wrong byte, but never the lowest flagged byte of a word.
            let hits =
                ((quote &- ones) & ~quote | (backslash &- ones) & ~backslash | (word &- (ones &* 0x20)) & ~word)
                & (ones &* 0x80)
            if hits != 0 { return index + hits.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < utf8.count {
            let byte = utf8[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return index }
            index += 1
        }
        return index
    }
}
