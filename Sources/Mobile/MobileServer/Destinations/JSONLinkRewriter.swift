/// Rewrites the links of a JSON body: values of control information, never values of properties (OData JSON Format 4.01,
/// 4.6; OData 2.0 JSON Format).
///
/// The body passes through as it is; only a name and the value of a link are held. A link that is longer than
/// ``linkLimit`` passes unchanged.
struct JSONLinkRewriter: BodyRewriter {
    /// The greatest length of a link in bytes.
    static let linkLimit = 16_384
    private static let nameLimit = 512
    private static let depthLimit = 512

    /// The kind of body, which decides about names that are links only there.
    enum Content: Sendable {
        case plain
        /// A service document; its entries have a `url`.
        case serviceDocument
        /// References of OData 2.0 with a bare `uri`.
        case references
        /// A `$batch` in JSON. Its URLs must lie below the root in a request.
        case batch(isRequest: Bool)
    }

    private struct Level {
        var isObject: Bool
        /// The name under which the object or array stands.
        var name: String
        /// The last name in the object.
        var member = ""
        var expectsName: Bool
        /// Whether the object describes a removed entity or a relation, so that `id`, `source` and `target` are links.
        var isDeltaItem = false
    }

    private let map: LinkMap
    private let content: Content
    private var levels: [Level] = []
    private var isInString = false
    private var isEscaped = false
    private var isHolding = false
    private var isName = false
    private var held: [UInt8] = []

    init(_ map: LinkMap, content: Content) {
        self.map = map
        self.content = content
    }

    mutating func take(_ chunk: [UInt8]) throws -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(chunk.count + 64)
        for byte in chunk {
            if isInString { try takeInString(byte, &out) } else { takeOutside(byte, &out) }
        }
        return out
    }

    mutating func finish() throws -> [UInt8] {
        defer { held = [] }
        return held
    }

    private mutating func takeOutside(_ byte: UInt8, _ out: inout [UInt8]) {
        out.append(byte)
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard levels.count < Self.depthLimit else { return }
            let isObject = byte == UInt8(ascii: "{")
            let name = levels.last.map { $0.isObject ? $0.member : $0.name } ?? ""
            levels.append(Level(isObject: isObject, name: name, expectsName: isObject))
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            _ = levels.popLast()
        case UInt8(ascii: ","):
            if let last = levels.indices.last, levels[last].isObject { levels[last].expectsName = true }
        case UInt8(ascii: "\""):
            isInString = true
            isName = levels.last?.expectsName == true
            isHolding = isName || isLink
        default: break
        }
    }

    private mutating func takeInString(_ byte: UInt8, _ out: inout [UInt8]) throws {
        if !isEscaped, byte == UInt8(ascii: "\"") {
            isInString = false
            if isHolding { try settle(&out) }
            out.append(byte)
            return
        }
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        guard isHolding else { return out.append(byte) }
        held.append(byte)
        if held.count > (isName ? Self.nameLimit : Self.linkLimit) {
            isHolding = false
            if isName, let last = levels.indices.last {
                (levels[last].member, levels[last].expectsName) = ("", false)
            }
            out += held
            held = []
        }
    }

    /// Ends a held string: notes a name, or writes a link.
    private mutating func settle(_ out: inout [UInt8]) throws {
        defer {
            held = []
            isHolding = false
        }
        let text = String(decoding: held, as: UTF8.self)
        if isName {
            out += held
            if let last = levels.indices.last { (levels[last].member, levels[last].expectsName) = (text, false) }
            return
        }
        // The only escape that writers use in links.
        let link = text.contains("\\") ? text.replacing("\\/", with: "/") : text
        if isContext, let last = levels.indices.last {
            levels[last].isDeltaItem = ["/$deletedEntity", "/$link", "/$deletedLink"].contains { link.hasSuffix($0) }
        }
        if case .batch(isRequest: true) = content, levels.last?.member == "url", !map.isInside(link) {
            throw ForeignLink()
        }
        out += map.mapped(link).map { Array($0.utf8) } ?? held
    }

    /// The name of the value that begins.
    private var current: String { levels.last.map { $0.isObject ? $0.member : $0.name } ?? "" }

    private var isContext: Bool { Self.control(current) == "context" }

    /// Whether the value that begins is a link.
    private var isLink: Bool {
        guard let level = levels.last else { return false }
        let name = current
        if let control = Self.control(name) { return Self.controls.contains(control) }
        switch name {
        case "__next", "__delta": return true
        case "uri", "id", "media_src", "edit_media":
            if level.name == "__metadata" || level.name == "__deferred" { return true }
            if name == "uri", case .references = content { return true }
            return name == "id" && level.isDeltaItem
        case "source", "target": return level.isDeltaItem
        case "url":
            switch content {
            case .serviceDocument: return true
            case .batch: return levels.count == 3
            default: return false
            }
        default:
            guard case .batch(isRequest: false) = content, level.name == "headers", levels.count == 4 else {
                return false
            }
            return ["location", "odata-entityid", "content-location"].contains(name.lowercased())
        }
    }

    /// Returns the name of a control information without its prefix, or `nil` for another name.
    private static func control(_ name: String) -> String? {
        guard let at = name.lastIndex(of: "@") else { return nil }
        let rest = name[name.index(after: at)...]
        return String(rest.hasPrefix("odata.") ? rest.dropFirst(6) : rest)
    }

    private static let controls: Set = [
        "context", "nextLink", "deltaLink", "id", "editLink", "readLink", "mediaReadLink", "mediaEditLink",
        "navigationLink", "associationLink", "bind",
    ]
}
