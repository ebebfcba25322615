import ODataModel

/// A link of an Atom entry that does not represent a property (RFC 4287, 4.2.7), such as a gateway's actions, icons
/// and subscriptions.
public struct AtomLink: Hashable, Sendable {
    /// The relation, which defines the meaning of the link.
    public var relation: String
    /// The target of the link.
    public var url: String
    /// The media type of the target.
    public var type: String?
    /// The title for display.
    public var title: String?
    /// The attributes of other namespaces by local name, such as a gateway's `http-method`.
    public var attributes: [String: String]

    /// Creates a link.
    public init(
        relation: String, url: String, type: String? = nil, title: String? = nil, attributes: [String: String] = [:]
    ) {
        self.relation = relation
        self.url = url
        self.type = type
        self.title = title
        self.attributes = attributes
    }

    /// Takes a link from its element; `nil` if the element has no relation.
    ///
    /// - Parameter base: the URL that relative ones are resolved against.
    init?(_ link: XMLFragment, base: String?) {
        guard let relation = link.attribute("rel") else { return nil }
        self.init(
            relation: relation, url: link.attribute("href").map { LinkBase.resolve($0, base) } ?? "",
            type: link.attribute("type"), title: link.attribute("title"))
        for attribute in link.attributes where !attribute.namespace.isEmpty {
            attributes[attribute.name] = attribute.value
        }
    }

    /// The HTTP method to follow an action link with; `GET` where none is stated.
    public var httpMethod: String { attributes["http-method"] ?? attributes["httpMethod"] ?? "GET" }

    /// The purpose of the link, if a gateway states it: `sap:semantics`.
    public var semantics: String? { attributes["semantics"] }

    /// The names of the parameters of an action link: the placeholders in braces, followed by query parameters.
    public var parameters: [String] {
        var names = URLTemplate(url).names.map(\.name)
        for pair in URLTemplate(url).query where !names.contains(pair.name) { names.append(pair.name) }
        return names
    }

    /// The unescaped values in the query of an action link, by parameter name.
    public var defaultParameterValues: [String: String] {
        var values: [String: String] = [:]
        for pair in URLTemplate(url).query where !pair.value.contains("{") { values[pair.name] = pair.value }
        return values
    }

    /// Returns the URL of an action link with parameters.
    ///
    /// A parameter replaces the placeholder `{name}` or the value in the query. All other parameters are added to
    /// the query.
    ///
    /// - Parameter parameters: the values by name; characters such as `%` and `&` are escaped.
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

/// Terms for information of Atom entries besides the entity. The information is kept as annotations whose terms
/// start with `atom.`, so that all formats preserve it.
enum AtomAnnotation {
    static let links = "atom.links"
    static let texts = ["title", "summary", "updated", "published", "rights"]
    static let authorName = "atom.authorName"
    static let authorEmail = "atom.authorEmail"
    static let authorURI = "atom.authorUri"
}

extension ODataEntity {
    /// The links of an Atom entry that do not represent properties, in document order.
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

/// A URL with placeholders in braces (OpenSearch 1.1, *OpenSearch URL template syntax*).
struct URLTemplate {
    private var url: String

    init(_ url: String) { self.url = url }

    /// The names in braces, without the question mark that follows optional names.
    var names: [(name: String, isOptional: Bool)] {
        url.parts(between: "{", keepingEmpty: true).dropFirst().compactMap { part in
            guard let name = part.halves(atFirst: "}")?.before else { return nil }
            return name.ends(with: "?") ? (String(name.unicodeScalars.dropLast()), true) : (String(name), false)
        }
    }

    /// Fills in a placeholder; returns `false` if there is none with the name.
    mutating func replace(_ name: String, with value: String) -> Bool {
        var isFound = false
        for place in ["{\(name)}", "{\(name)?}"] where url.firstRange(of: place) != nil {
            url.replace(place, with: Self.escaped(value))
            isFound = true
        }
        return isFound
    }

    /// The unescaped parameters of the query.
    var query: [(name: String, value: String)] {
        guard let behind = url.halves(atFirst: "?")?.behind else { return [] }
        return (behind.halves(atFirst: "#")?.before ?? behind).parts(between: "&").map { pair in
            let (name, value) = pair.halves(atFirst: "=") ?? (pair, "")
            return (String(name).removingPercentEncoding(), String(value).removingPercentEncoding())
        }
    }

    /// Replaces the value of a query parameter; returns `false` if there is none with the name.
    mutating func replaceInQuery(_ name: String, with value: String) -> Bool {
        guard let behind = url.halves(atFirst: "?")?.behind, query.contains(where: { $0.name == name }) else {
            return false
        }
        let options = behind.halves(atFirst: "#")?.before ?? behind
        let pairs = options.parts(between: "&").map { pair in
            let key = String(pair.halves(atFirst: "=")?.before ?? pair)
            return key.removingPercentEncoding() == name ? "\(key)=\(Self.escaped(value))" : String(pair)
        }
        url.replaceSubrange(options.startIndex..<options.endIndex, with: pairs.joined(separator: "&"))
        return true
    }

    /// Returns the URL with parameters added to its query.
    func text(adding parameters: [(String, String)]) -> String {
        var result = url
        for (name, value) in parameters {
            result += result.has("?") ? (result.ends(with: "?") || result.ends(with: "&") ? "" : "&") : "?"
            result += "\(Self.escaped(name))=\(Self.escaped(value))"
        }
        return result
    }

    /// Returns the text with all bytes escaped except unreserved characters (RFC 3986, 2.3).
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
