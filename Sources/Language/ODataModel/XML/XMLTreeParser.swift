import CLibXML2

extension XMLTree {
    /// Parses a document.
    ///
    /// - Throws: ``XMLTreeError`` with the line, the column and the expected content.
    public init(parsing bytes: [UInt8]) throws(XMLTreeError) {
        guard bytes.count <= Self.maxBytes else {
            throw XMLTreeError(reason: .tooLarge, line: 1, column: 1, expected: "a smaller document")
        }
        guard bytes.contains(where: { $0 > 0x20 }) else {
            throw XMLTreeError(reason: .empty, line: 1, column: 1, expected: "an XML document")
        }
        self.init(nodes: try XMLTreeParser.parse(bytes))
    }
}

/// Builds a tree from libxml2's SAX2 events. C callbacks access the parser through a pointer that is valid during
/// one call.
private struct XMLTreeParser {
    private var context: xmlParserCtxtPtr?
    private var failure: XMLTreeError?
    /// The open elements, outermost first.
    private var open: [XMLTree.Element] = []
    private var nodes: [XMLTree.Node] = []
    /// The character data of the open element that is not yet part of a node.
    private var text: [UInt8] = []

    static func parse(_ bytes: [UInt8]) throws(XMLTreeError) -> [XMLTree.Node] {
        let parser = UnsafeMutablePointer<XMLTreeParser>.allocate(capacity: 1)
        parser.initialize(to: XMLTreeParser())
        defer {
            parser.deinitialize(count: 1)
            parser.deallocate()
        }
        var handler = xmlSAXHandler()
        handler.startElementNs = { user, local, prefix, uri, namespaceCount, namespaces, count, _, attributes in
            guard let local else { return }
            XMLTreeParser.of(user)?.pointee.begin(
                XMLTree.Name(String(cString: local), prefix: string(prefix), namespace: string(uri) ?? ""),
                XMLTreeParser.declarations(Int(namespaceCount), namespaces),
                attributes: XMLTreeParser.attributes(Int(count), attributes))
        }
        handler.endElementNs = { user, _, _, _ in XMLTreeParser.of(user)?.pointee.end() }
        handler.characters = { user, text, count in
            XMLTreeParser.of(user)?.pointee.append(UnsafeBufferPointer(start: text, count: Int(count)))
        }
        handler.cdataBlock = handler.characters
        handler.comment = { user, text in
            XMLTreeParser.of(user)?.pointee.add(.comment(string(text) ?? ""))
        }
        handler.processingInstruction = { user, target, content in
            XMLTreeParser.of(user)?.pointee.add(.instruction(target: string(target) ?? "", content: string(content)))
        }
        handler.internalSubset = { user, _, _, _ in
            XMLTreeParser.of(user)?.pointee.stop(.documentType, expected: "a document without DOCTYPE")
        }
        XMLPushParser.run(
            bytes, &handler, user: parser, begin: { parser.pointee.context = $0 },
            isStopped: { parser.pointee.failure != nil },
            ending: { ending in
                switch ending {
                case .done: break
                case .noMemory: parser.pointee.stop(.malformed("no memory"), expected: "a parser")
                case .failed(_, atEnd: true): parser.pointee.stop(.truncated, expected: "the rest of the document")
                case .failed(let message, atEnd: false):
                    parser.pointee.stop(.malformed(message), expected: "well-formed XML")
                }
            })
        if let failure = parser.pointee.failure { throw failure }
        return parser.pointee.nodes
    }

    private static func of(_ user: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<XMLTreeParser>? {
        user?.assumingMemoryBound(to: XMLTreeParser.self)
    }

    private static func declarations(
        _ count: Int, _ values: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
    ) -> [XMLTree.Declaration] {
        guard let values else { return [] }
        return (0..<count).map {
            XMLTree.Declaration(prefix: string(values[$0 * 2]), namespace: string(values[$0 * 2 + 1]) ?? "")
        }
    }

    private static func attributes(
        _ count: Int, _ values: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
    ) -> [XMLTree.Attribute] {
        guard let values else { return [] }
        return (0..<count).compactMap { index in
            // Each attribute has five pointers: local name, prefix, namespace, start and end of the value.
            guard let local = values[index * 5], let start = values[index * 5 + 3], let end = values[index * 5 + 4]
            else { return nil }
            return XMLTree.Attribute(
                name: XMLTree.Name(
                    String(cString: local), prefix: string(values[index * 5 + 1]),
                    namespace: string(values[index * 5 + 2]) ?? ""),
                value: String(decoding: UnsafeBufferPointer(start: start, count: end - start), as: UTF8.self))
        }
    }

    private mutating func stop(_ reason: XMLTreeError.Reason, expected: String) {
        guard failure == nil else { return }
        let (line, column) = XMLPushParser.position(context)
        failure = XMLTreeError(reason: reason, line: Int(line), column: Int(column), expected: expected)
        if let context { xmlStopParser(context) }
    }

    private mutating func begin(
        _ name: XMLTree.Name, _ declarations: [XMLTree.Declaration], attributes: [XMLTree.Attribute]
    ) {
        guard failure == nil else { return }
        if let message = XMLPushParser.namespaceError(
            context, names: [name.local] + attributes.map(\.name.local))
        {
            return stop(.malformed(message), expected: "names with prefixes that are declared")
        }
        guard open.count < XMLTree.maxDepth else {
            return stop(.tooDeep, expected: "at most \(XMLTree.maxDepth) levels")
        }
        flush()
        open.append(XMLTree.Element(name: name, declarations: declarations, attributes: attributes))
    }

    private mutating func end() {
        flush()
        guard let element = open.popLast() else { return }
        add(.element(element))
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<xmlChar>) { text.append(contentsOf: bytes) }

    private mutating func flush() {
        guard !text.isEmpty, !open.isEmpty else { return }
        open[open.count - 1].children.append(.text(String(decoding: text, as: UTF8.self)))
        text.removeAll(keepingCapacity: true)
    }

    private mutating func add(_ node: XMLTree.Node) {
        flush()
        if open.isEmpty { nodes.append(node) } else { open[open.count - 1].children.append(node) }
    }
}

private func string(_ text: UnsafePointer<xmlChar>?) -> String? { text.map { String(cString: $0) } }
