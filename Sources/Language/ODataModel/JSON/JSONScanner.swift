/// A pull scanner over one contiguous buffer of JSON (RFC 8259), whose caller requests each value.
///
/// The scanner creates values only on request: strings are views into the buffer, and values can be skipped and
/// kept as raw text. The scanner is a small copyable value, so that a caller can roll back to a copy. With
/// `isComplete: false`, the end of the buffer causes ``JSONError/Reason/needsMoreData``. A streaming reader then
/// returns to the last complete element and waits for the next chunk.
///
/// ```swift
/// let names = try JSONScanner.scan(bytes) { scanner throws(JSONError) in
///     var names: [String] = []
///     try scanner.beginObject()
///     while let key = try scanner.nextKey() {
///         names.append(key.string)
///         try scanner.skipValue()
///     }
///     return names
/// }
/// ```
public struct JSONScanner {
    /// The maximum nesting depth of objects and arrays.
    public static let maxDepth = 100

    /// The kinds of JSON value.
    public enum Kind: String, Sendable {
        /// `{…}`.
        case object = "an object"
        /// `[…]`.
        case array = "an array"
        /// `"…"`.
        case string = "a string"
        /// A number.
        case number = "a number"
        /// `true` or `false`.
        case boolean = "a boolean"
        /// `null`.
        case null = "null"
    }

    /// The state of a scanner besides its position, with which a streaming reader continues in the next buffer.
    public struct State: Hashable, Sendable {
        var depth = 0
        var needsComma = false

        /// Creates the state at the start of a text.
        public init() {}
    }

    let bytes: UnsafeBufferPointer<UInt8>
    /// Whether the end of the buffer is the end of the text.
    public let isComplete: Bool
    /// The position of the buffer in the whole text, used only for errors.
    public let origin: JSONPosition
    /// The offset of the next byte within the buffer.
    public internal(set) var offset = 0
    /// The number of open objects and arrays.
    public private(set) var depth = 0
    /// Whether the next member or element must follow a comma. One flag is enough for all levels: an opening
    /// bracket clears the flag, and the end of any value sets it.
    var needsComma = false
    /// Whether `NaN`, `Infinity` and `INF` without quotation marks, with a minus sign or without, are taken for
    /// strings. Some libraries write them although JSON does not have them.
    package var takesBareNumbers = false

    /// Creates a scanner over memory that the caller must keep alive and unchanged during scanning.
    ///
    /// - Parameters:
    ///   - bytes: the text or a part of it.
    ///   - isComplete: whether the buffer is the end of the text.
    ///   - origin: the position of the buffer in the whole text.
    ///   - offset: the start offset in the buffer.
    ///   - state: the state of a scanner that has reached this position.
    public init(
        _ bytes: UnsafeRawBufferPointer, isComplete: Bool = true, origin: JSONPosition = JSONPosition(),
        startingAt offset: Int = 0, resuming state: State = State()
    ) {
        self.bytes = bytes.bindMemory(to: UInt8.self)
        self.isComplete = isComplete
        self.origin = origin
        depth = state.depth
        needsComma = state.needsComma
        // Some services send a byte order mark, although JSON does not allow it.
        self.offset = offset
        if origin.offset == 0, offset == 0, bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF {
            self.offset = 3
        }
    }

    /// Scans an array of bytes; the scanner must not outlive the closure.
    public static func scan<Result, Failure: Error>(
        _ bytes: [UInt8], isComplete: Bool = true,
        _ body: (inout JSONScanner) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBufferPointer { (buffer) throws(Failure) -> Result in
            var scanner = JSONScanner(UnsafeRawBufferPointer(buffer), isComplete: isComplete)
            return try body(&scanner)
        }
    }

    /// The state for a scanner of the next buffer.
    public var state: State {
        var state = State()
        state.depth = depth
        state.needsComma = needsComma
        return state
    }

    // MARK: Looking ahead

    /// Skips white space and returns the kind of the next value without consuming it.
    public mutating func peekKind() throws(JSONError) -> Kind {
        switch try peekByte("a value") {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case _ where isAtBareNumber: .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
        case UInt8(ascii: "n"): .null
        default: throw unexpected("a value")
        }
    }

    /// Skips white space and returns whether the buffer has ended.
    public mutating func isAtEnd() -> Bool {
        skipWhitespace()
        return offset >= bytes.count
    }

    /// Checks that only white space follows.
    public mutating func expectEnd() throws(JSONError) {
        if !isAtEnd() { throw unexpected("the end of the text") }
    }

    /// Returns the text of a range that ``skipValue()`` returned.
    public func rawText(_ range: Range<Int>) -> String {
        String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
    }

    /// Returns the bytes of a range that ``skipValue()`` returned.
    public func rawBytes(_ range: Range<Int>) -> [UInt8] { Array(bytes[range]) }

    // MARK: Objects and arrays

    /// Consumes the opening brace of an object.
    public mutating func beginObject() throws(JSONError) { try open(UInt8(ascii: "{"), "an object") }

    /// Consumes the opening bracket of an array.
    public mutating func beginArray() throws(JSONError) { try open(UInt8(ascii: "["), "an array") }

    /// Reads the next member's name and its colon, or consumes the closing brace.
    ///
    /// The caller must read or skip the value before the next call.
    /// - Returns: `nil` if the object has ended.
    public mutating func nextKey() throws(JSONError) -> JSONString? {
        let expected: StaticString = needsComma ? "a comma or a closing brace" : "a member name or a closing brace"
        var byte = try peekByte(expected)
        if byte == UInt8(ascii: "}") {
            close()
            return nil
        }
        if needsComma {
            guard byte == UInt8(ascii: ",") else { throw unexpected("a comma or a closing brace") }
            offset += 1
            byte = try peekByte("a member name")
        }
        guard byte == UInt8(ascii: "\"") else { throw unexpected("a member name in quotation marks") }
        let key = try scanString()
        guard try peekByte("a colon") == UInt8(ascii: ":") else { throw unexpected("a colon") }
        offset += 1
        needsComma = false
        return key
    }

    /// Moves to the next element of an array, or consumes the closing bracket.
    ///
    /// - Returns: `false` if the array has ended.
    public mutating func nextElement() throws(JSONError) -> Bool {
        let expected: StaticString = needsComma ? "a comma or a closing bracket" : "a value or a closing bracket"
        let byte = try peekByte(expected)
        if byte == UInt8(ascii: "]") {
            close()
            return false
        }
        guard needsComma else { return true }
        guard byte == UInt8(ascii: ",") else { throw unexpected("a comma or a closing bracket") }
        offset += 1
        if try peekByte("a value") == UInt8(ascii: "]") { throw unexpected("a value after the comma") }
        needsComma = false
        return true
    }

    /// Checks the next value of any kind and moves past it.
    ///
    /// - Returns: the range of the value in the buffer, for use as raw JSON.
    @discardableResult
    public mutating func skipValue() throws(JSONError) -> Range<Int> {
        let kind = try peekKind()
        let start = offset
        switch kind {
        case .object:
            try beginObject()
            while try nextKey() != nil { try skipValue() }
        case .array:
            try beginArray()
            while try nextElement() { try skipValue() }
        case .string: _ = try readStringView()
        case .number: _ = try readNumber()
        case .boolean: _ = try readBoolean()
        case .null: try readNull()
        }
        return start..<offset
    }

    // MARK: Literals

    /// Reads `true` or `false`.
    public mutating func readBoolean() throws(JSONError) -> Bool {
        if try peekByte("true or false") == UInt8(ascii: "t") {
            try literal("true", "true or false")
            return true
        }
        try literal("false", "true or false")
        return false
    }

    /// Reads `null`.
    public mutating func readNull() throws(JSONError) { try literal("null", "null") }

    /// Consumes `null` if it is the next value, and returns whether it was.
    public mutating func takeNull() throws(JSONError) -> Bool {
        guard try peekByte("a value") == UInt8(ascii: "n") else { return false }
        try readNull()
        return true
    }

    /// Reads a literal of four or five letters, whose first letter is at the offset.
    private mutating func literal(_ text: StaticString, _ expected: StaticString) throws(JSONError) {
        let start = offset
        if let base = UnsafeRawPointer(bytes.baseAddress), start + 5 < bytes.count {
            let length = text.utf8CodeUnitCount
            let tail = UnsafeRawPointer(text.utf8Start).loadUnaligned(fromByteOffset: length - 4, as: UInt32.self)
            let found = base.loadUnaligned(fromByteOffset: start + length - 4, as: UInt32.self)
            if bytes[start] == text.utf8Start[0], found == tail, !Self.continuesWord(bytes[start + length]) {
                offset = start + length
                needsComma = true
                return
            }
        }
        for index in 0..<text.utf8CodeUnitCount {
            guard start + index < bytes.count else { throw end(expected.description) }
            guard bytes[start + index] == text.utf8Start[index] else { throw unexpected(expected.description) }
        }
        let behind = start + text.utf8CodeUnitCount
        if behind < bytes.count {
            guard !Self.continuesWord(bytes[behind]) else { throw unexpected(expected.description) }
        } else if !isComplete {
            // The word may continue in the next buffer.
            throw end(expected.description)
        }
        offset = behind
        needsComma = true
    }

    private static func continuesWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    // MARK: Bytes

    /// Skips white space and returns the next byte without consuming it.
    @inline(__always)
    mutating func peekByte(_ expected: StaticString) throws(JSONError) -> UInt8 {
        if offset < bytes.count, bytes[offset] > 0x20 { return bytes[offset] }
        skipWhitespace()
        guard offset < bytes.count else { throw end(expected.description) }
        return bytes[offset]
    }

    @inline(__always)
    mutating func skipWhitespace() {
        while offset < bytes.count, Self.isWhitespace(bytes[offset]) { offset += 1 }
    }

    @inline(__always)
    static func isWhitespace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    private mutating func open(_ bracket: UInt8, _ expected: StaticString) throws(JSONError) {
        guard try peekByte(expected) == bracket else { throw unexpected(expected.description) }
        guard depth < Self.maxDepth else {
            throw error(.tooDeep, expected: "at most \(Self.maxDepth) levels of objects and arrays")
        }
        offset += 1
        depth += 1
        needsComma = false
    }

    private mutating func close() {
        offset += 1
        depth -= 1
        needsComma = true
    }

    // MARK: Errors

    /// Returns an error at the next byte, or at `offset` within the buffer.
    @inline(never)
    public func error(_ reason: JSONError.Reason, at offset: Int? = nil, expected: String) -> JSONError {
        let offset = min(offset ?? self.offset, bytes.count)
        let before = UnsafeBufferPointer(rebasing: bytes[..<offset])
        return JSONError(reason: reason, position: origin.advanced(over: before), expected: expected)
    }

    /// Returns an error at the end of the buffer.
    @inline(never)
    func end(_ expected: String) -> JSONError {
        error(isComplete ? .unexpectedEnd : .needsMoreData, at: bytes.count, expected: expected)
    }

    /// Returns an error that describes the next byte and the expected content.
    @inline(never)
    public func unexpected(_ expected: String) -> JSONError {
        guard offset < bytes.count, !isCutMark else { return end(expected) }
        let byte = bytes[offset]
        let found =
            switch byte {
            case UInt8(ascii: "\""): "a string"
            case UInt8(ascii: "{"): "an object"
            case UInt8(ascii: "["): "an array"
            case 0x21...0x7E: "'\(Character(Unicode.Scalar(byte)))'"
            default: "the byte \(byte)"
            }
        return error(.unexpected(found), expected: expected)
    }

    /// Whether the bytes so far may be the start of a byte order mark.
    private var isCutMark: Bool {
        !isComplete && origin.offset == 0 && offset == 0 && bytes.count < 3 && [0xEF, 0xBB].starts(with: bytes)
    }
}
