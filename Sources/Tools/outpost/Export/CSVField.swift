import ToolLanguage

/// A field of a CSV line by RFC 4180.
enum CSVField {
    /// Returns a field. Empty text is quoted: an empty field without quotation marks is null.
    ///
    /// - Parameter isShown: whether the line goes to a terminal, so that each value stays on its line.
    static func text(_ value: String, isShown: Bool) -> String {
        let text = isShown ? HarmlessText.line(value) : value
        let special = [UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "\n"), UInt8(ascii: "\r")]
        guard text.isEmpty || text.utf8.contains(where: { special.contains($0) }) else { return text }
        // The text is read by bytes, because a combining mark may join a quotation mark to one character.
        var bytes = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") { bytes.append(byte) }
            bytes.append(byte)
        }
        return String(decoding: bytes + [UInt8(ascii: "\"")], as: UTF8.self)
    }
}
