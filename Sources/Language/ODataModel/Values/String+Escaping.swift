/// Escaping by bytes. As a `Character`, a quote and a following combining mark would be one character other than a
/// quote.
extension String {
    /// Returns the text with every `mark` doubled, like quotes in quoted text of URLs and SQL.
    ///
    /// - Parameter mark: an ASCII character.
    package func doubling(_ mark: UInt8) -> String { escaping([mark], with: mark) }

    /// Returns the text with every pair of `mark` reduced to one; single marks remain.
    ///
    /// - Parameter mark: an ASCII character.
    package func undoubling(_ mark: UInt8) -> String {
        guard utf8.contains(mark) else { return self }
        var bytes: [UInt8] = []
        var isSecond = false
        for byte in utf8 {
            let isPair = byte == mark && isSecond
            if !isPair { bytes.append(byte) }
            isSecond = byte == mark && !isPair
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the text with `escape` before each of `marks`, as in quoted text of header fields and JSON.
    ///
    /// - Parameters:
    ///   - marks: ASCII characters.
    ///   - escape: an ASCII character.
    package func escaping(_ marks: [UInt8], with escape: UInt8) -> String {
        guard utf8.contains(where: marks.contains) else { return self }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count + 8)
        for byte in utf8 {
            if marks.contains(byte) { bytes.append(escape) }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
