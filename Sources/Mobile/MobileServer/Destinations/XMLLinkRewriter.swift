/// Rewrites the links of an XML body: attributes and elements of Atom and CSDL that hold URLs, never values of
/// properties (RFC 4287, 4.2; OData Atom Format 4.0).
///
/// The body passes through as it is; only a tag and the text of an element with a link are held.
struct XMLLinkRewriter: BodyRewriter {
    /// The greatest length of a tag in bytes. A longer one passes unchanged.
    static let tagLimit = 65_536

    private enum Place { case text, tag, quoted(UInt8), comment, section, instruction }

    private let map: LinkMap
    private var place = Place.text
    private var held: [UInt8] = []
    /// The text of an element with a link, until its end.
    private var text: [UInt8]?
    /// The number of open elements `properties`.
    private var depthInProperties = 0
    private var isTooLong = false

    init(_ map: LinkMap) { self.map = map }

    mutating func take(_ chunk: [UInt8]) throws -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(chunk.count + 64)
        for byte in chunk { take(byte, &out) }
        return out
    }

    mutating func finish() throws -> [UInt8] {
        defer { (held, text) = ([], nil) }
        return (text ?? []) + held
    }

    private mutating func take(_ byte: UInt8, _ out: inout [UInt8]) {
        switch place {
        case .text:
            guard byte == UInt8(ascii: "<") else {
                guard text != nil else { return out.append(byte) }
                text?.append(byte)
                if (text?.count ?? 0) > JSONLinkRewriter.linkLimit { flushText(&out) }
                return
            }
            settleText(&out)
            held = [byte]
            place = .tag
        case .tag:
            hold(byte, &out)
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { place = .quoted(byte) }
            if byte == UInt8(ascii: ">") { settleTag(&out) }
            if held.count == 2, byte == UInt8(ascii: "?") { place = .instruction }
            if held.count == 4, held.elementsEqual("<!--".utf8) { place = .comment }
            if held.count == 9, held.elementsEqual("<![CDATA[".utf8) { place = .section }
        case .quoted(let quote):
            hold(byte, &out)
            if byte == quote { place = .tag }
        case .comment: pass(byte, until: "-->", &out)
        case .section: pass(byte, until: "]]>", &out)
        case .instruction: pass(byte, until: "?>", &out)
        }
    }

    private mutating func hold(_ byte: UInt8, _ out: inout [UInt8]) {
        guard !isTooLong else { return out.append(byte) }
        held.append(byte)
        if held.count > Self.tagLimit {
            isTooLong = true
            out += held
            held = []
        }
    }

    /// Passes a byte of a comment, a section or an instruction, which end with a text.
    private mutating func pass(_ byte: UInt8, until end: String, _ out: inout [UInt8]) {
        held.append(byte)
        if held.suffix(end.utf8.count).elementsEqual(end.utf8) {
            out += held
            held = []
            place = .text
        } else if held.count > 4096 {
            out += held.dropLast(end.utf8.count)
            held.removeFirst(held.count - end.utf8.count)
        }
    }

    private mutating func flushText(_ out: inout [UInt8]) {
        if let text { out += text }
        text = nil
    }

    private mutating func settleText(_ out: inout [UInt8]) {
        guard let bytes = text else { return }
        text = nil
        out += mapped(bytes)
    }

    /// Returns the bytes of a link on the other side, with the white space around it.
    private func mapped(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let space: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        let front = bytes.prefix(while: space)
        let link = String(decoding: bytes.dropFirst(front.count), as: UTF8.self)
        return map.mapped(link).map { Array(front) + Array($0.utf8) } ?? Array(bytes)
    }

    private mutating func settleTag(_ out: inout [UInt8]) {
        place = .text
        defer {
            held = []
            isTooLong = false
        }
        guard !isTooLong else { return }
        let name = held.dropFirst().prefix { !Self.endsName.contains($0) || $0 == UInt8(ascii: "/") && held[1] == $0 }
        let isEnd = name.first == UInt8(ascii: "/")
        let qualified = String(decoding: isEnd ? name.dropFirst() : name, as: UTF8.self)
        let local = qualified.split(separator: ":").last.map(String.init) ?? ""
        let isEmpty = held.dropLast().last == UInt8(ascii: "/")
        if local == "properties", !isEmpty { depthInProperties += isEnd ? -1 : 1 }
        guard !isEnd, held.count > 2, held[1] != UInt8(ascii: "!") else {
            out += held
            return
        }
        writeTag(local, &out)
        // A property is never taken for a link: properties stand in `properties`, or have a prefix.
        let isPlain = !qualified.contains(":") || qualified.hasPrefix("atom:")
        if !isEmpty, depthInProperties == 0, isPlain, Self.elements.contains(local) { text = [] }
    }

    /// Writes the held tag with its links replaced.
    private func writeTag(_ local: String, _ out: inout [UInt8]) {
        var index = 0
        var nameStart = 0
        while index < held.count {
            let byte = held[index]
            guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") else {
                if byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D { nameStart = index + 1 }
                out.append(byte)
                index += 1
                continue
            }
            let end = held[(index + 1)...].firstIndex(of: byte) ?? held.count - 1
            let name = String(decoding: held[nameStart..<index].prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
            out.append(byte)
            let value = held[min(index + 1, end)..<end]
            out += isLink(name, of: local) ? mapped(value) : Array(value)
            if end > index { out.append(held[end]) }
            index = end + 1
        }
    }

    private func isLink(_ attribute: String, of element: String) -> Bool {
        let name = attribute.split(separator: ":").last.map(String.init) ?? attribute
        if attribute.hasPrefix("xmlns") { return false }
        if Self.attributes.contains(name) { return true }
        return element == "ref" && (name == "id" || name == "ref")
    }

    private static let attributes: Set = ["href", "src", "base", "Uri", "context"]
    private static let elements: Set = ["id", "uri", "next"]
    private static let endsName: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ">"), UInt8(ascii: "/")]
}
