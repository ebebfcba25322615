/// Writes indented XML with elements, attributes and text. Escapes ensure that a parser returns the same
/// characters.
package struct XMLOutput {
    package private(set) var bytes: [UInt8] = []
    /// The names of the open elements, each with a flag whether it has content.
    private var open: [(name: String, hasContent: Bool)] = []
    private var depth: Int { open.count }
    private let baseDepth: Int
    /// Whether all characters of attributes and texts were valid in XML.
    private(set) var isWhole = true

    package init(indentedBy baseDepth: Int = 0) { self.baseDepth = baseDepth }

    package mutating func declaration() {
        bytes.append(contentsOf: "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n".utf8)
    }

    package mutating func begin(_ name: String) {
        closeStartTag()
        indent()
        bytes.append(UInt8(ascii: "<"))
        bytes.append(contentsOf: name.utf8)
        open.append((name, false))
    }

    /// Writes an attribute; valid only directly after ``begin(_:)``.
    package mutating func attribute(_ name: String, _ value: String?) {
        guard let value else { return }
        bytes.append(UInt8(ascii: " "))
        bytes.append(contentsOf: name.utf8)
        bytes.append(contentsOf: "=\"".utf8)
        if !Self.escape(value, inAttribute: true, to: &bytes) { isWhole = false }
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func attribute(_ name: String, _ value: Bool, unless usual: Bool) {
        if value != usual { attribute(name, value ? "true" : "false") }
    }

    package mutating func end() {
        guard let (name, hasContent) = open.popLast() else { return }
        if hasContent {
            indent()
            bytes.append(contentsOf: "</\(name)>\n".utf8)
        } else {
            bytes.append(contentsOf: "/>\n".utf8)
        }
    }

    /// Writes an element with attributes and text.
    package mutating func element(_ name: String, _ attributes: [(String, String)] = [], text: String) {
        beginElement(name, attributes)
        if !Self.escape(text, inAttribute: false, to: &bytes) { isWhole = false }
        bytes.append(contentsOf: "</\(name)>\n".utf8)
    }

    /// Writes an element whose content is XML text.
    package mutating func element(_ name: String, _ attributes: [(String, String)], xml: String) {
        beginElement(name, attributes)
        bytes.append(contentsOf: "\(xml)</\(name)>\n".utf8)
    }

    private mutating func beginElement(_ name: String, _ attributes: [(String, String)]) {
        closeStartTag()
        indent()
        bytes.append(contentsOf: "<\(name)".utf8)
        for (name, value) in attributes { attribute(name, value) }
        bytes.append(UInt8(ascii: ">"))
    }

    /// Returns the text with special characters replaced by references.
    package static func escaped(_ text: String, inAttribute: Bool = false) -> String {
        var bytes: [UInt8] = []
        escape(text, inAttribute: inAttribute, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the output and empties the buffer; open elements remain open.
    package mutating func takeBytes() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    /// Appends elements that another writer has written with the right indentation.
    package mutating func append(_ other: XMLOutput) {
        guard !other.bytes.isEmpty else { return }
        closeStartTag()
        bytes.append(contentsOf: other.bytes)
        if !other.isWhole { isWhole = false }
    }

    private mutating func closeStartTag() {
        guard let last = open.indices.last, !open[last].hasContent else { return }
        open[last].hasContent = true
        bytes.append(contentsOf: ">\n".utf8)
    }

    private mutating func indent() {
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * (depth + baseDepth)))
    }

    /// Returns whether XML allows all characters of a text. XML excludes most control characters, U+FFFE and U+FFFF
    /// (XML 1.0, 2.2).
    package static func canSay(_ text: String) -> Bool {
        var bytes: [UInt8] = []
        return escape(text, inAttribute: false, to: &bytes)
    }

    /// Writes text with escapes and leaves out characters that XML does not allow.
    ///
    /// White space other than blanks is written as references in attributes, in which a parser would replace it by
    /// blanks. Carriage returns, which a parser would drop, are always written as references.
    ///
    /// - Returns: whether the whole text was written.
    @discardableResult
    static func escape(_ text: String, inAttribute: Bool, to bytes: inout [UInt8]) -> Bool {
        var isWhole = true
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes.append(contentsOf: "&amp;".utf8)
            case UInt8(ascii: "<"): bytes.append(contentsOf: "&lt;".utf8)
            case UInt8(ascii: ">"): bytes.append(contentsOf: "&gt;".utf8)
            case UInt8(ascii: "\"") where inAttribute: bytes.append(contentsOf: "&quot;".utf8)
            case 0x0D: bytes.append(contentsOf: "&#13;".utf8)
            case 0x0A where inAttribute: bytes.append(contentsOf: "&#10;".utf8)
            case 0x09 where inAttribute: bytes.append(contentsOf: "&#9;".utf8)
            case 0x09, 0x0A: bytes.append(byte)
            case 0x00..<0x20: isWhole = false
            case 0xBE...0xBF where bytes.suffix(2).elementsEqual([0xEF, 0xBF]):
                // The last byte of U+FFFE or U+FFFF.
                bytes.removeLast(2)
                isWhole = false
            default: bytes.append(byte)
            }
        }
        return isWhole
    }
}
