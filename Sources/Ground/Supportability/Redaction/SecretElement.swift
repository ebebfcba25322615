/// The brackets of a tag: as they are, or escaped for the XML or JSON that holds it.
struct TagBrackets {
    let open: [UInt8]
    let close: [UInt8]

    private static let forms = [
        ("<", ">"), ("&lt;", "&gt;"), ("&#60;", "&#62;"), ("&#x3c;", "&#x3e;"), ("&amp;lt;", "&amp;gt;"),
        ("\\u003c", "\\u003e"),
    ].map { TagBrackets(open: Array($0.utf8), close: Array($1.utf8)) }

    /// Returns the brackets whose first one stands at an index.
    static func opening(in bytes: [UInt8], at index: Int) -> TagBrackets? {
        guard "<&\\".utf8.contains(bytes[index]) else { return nil }
        return forms.first { bytes.holds($0.open, at: index) }
    }
}

/// An element of XML whose content is secret.
struct SecretElement {
    let brackets: TagBrackets
    /// The name in the first tag, with its prefix, in lower case.
    let name: [UInt8]

    /// The parts that a tag's bracket begins and that can hold what looks like a tag.
    private static let sections = [("!--", "--"), ("![cdata[", "]]"), ("?", "?")].map {
        (beginning: Array($0.utf8), ending: Array($1.utf8))
    }

    /// Returns the index of the end tag that belongs to the content from an index on; without one, the end of the text.
    func contentEnd(in bytes: [UInt8], from start: Int) -> Int {
        var (index, depth) = (start, 0)
        while index < bytes.count {
            guard bytes.holds(brackets.open, at: index) else {
                index += 1
                continue
            }
            let tag = index
            index += brackets.open.count
            if let section = Self.sections.first(where: { bytes.holds($0.beginning, at: index) }) {
                index = bytes.end(of: section.ending + brackets.close, from: index + section.beginning.count)
                continue
            }
            var nameStart = index
            // JSON may escape the slash.
            while nameStart < bytes.count, bytes[nameStart] == UInt8(ascii: "\\") { nameStart += 1 }
            let isEndTag = nameStart < bytes.count && bytes[nameStart] == UInt8(ascii: "/")
            if isEndTag { nameStart += 1 }
            guard isName(at: nameStart, in: bytes) else { continue }
            if isEndTag {
                if depth == 0 { return tag }
                depth -= 1
            } else {
                index = tagEnd(in: bytes, from: nameStart)
                if index < bytes.count, bytes[index - 1] != UInt8(ascii: "/") { depth += 1 }
            }
        }
        return bytes.count
    }

    private func isName(at index: Int, in bytes: [UInt8]) -> Bool {
        guard bytes.holds(name, at: index) else { return false }
        let end = index + name.count
        return end == bytes.count || !TextRedactor.isElementName(bytes[end])
    }

    /// The closing bracket of a tag, which is none within quotes.
    private func tagEnd(in bytes: [UInt8], from start: Int) -> Int {
        var index = start
        var quote: UInt8?
        while index < bytes.count {
            let byte = bytes[index]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if bytes.holds(brackets.close, at: index) {
                return index
            }
            index += 1
        }
        return index
    }
}

extension [UInt8] {
    /// Whether a text, which is given in lower case, stands at an index in any case.
    func holds(_ text: [UInt8], at index: Int) -> Bool {
        guard index + text.count <= count else { return false }
        return text.indices.allSatisfy { offset in
            let byte = self[index + offset]
            let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            return (isUpper ? byte + 32 : byte) == text[offset]
        }
    }

    /// The index behind the next occurrence of a text; without one, the end.
    func end(of text: [UInt8], from start: Int) -> Int {
        var index = start
        while index < count, !holds(text, at: index) { index += 1 }
        return Swift.min(index + text.count, count)
    }
}
