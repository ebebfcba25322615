extension JSONScanner {
    /// Moves past the next value, which need not be valid JSON. Only its strings and brackets are followed.
    ///
    /// - Returns: the range of the value in the buffer.
    /// - Throws: ``JSONError`` if the value has no end.
    package mutating func skipUncheckedValue() throws(JSONError) -> Range<Int> {
        skipWhitespace()
        let start = offset
        var finder = JSONBoundaryFinder()
        guard let length = finder.end(in: UnsafeBufferPointer(rebasing: bytes[start...])), length > 0 else {
            throw end("the end of a value")
        }
        offset = start + length
        needsComma = true
        return start..<offset
    }
}
