/// Appends indented XML to a buffer: elements, attributes and text, escaped so that a parser gives back the
/// same characters.
package struct XMLOutput {
    package private(set) var bytes: [UInt8] = []
    /// The names of the open elements, with whether each has had content.
    private var open: [(name: String, hasContent: Bool)] = []
    private var depth: Int { open.count }
    private let baseDepth: Int

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

    /// Only right after ``begin(_:)``.
    package mutating func attribute(_ name: String, _ value: String?) {
        guard let value else { return }
        bytes.append(UInt8(ascii: " "))
        bytes.append(contentsOf: name.utf8)
        bytes.append(contentsOf: "=\"".utf8)
        Self.escape(value, inAttribute: true, to: &bytes)
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

    /// An element with text and nothing else.
    package mutating func element(_ name: String, text: String) {
        closeStartTag()
        indent()
        bytes.append(contentsOf: "<\(name)>".utf8)
        Self.escape(text, inAttribute: false, to: &bytes)
        bytes.append(contentsOf: "</\(name)>\n".utf8)
    }

    /// An element with attributes and text.
    package mutating func element(_ name: String, _ attributes: [(String, String)], text: String) {
        element(name, attributes, xml: Self.escaped(text))
    }

    /// An element whose content is XML already.
    package mutating func element(_ name: String, _ attributes: [(String, String)], xml: String) {
        closeStartTag()
        indent()
        bytes.append(contentsOf: "<\(name)".utf8)
        for (name, value) in attributes { attribute(name, value) }
        bytes.append(contentsOf: ">\(xml)</\(name)>\n".utf8)
    }

    /// Text with what XML gives a meaning written as references.
    package static func escaped(_ text: String, inAttribute: Bool = false) -> String {
        var bytes: [UInt8] = []
        escape(text, inAttribute: inAttribute, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Takes away what has been written so far; the open elements stay open.
    package mutating func takeBytes() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    /// Elements that were written apart, at the right depth.
    package mutating func append(_ other: XMLOutput) {
        guard !other.bytes.isEmpty else { return }
        closeStartTag()
        bytes.append(contentsOf: other.bytes)
    }

    private mutating func closeStartTag() {
        guard let last = open.indices.last, !open[last].hasContent else { return }
        open[last].hasContent = true
        bytes.append(contentsOf: ">\n".utf8)
    }

    private mutating func indent() {
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * (depth + baseDepth)))
    }

    /// White space other than blanks is written as references: a parser would make blanks of it in an
    /// attribute, and drop carriage returns in text. Characters that XML has no way to say are left out.
    static func escape(_ text: String, inAttribute: Bool, to bytes: inout [UInt8]) {
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
            case 0x00..<0x20: break
            default: bytes.append(byte)
            }
        }
    }
}
