import ErrorCodes

/// Any XML document as a tree that keeps everything: elements, attributes, text, comments and instructions in their
/// order, with prefixes and namespaces. It stands beside the typed readers, for what those have no words for.
///
/// ```swift
/// let tree = try XMLTree(parsing: bytes)
/// tree.value(at: "/Edmx/1/DataServices/1")
/// tree.attribute(at: "/feed/1/entry/2/etag", namespace: metadata)
/// ```
///
/// A *route* leads to one element: it starts with `/`, and element names and indices take turns, `/a/1/b/5`; the
/// index counts, from 1, the elements of that name within their parent. One more name at the end leads to an
/// attribute, `/a/1/b/5/attr`.
public struct XMLTree: Hashable, Sendable {
    /// The size of the largest document read, in bytes.
    public static let maxBytes = 64 * 1024 * 1024
    /// How deep elements may be nested.
    public static let maxDepth = 100

    /// The comments and instructions before the root, the root, and those behind it.
    public var nodes: [Node]

    /// Makes a tree.
    public init(nodes: [Node]) { self.nodes = nodes }

    /// One thing in a document.
    public enum Node: Hashable, Sendable {
        /// An element with what is in it.
        case element(Element)
        /// Character data; of neighbouring ones, CDATA sections included, one is made.
        case text(String)
        /// A comment.
        case comment(String)
        /// A processing instruction.
        case instruction(target: String, content: String?)
    }

    /// A name as it stands, with the namespace its prefix means.
    public struct Name: Hashable, Sendable {
        /// The name without its prefix.
        public var local: String
        /// The prefix; `nil` for none.
        public var prefix: String?
        /// The namespace; empty for none.
        public var namespace: String

        /// Makes a name.
        public init(_ local: String, prefix: String? = nil, namespace: String = "") {
            self.local = local
            self.prefix = prefix
            self.namespace = namespace
        }

        /// The name with its prefix.
        public var text: String { prefix.map { "\($0):\(local)" } ?? local }
    }

    /// An attribute.
    public struct Attribute: Hashable, Sendable {
        /// The name.
        public var name: Name
        /// The value.
        public var value: String

        /// Makes an attribute.
        public init(name: Name, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A prefix that an element declares.
    public struct Declaration: Hashable, Sendable {
        /// The prefix; `nil` for the default namespace.
        public var prefix: String?
        /// The namespace.
        public var namespace: String

        /// Makes a declaration.
        public init(prefix: String?, namespace: String) {
            self.prefix = prefix
            self.namespace = namespace
        }
    }

    /// An element.
    public struct Element: Hashable, Sendable {
        /// The name.
        public var name: Name
        /// The prefixes it declares, in document order.
        public var declarations: [Declaration]
        /// The attributes in document order.
        public var attributes: [Attribute]
        /// What is in it, in document order.
        public var children: [Node]

        /// Makes an element.
        public init(
            name: Name, declarations: [Declaration] = [], attributes: [Attribute] = [], children: [Node] = []
        ) {
            self.name = name
            self.declarations = declarations
            self.attributes = attributes
            self.children = children
        }

        /// The elements in it.
        public var elements: [Element] {
            children.compactMap { if case .element(let element) = $0 { element } else { nil } }
        }

        /// The character data in it and in the elements within.
        public var text: String {
            var result = ""
            for child in children {
                switch child {
                case .text(let text): result += text
                case .element(let element): result += element.text
                case .comment, .instruction: break
                }
            }
            return result
        }

        /// The value of an attribute.
        ///
        /// - Parameters:
        ///   - name: its name without prefix.
        ///   - namespace: its namespace; empty for an attribute without prefix.
        public func attribute(_ name: String, namespace: String = "") -> String? {
            attributes.first { $0.name.local == name && $0.name.namespace == namespace }?.value
        }
    }

    /// The outermost element.
    public var root: Element? {
        nodes.lazy.compactMap { if case .element(let element) = $0 { element } else { nil } }.first
    }

    // MARK: Routes

    /// The element that a route leads to.
    ///
    /// - Returns: `nil` where the route is none, or leads to no element.
    public func element(at route: String) -> Element? {
        let segments = Self.segments(route)
        guard segments.count >= 2, segments.count.isMultiple(of: 2) else { return nil }
        var children = nodes
        var result: Element?
        for index in stride(from: 0, to: segments.count, by: 2) {
            guard let position = Int(segments[index + 1]), position >= 1 else { return nil }
            var seen = 0
            result = nil
            for case .element(let element) in children where element.name.local == segments[index] {
                seen += 1
                if seen == position {
                    result = element
                    break
                }
            }
            guard let found = result else { return nil }
            children = found.children
        }
        return result
    }

    /// The text of the element that a route leads to. An index may be left out where there is one element of the
    /// name alone.
    ///
    /// - Returns: `nil` where the route leads to no element, or to several.
    public func value(at route: String) -> String? { uniqueElement(Self.segments(route))?.text }

    /// The value of the attribute that a route leads to.
    ///
    /// - Parameters:
    ///   - route: a route to an element, and the attribute's name.
    ///   - namespace: the attribute's namespace; empty for one without prefix.
    /// - Returns: `nil` where the route leads to no element or to several, or the element has no such attribute.
    public func attribute(at route: String, namespace: String = "") -> String? {
        let segments = Self.segments(route)
        guard let name = segments.last, segments.count > 1 else { return nil }
        return uniqueElement(Array(segments.dropLast()))?.attribute(name, namespace: namespace)
    }

    private static func segments(_ route: String) -> [String] {
        guard route.hasPrefix("/") else { return [] }
        return route.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }

    private func uniqueElement(_ segments: [String]) -> Element? {
        var children = nodes
        var result: Element?
        var index = 0
        while index < segments.count {
            let name = segments[index]
            let elements = children.compactMap { node -> Element? in
                if case .element(let element) = node, element.name.local == name { element } else { nil }
            }
            index += 1
            if index < segments.count, let position = Int(segments[index]) {
                guard elements.indices.contains(position - 1) else { return nil }
                result = elements[position - 1]
                index += 1
            } else {
                guard elements.count == 1 else { return nil }
                result = elements[0]
            }
            children = result?.children ?? []
        }
        return result
    }
}

/// Why a document is no XML that is read.
public struct XMLTreeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of error it is.
    public enum Reason: Hashable, Sendable {
        /// There is nothing to read.
        case empty
        /// The document is not well-formed; the parser's own words.
        case malformed(String)
        /// The document ends before it is complete.
        case truncated
        /// The document has a DOCTYPE: entities are never declared, expanded or loaded.
        case documentType
        /// The document is larger than ``XMLTree/maxBytes``.
        case tooLarge
        /// Elements are nested deeper than ``XMLTree/maxDepth``.
        case tooDeep
    }

    /// What is wrong.
    public var reason: Reason
    /// The line, from 1.
    public var line: Int
    /// The column, from 1.
    public var column: Int
    /// What was expected there.
    public var expected: String

    /// Makes an error.
    public init(reason: Reason, line: Int, column: Int, expected: String) {
        self.reason = reason
        self.line = line
        self.column = column
        self.expected = expected
    }

    /// What is wrong, where, and what was expected.
    public var description: String {
        let problem =
            switch reason {
            case .empty: "the document is empty"
            case .malformed(let words): "not well-formed: \(words)"
            case .truncated: "the document ends too early"
            case .documentType: "the document has a DOCTYPE, which is refused"
            case .tooLarge: "the document is larger than \(XMLTree.maxBytes) bytes"
            case .tooDeep: "elements are nested deeper than \(XMLTree.maxDepth) levels"
            }
        return "XML, line \(line), column \(column): \(problem); expected \(expected)."
    }
}

extension XMLTreeError: CodedError {
    /// `xml.invalid`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "xml.invalid") }
    /// The document cannot be read.
    public var failureKind: FailureKind { .answer }
}
