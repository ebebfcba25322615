import ErrorCodes

/// A place in a JSON text.
public struct JSONPosition: Hashable, Sendable, CustomStringConvertible {
    /// Bytes before it, counted from the start of the whole text.
    public var offset: Int
    /// The line, from 1.
    public var line: Int
    /// The byte within the line, from 1.
    public var column: Int

    /// Makes a position; the default is the start of a text.
    public init(offset: Int = 0, line: Int = 1, column: Int = 1) {
        self.offset = offset
        self.line = line
        self.column = column
    }

    /// The position after some more bytes.
    public func advanced(over bytes: UnsafeBufferPointer<UInt8>) -> JSONPosition {
        var result = self
        result.offset += bytes.count
        // Streams pass all their bytes through here, eight at a time.
        let lines = bytes.count(of: UInt8(ascii: "\n"))
        result.line += lines
        if lines > 0, let last = bytes.lastIndex(of: UInt8(ascii: "\n")) {
            result.column = bytes.count - last
        } else {
            result.column += bytes.count
        }
        return result
    }

    /// Line, column and offset in words.
    public var description: String { "line \(line), column \(column) (byte \(offset))" }
}

/// Why a JSON text cannot be read (RFC 8259), or does not hold what OData puts there
/// (OData JSON Format 4.01, 4.5 and 7.1).
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of error it is.
    public enum Reason: Hashable, Sendable {
        /// The buffer ends within a value, and the caller said that more may come: not an error of the text.
        case needsMoreData
        /// The text ends within a value.
        case unexpectedEnd
        /// Another character or kind of value stands there.
        case unexpected(String)
        /// Objects and arrays are nested deeper than ``JSONScanner/maxDepth``.
        case tooDeep
        /// An object has two members with this name.
        case duplicateMember(String)
        /// The bytes are not UTF-8.
        case invalidUTF8
        /// A character below U+0020 stands unescaped in a string.
        case controlCharacter(UInt8)
        /// A backslash is not followed by a valid escape, or a surrogate has no partner.
        case invalidEscape
        /// The value is well-formed JSON but no value of the type expected.
        case invalidValue(String)
        /// The type declares no such property and is not open.
        case unknownProperty(String)
    }

    /// What is wrong.
    public var reason: Reason
    /// Where.
    public var position: JSONPosition
    /// What was expected there.
    public var expected: String
    /// The property path from the outermost instance, such as `Items/0/Price`; empty at the top.
    public var path: String

    /// Makes an error.
    public init(reason: Reason, position: JSONPosition, expected: String, path: String = "") {
        self.reason = reason
        self.position = position
        self.expected = expected
        self.path = path
    }

    /// Whether more bytes might make the text readable.
    public var needsMoreData: Bool { reason == .needsMoreData }

    /// The same error seen from one level further out.
    public func within(_ name: String) -> JSONError {
        var result = self
        result.path = path.isEmpty ? name : "\(name)/\(path)"
        return result
    }

    /// What is wrong, where, and what was expected.
    public var description: String {
        let place = path.isEmpty ? "\(position)" : "\(position), property \(path)"
        let problem =
            switch reason {
            case .needsMoreData: "the buffer ends within a value"
            case .unexpectedEnd: "the text ends too early"
            case .unexpected(let found): "found \(found)"
            case .tooDeep: "nested too deeply"
            case .duplicateMember(let name): "the member \"\(name)\" stands twice"
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
    /// How often a byte stands in it.
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
