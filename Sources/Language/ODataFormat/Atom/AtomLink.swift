import ODataModel

/// A link of an Atom entry that stands for no property (RFC 4287, 4.2.7): of gateways, the actions that they offer
/// with an entry, icons, subscriptions and so on.
public struct AtomLink: Hashable, Sendable {
    /// What the link means.
    public var relation: String
    /// Where it leads.
    public var url: String
    /// The media type of what is there.
    public var type: String?
    /// A title for people.
    public var title: String?
    /// The attributes of other namespaces by local name, such as a gateway's `http-method`.
    public var attributes: [String: String]

    /// Makes a link.
    public init(
        relation: String, url: String, type: String? = nil, title: String? = nil, attributes: [String: String] = [:]
    ) {
        self.relation = relation
        self.url = url
        self.type = type
        self.title = title
        self.attributes = attributes
    }

    /// The HTTP method to follow an action link with; `GET` where none is stated.
    public var httpMethod: String { attributes["http-method"] ?? attributes["httpMethod"] ?? "GET" }

    /// What the link is for, where a gateway says so: `sap:semantics`.
    public var semantics: String? { attributes["semantics"] }

    /// The names of the parameters of an action link: the places in braces, then those of its query.
    public var parameters: [String] {
        var names = URLTemplate(url).names.map(\.name)
        for pair in URLTemplate(url).query where !names.contains(pair.name) { names.append(pair.name) }
        return names
    }

    /// The values that the query of an action link has already, unescaped, by the names of the parameters.
    public var defaultParameterValues: [String: String] {
        var values: [String: String] = [:]
        for pair in URLTemplate(url).query where !pair.value.contains("{") { values[pair.name] = pair.value }
        return values
    }

    /// The URL of an action link with parameters put in: each replaces its `{name}` where the URL is a template, or the
    /// value that the query has for it, else it is added to the query.
    ///
    /// - Parameter parameters: text by name; `%`, `&` and the like in them are escaped.
    public func url(with parameters: [String: String]) -> String {
        var template = URLTemplate(url)
        var rest: [(String, String)] = []
        for (name, value) in parameters.sorted(by: { $0.key < $1.key })
        where !template.replace(name, with: value) && !template.replaceInQuery(name, with: value) {
            rest.append((name, value))
        }
        return template.text(adding: rest)
    }
}

/// What Atom says of an entry besides its entity: kept as annotations whose terms start with `atom.`, so that
/// every format carries it on.
enum AtomAnnotation {
    static let links = "atom.links"
    static let texts = ["title", "summary", "updated", "published", "rights"]
    static let authorName = "atom.authorName"
    static let authorEmail = "atom.authorEmail"
    static let authorURI = "atom.authorUri"
}

extension ODataEntity {
    /// The links of an Atom entry that stand for no property, in document order.
    public var atomLinks: [AtomLink] {
        get {
            guard case .collection(let values)? = control.annotations[AtomAnnotation.links] else { return [] }
            return values.compactMap { value -> AtomLink? in
                guard case .complex(let members) = value else { return nil }
                func text(_ name: String) -> String? {
                    if case .string(let text)? = members[name] { text } else { nil }
                }
                guard let relation = text("rel"), let url = text("href") else { return nil }
                var link = AtomLink(relation: relation, url: url, type: text("type"), title: text("title"))
                if case .complex(let attributes)? = members["attributes"] {
                    for (name, value) in attributes.dynamicProperties {
                        if case .string(let text) = value { link.attributes[name] = text }
                    }
                }
                return link
            }
        }
        set {
            let values = newValue.map { link -> ODataValue in
                var members = ODataEntity(shape: .untyped, ["rel": .string(link.relation), "href": .string(link.url)])
                if let type = link.type { members["type"] = .string(type) }
                if let title = link.title { members["title"] = .string(title) }
                if !link.attributes.isEmpty {
                    let attributes = ODataEntity(shape: .untyped, link.attributes.mapValues { .string($0) })
                    members["attributes"] = .complex(attributes)
                }
                return .complex(members)
            }
            control.annotations[AtomAnnotation.links] = values.isEmpty ? nil : .collection(values)
        }
    }
}

/// A URL with places in braces to be filled in (OpenSearch 1.1, *OpenSearch URL template syntax*).
struct URLTemplate {
    private var url: String

    init(_ url: String) { self.url = url }

    /// The names in braces; optional ones end in a question mark there, which is left out here.
    var names: [(name: String, isOptional: Bool)] {
        url.split(separator: "{", omittingEmptySubsequences: false).dropFirst().compactMap { part in
            guard let end = part.firstIndex(of: "}") else { return nil }
            let name = part[..<end]
            return name.hasSuffix("?") ? (String(name.dropLast()), true) : (String(name), false)
        }
    }

    /// Fills a place in; `false` when there is none of that name.
    mutating func replace(_ name: String, with value: String) -> Bool {
        var isFound = false
        for place in ["{\(name)}", "{\(name)?}"] where url.firstRange(of: place) != nil {
            url.replace(place, with: Self.escaped(value))
            isFound = true
        }
        return isFound
    }

    /// The parameters of the query, unescaped.
    var query: [(name: String, value: String)] {
        guard let mark = url.firstIndex(of: "?") else { return [] }
        return url[url.index(after: mark)...].prefix { $0 != "#" }.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return (parts[0].removingPercentEncoding(), parts.count > 1 ? parts[1].removingPercentEncoding() : "")
        }
    }

    /// Gives a parameter of the query another value; `false` when there is none of that name.
    mutating func replaceInQuery(_ name: String, with value: String) -> Bool {
        guard let mark = url.firstIndex(of: "?"), query.contains(where: { $0.name == name }) else { return false }
        let start = url.index(after: mark)
        let end = url[start...].firstIndex(of: "#") ?? url.endIndex
        let pairs = url[start..<end].split(separator: "&").map { pair in
            let key = String(pair.prefix { $0 != "=" })
            return key.removingPercentEncoding() == name ? "\(key)=\(Self.escaped(value))" : String(pair)
        }
        url.replaceSubrange(start..<end, with: pairs.joined(separator: "&"))
        return true
    }

    /// The URL with parameters added to its query.
    func text(adding parameters: [(String, String)]) -> String {
        var result = url
        for (name, value) in parameters {
            result += result.contains("?") ? (result.hasSuffix("?") || result.hasSuffix("&") ? "" : "&") : "?"
            result += "\(Self.escaped(name))=\(Self.escaped(value))"
        }
        return result
    }

    /// Every byte escaped that has a meaning in a URL (RFC 3986, 2.3).
    static func escaped(_ text: String) -> String {
        var result: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.append(byte)
            default: result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
