/// Finds the end of a value in a stream that arrives in pieces, and examines each byte once.
///
/// A streaming reader that runs out of bytes within an element passes the following bytes to this type. The reader
/// parses the element again only when the element is complete, so that each element is parsed at most twice. The
/// finder follows only brackets and strings; the scanner checks validity.
public struct JSONBoundaryFinder: Sendable {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var hasStarted = false

    /// Creates a finder for a value that starts with the next byte.
    public init() {}

    /// Examines more bytes.
    ///
    /// - Returns: the number of bytes that belong to the value if it ends among these bytes, or else `nil`. A
    ///   number, `true`, `false` or `null` outside brackets ends at the byte after it.
    public mutating func end(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                    if depth == 0 { return index + 1 }
                }
            } else {
                switch byte {
                case UInt8(ascii: "\""):
                    isInString = true
                    hasStarted = true
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                    hasStarted = true
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    depth -= 1
                    if depth <= 0 { return depth < 0 ? index : index + 1 }
                case UInt8(ascii: ","), 0x20, 0x0A, 0x0D, 0x09:
                    if depth == 0, hasStarted { return index }
                default: hasStarted = true
                }
            }
            index += 1
        }
        return nil
    }
}
