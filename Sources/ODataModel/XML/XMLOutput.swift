/// Appends indented XML to a buffer: elements, attributes and text, escaped so that a parser gives back the
/// same characters.
struct XMLOutput {
    private(set) var bytes: [UInt8] = []
    /// The names of the open elements, with whether each has had content.
    private var open: [(name: String, hasContent: Bool)] = []
    private var depth: Int { open.count }
    private let baseDepth: Int

    init(indentedBy baseDepth: Int = 0) { self.baseDepth = baseDepth }

    mutating func declaration() { bytes.append(contentsOf: "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n".utf8) }

    mutating func begin(_ name: String) {
        closeStartTag()
        indent()
        bytes.append(UInt8(ascii: "<"))
        bytes.append(contentsOf: name.utf8)
        open.append((name, false))
    }

    /// Only right after ``begin(_:)``.
    mutating func attribute(_ name: String, _ value: String?) {
        guard let value else { return }
        bytes.append(UInt8(ascii: " "))
        bytes.append(contentsOf: name.utf8)
        bytes.append(contentsOf: "=\"".utf8)
        Self.escape(value, inAttribute: true, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func attribute(_ name: String, _ value: Bool, unless usual: Bool) {
        if value != usual { attribute(name, value ? "true" : "false") }
    }

    mutating func end() {
        guard let (name, hasContent) = open.popLast() else { return }
        if hasContent {
            indent()
            bytes.append(contentsOf: "</\(name)>\n".utf8)
        } else {
            bytes.append(contentsOf: "/>\n".utf8)
        }
    }

    /// An element with text and nothing else.
    mutating func element(_ name: String, text: String) {
        closeStartTag()
        indent()
        bytes.append(contentsOf: "<\(name)>".utf8)
        Self.escape(text, inAttribute: false, to: &bytes)
        bytes.append(contentsOf: "</\(name)>\n".utf8)
    }

    /// Elements that were written apart, at the right depth.
    mutating func append(_ other: XMLOutput) {
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
