import ErrorCodes

/// An XML document as a tree that preserves elements, attributes, text, comments and instructions in their order,
/// with prefixes and namespaces. The tree gives access to content that the typed readers do not support.
///
/// ```swift
/// let tree = try XMLTree(parsing: bytes)
/// tree.value(at: "/Edmx/1/DataServices/1")
/// tree.attribute(at: "/feed/1/entry/2/etag", namespace: metadata)
/// ```
///
/// A *route* leads to one element. It starts with `/` and alternates between element names and indices: `/a/1/b/5`.
/// An index counts, from 1, the elements with the name within their parent. An additional name at the end leads to
/// an attribute: `/a/1/b/5/attr`.
public struct XMLTree: Hashable, Sendable {
    /// The maximum size of a document in bytes.
    public static let maxBytes = 64 * 1024 * 1024
    /// The maximum nesting depth of elements.
    public static let maxDepth = 100

    /// The root, with the comments and instructions before and after it.
    public var nodes: [Node]

    /// Creates a tree.
    public init(nodes: [Node]) { self.nodes = nodes }

    /// A node of a document.
    public enum Node: Hashable, Sendable {
        /// An element with its content.
        case element(Element)
        /// Character data; neighbouring texts and CDATA sections are merged.
        case text(String)
        /// A comment.
        case comment(String)
        /// A processing instruction.
        case instruction(target: String, content: String?)
    }

    /// A name with its prefix and the namespace of the prefix.
    public struct Name: Hashable, Sendable {
        /// The name without its prefix.
        public var local: String
        /// The prefix; `nil` for none.
        public var prefix: String?
        /// The namespace; empty for none.
        public var namespace: String

        /// Creates a name.
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

        /// Creates an attribute.
        public init(name: Name, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A namespace declaration of an element.
    public struct Declaration: Hashable, Sendable {
        /// The prefix; `nil` for the default namespace.
        public var prefix: String?
        /// The namespace.
        public var namespace: String

        /// Creates a declaration.
        public init(prefix: String?, namespace: String) {
            self.prefix = prefix
            self.namespace = namespace
        }
    }

    /// An element.
    public struct Element: Hashable, Sendable {
        /// The name.
        public var name: Name
        /// The namespace declarations in document order.
        public var declarations: [Declaration]
        /// The attributes in document order.
        public var attributes: [Attribute]
        /// The content in document order.
        public var children: [Node]

        /// Creates an element.
        public init(
            name: Name, declarations: [Declaration] = [], attributes: [Attribute] = [], children: [Node] = []
        ) {
            self.name = name
            self.declarations = declarations
            self.attributes = attributes
            self.children = children
        }

        /// The elements directly within the element.
        public var elements: [Element] {
            children.compactMap { if case .element(let element) = $0 { element } else { nil } }
        }

        /// The character data of the element and its descendants.
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

        /// Returns the value of an attribute.
        ///
        /// - Parameters:
        ///   - name: the local name.
        ///   - namespace: the namespace; empty for an attribute without prefix.
        public func attribute(_ name: String, namespace: String = "") -> String? {
            attributes.first { $0.name.local == name && $0.name.namespace == namespace }?.value
        }
    }

    /// The root element.
    public var root: Element? {
        nodes.lazy.compactMap { if case .element(let element) = $0 { element } else { nil } }.first
    }

    // MARK: Routes

    /// Returns the element at a route.
    ///
    /// - Returns: `nil` if the route is invalid or leads to no element.
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

    /// Returns the text of the element at a route, whose indices may be omitted for the only element with a name.
    ///
    /// - Returns: `nil` if the route leads to no element, or to several.
    public func value(at route: String) -> String? { uniqueElement(Self.segments(route))?.text }

    /// Returns the value of the attribute at a route.
    ///
    /// - Parameters:
    ///   - route: a route to an element, followed by the attribute's name.
    ///   - namespace: the attribute's namespace; empty for an attribute without prefix.
    /// - Returns: `nil` if the route leads to no element or to several, or the element lacks the attribute.
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

/// An error that prevents reading an XML document.
public struct XMLTreeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    public enum Reason: Hashable, Sendable {
        /// The document is empty.
        case empty
        /// The document is not well-formed; the associated value is the parser's message.
        case malformed(String)
        /// The document ends before it is complete.
        case truncated
        /// The document has a DOCTYPE. Entities are never declared, expanded or loaded.
        case documentType
        /// The document is larger than the caller's limit or ``XMLTree/maxBytes``, with the limit in bytes.
        case tooLarge(limit: Int)
        /// Elements are nested deeper than ``XMLTree/maxDepth``.
        case tooDeep
    }

    /// The kind of error.
    public var reason: Reason
    /// The line, counted from 1.
    public var line: Int
    /// The column, counted from 1.
    public var column: Int
    /// A description of the expected content.
    public var expected: String

    /// Creates an error.
    public init(reason: Reason, line: Int, column: Int, expected: String) {
        self.reason = reason
        self.line = line
        self.column = column
        self.expected = expected
    }

    /// A message with the error, its position and the expected content.
    public var description: String {
        let problem =
            switch reason {
            case .empty: "the document is empty"
            case .malformed(let words): "not well-formed: \(words)"
            case .truncated: "the document ends too early"
            case .documentType: "the document has a DOCTYPE, which is refused"
            case .tooLarge(let limit): "the document is larger than \(limit) bytes"
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
