/// Finds where a value ends in a stream that arrives in pieces, looking at each byte once.
///
/// A streaming reader that runs out of bytes within an element feeds the rest through this, and parses
/// again only when the element is complete. So an element of any size is parsed at most twice.
/// It follows brackets and strings only; whether the text is valid is the scanner's business.
public struct JSONBoundaryFinder: Sendable {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var hasStarted = false

    /// Makes a finder for a value that starts with the next byte it is given.
    public init() {}

    /// Looks at more bytes.
    ///
    /// - Returns: how many of them belong to the value when it ends among them, else `nil`. A number,
    ///   `true`, `false` or `null` outside brackets ends at the byte after it.
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
