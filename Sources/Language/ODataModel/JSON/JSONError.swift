import ErrorCodes

/// A position in a JSON text.
public struct JSONPosition: Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes before the position, from the start of the whole text.
    public var offset: Int
    /// The line, counted from 1.
    public var line: Int
    /// The byte within the line, counted from 1.
    public var column: Int

    /// Creates a position; the default is the start of a text.
    public init(offset: Int = 0, line: Int = 1, column: Int = 1) {
        self.offset = offset
        self.line = line
        self.column = column
    }

    /// Returns the position after some more bytes.
    public func advanced(over bytes: UnsafeBufferPointer<UInt8>) -> JSONPosition {
        var result = self
        result.offset += bytes.count
        // Newlines are counted eight bytes at a time, because streams pass all their bytes through this method.
        let lines = bytes.count(of: UInt8(ascii: "\n"))
        result.line += lines
        if lines > 0, let last = bytes.lastIndex(of: UInt8(ascii: "\n")) {
            result.column = bytes.count - last
        } else {
            result.column += bytes.count
        }
        return result
    }

    /// A description with line, column and offset.
    public var description: String { "line \(line), column \(column) (byte \(offset))" }
}

/// An error in a JSON text: the text is malformed (RFC 8259), or its content is not valid in OData (OData JSON
/// Format 4.01, 4.5 and 7.1).
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    public enum Reason: Hashable, Sendable {
        /// The buffer ends within a value, and the caller stated that more data may follow. The text itself may be
        /// valid.
        case needsMoreData
        /// The text ends within a value.
        case unexpectedEnd
        /// The text contains an unexpected character or kind of value; the associated value describes it.
        case unexpected(String)
        /// Objects and arrays are nested deeper than ``JSONScanner/maxDepth``.
        case tooDeep
        /// An object has two members with this name.
        case duplicateMember(String)
        /// The bytes are not UTF-8.
        case invalidUTF8
        /// A character below U+0020 is unescaped in a string.
        case controlCharacter(UInt8)
        /// A backslash is not followed by a valid escape, or a surrogate has no partner.
        case invalidEscape
        /// The value is well-formed JSON but not valid for the expected type.
        case invalidValue(String)
        /// The type does not declare the property and is not open.
        case unknownProperty(String)
    }

    /// The kind of error.
    public var reason: Reason
    /// The position of the error.
    public var position: JSONPosition
    /// A description of the expected content.
    public var expected: String
    /// The property path from the outermost instance, such as `Items/0/Price`; empty at the top.
    public var path: String

    /// Creates an error.
    public init(reason: Reason, position: JSONPosition, expected: String, path: String = "") {
        self.reason = reason
        self.position = position
        self.expected = expected
        self.path = path
    }

    /// Whether more data could make the text readable.
    public var needsMoreData: Bool { reason == .needsMoreData }

    /// Returns the error with the name of an enclosing property or index prepended to its path.
    public func within(_ name: String) -> JSONError {
        var result = self
        result.path = path.isEmpty ? name : "\(name)/\(path)"
        return result
    }

    /// A message with the error, its position and the expected content.
    public var description: String {
        let place = path.isEmpty ? "\(position)" : "\(position), property \(path)"
        let problem =
            switch reason {
            case .needsMoreData: "the buffer ends within a value"
            case .unexpectedEnd: "the text ends too early"
            case .unexpected(let found): "found \(found)"
            case .tooDeep: "nested too deeply"
            case .duplicateMember(let name): "the member \"\(name)\" appears twice"
            case .invalidUTF8: "not UTF-8"
            case .controlCharacter(let code): "a control character (\(code)) in a string"
            case .invalidEscape: "not a valid escape"
            case .invalidValue(let text): "not a valid value: \(text)"
            case .unknownProperty(let name): "the type declares no property \(name)"
            }
        return "JSON, \(place): \(problem); expected \(expected)."
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns the number of occurrences of a byte.
    func count(of byte: UInt8) -> Int {
        guard let start = UnsafeRawPointer(baseAddress) else { return 0 }
        let pattern = 0x0101_0101_0101_0101 &* UInt64(byte)
        var total = 0
        var index = 0
        while index + 8 <= count {
            // A counter in each byte of a word overflows after 255 rounds.
            let end = Swift.min(index + 255 * 8, count & ~7)
            var counters: UInt64 = 0
            while index < end {
                let word = start.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ pattern
                let nonzero = ((word & 0x7F7F_7F7F_7F7F_7F7F) &+ 0x7F7F_7F7F_7F7F_7F7F) | word
                counters &+= (~nonzero >> 7) & 0x0101_0101_0101_0101
                index += 8
            }
            let pairs = (counters & 0x00FF_00FF_00FF_00FF) &+ ((counters >> 8) & 0x00FF_00FF_00FF_00FF)
            total += Int((pairs &* 0x0001_0001_0001_0001) >> 48)
        }
        while index < count {
            total += self[index] == byte ? 1 : 0
            index += 1
        }
        return total
    }
}

extension JSONError: CodedError {
    /// `json.invalid`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "json.invalid") }
    /// The document cannot be read.
    public var failureKind: FailureKind { .answer }
}
