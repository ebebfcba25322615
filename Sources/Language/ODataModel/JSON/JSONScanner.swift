/// A pull scanner over one contiguous buffer of JSON (RFC 8259): the caller says what it wants next.
///
/// Nothing is built that is not asked for: strings come as views into the buffer, values can be skipped
/// and kept as raw text. The scanner is a small copyable value, so a caller rolls back by keeping a copy.
/// With `isComplete: false`, running into the end of the buffer is ``JSONError/Reason/needsMoreData``,
/// and a streaming reader goes back to the last complete element and waits for the next chunk.
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
    /// How deep objects and arrays may be nested.
    public static let maxDepth = 100

    /// What kind of value comes next.
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

    /// What a scanner knows besides its place: how a streaming reader goes on in the next buffer.
    public struct State: Hashable, Sendable {
        var depth = 0
        var needsComma = false

        /// The state at the start of a text.
        public init() {}
    }

    let bytes: UnsafeBufferPointer<UInt8>
    /// Whether the end of the buffer is the end of the text.
    public let isComplete: Bool
    /// Where the buffer starts in the whole text; only errors look at it.
    public let origin: JSONPosition
    /// The offset of the next byte within the buffer.
    public internal(set) var offset = 0
    /// How many objects and arrays are open.
    public private(set) var depth = 0
    /// Whether a comma must stand before the next member or element. One flag is enough for every level:
    /// an opening bracket clears it, and the end of any value, a nested one included, sets it.
    var needsComma = false

    /// Makes a scanner over memory that the caller keeps alive and unchanged while it scans.
    ///
    /// - Parameters:
    ///   - bytes: the text or a part of it.
    ///   - isComplete: whether nothing follows the buffer.
    ///   - origin: where the buffer starts in the whole text.
    ///   - offset: where in the buffer to start.
    ///   - state: what a scanner knew that had got there before.
    public init(
        _ bytes: UnsafeRawBufferPointer, isComplete: Bool = true, origin: JSONPosition = JSONPosition(),
        startingAt offset: Int = 0, resuming state: State = State()
    ) {
        self.bytes = bytes.bindMemory(to: UInt8.self)
        self.isComplete = isComplete
        self.origin = origin
        depth = state.depth
        needsComma = state.needsComma
        // A byte order mark is not JSON, yet services send it.
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

    /// What a scanner of the next buffer has to know.
    public var state: State {
        var state = State()
        state.depth = depth
        state.needsComma = needsComma
        return state
    }

    // MARK: Looking ahead

    /// Skips white space and tells what comes next, without taking it.
    public mutating func peekKind() throws(JSONError) -> Kind {
        switch try peekByte("a value") {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
        case UInt8(ascii: "n"): .null
        default: throw unexpected("a value")
        }
    }

    /// Skips white space; whether nothing is left in the buffer.
    public mutating func isAtEnd() -> Bool {
        skipWhitespace()
        return offset >= bytes.count
    }

    /// Checks that nothing but white space follows.
    public mutating func expectEnd() throws(JSONError) {
        if !isAtEnd() { throw unexpected("the end of the text") }
    }

    /// The bytes of a range that ``skipValue()`` returned.
    public func rawText(_ range: Range<Int>) -> String {
        String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
    }

    /// The bytes of a range that ``skipValue()`` returned.
    public func rawBytes(_ range: Range<Int>) -> [UInt8] { Array(bytes[range]) }

    // MARK: Objects and arrays

    /// Takes the opening brace of an object.
    public mutating func beginObject() throws(JSONError) { try open(UInt8(ascii: "{"), "an object") }

    /// Takes the opening bracket of an array.
    public mutating func beginArray() throws(JSONError) { try open(UInt8(ascii: "["), "an array") }

    /// Takes the next member's name and its colon, or the closing brace.
    ///
    /// The caller must take or skip the value before it asks for the next key.
    /// - Returns: `nil` when the object has ended.
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

    /// Moves to the next element of an array, or takes the closing bracket.
    ///
    /// - Returns: `false` when the array has ended.
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

    /// Checks the next value, whatever it is, and moves past it.
    ///
    /// - Returns: its bytes within the buffer, so that raw JSON can be kept.
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

    /// Takes `true` or `false`.
    public mutating func readBoolean() throws(JSONError) -> Bool {
        if try peekByte("true or false") == UInt8(ascii: "t") {
            try literal("true", "true or false")
            return true
        }
        try literal("false", "true or false")
        return false
    }

    /// Takes `null`.
    public mutating func readNull() throws(JSONError) { try literal("null", "null") }

    /// Takes `null` where it stands; otherwise takes nothing.
    public mutating func takeNull() throws(JSONError) -> Bool {
        guard try peekByte("a value") == UInt8(ascii: "n") else { return false }
        try readNull()
        return true
    }

    /// Takes a literal of four or five letters that starts with the letter at the offset.
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
            // The word may go on.
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

    /// Skips white space and gives the next byte.
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

    /// An error at the next byte, or at `offset` within the buffer.
    @inline(never)
    public func error(_ reason: JSONError.Reason, at offset: Int? = nil, expected: String) -> JSONError {
        let offset = min(offset ?? self.offset, bytes.count)
        let before = UnsafeBufferPointer(rebasing: bytes[..<offset])
        return JSONError(reason: reason, position: origin.advanced(over: before), expected: expected)
    }

    /// The buffer ended.
    @inline(never)
    func end(_ expected: String) -> JSONError {
        error(isComplete ? .unexpectedEnd : .needsMoreData, at: bytes.count, expected: expected)
    }

    /// An error that says what stands at the next byte instead of what was expected.
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

    /// Whether what is here can still become a byte order mark.
    private var isCutMark: Bool {
        !isComplete && origin.offset == 0 && offset == 0 && bytes.count < 3 && [0xEF, 0xBB].starts(with: bytes)
    }
}
