/// Byte by byte: to `Character`, a quote and a combining mark behind it are one, which is no quote.
extension String {
    /// The text with every `mark` twice, as quotes stand within quoted text of URLs and of SQL.
    ///
    /// - Parameter mark: a character of ASCII.
    package func doubling(_ mark: UInt8) -> String { escaping([mark], with: mark) }

    /// The text with every pair of `mark` once, and every single one as it is.
    ///
    /// - Parameter mark: a character of ASCII.
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

    /// The text with `escape` before every one of `marks`, as in quoted text of header fields and JSON.
    ///
    /// - Parameters:
    ///   - marks: characters of ASCII.
    ///   - escape: a character of ASCII.
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
