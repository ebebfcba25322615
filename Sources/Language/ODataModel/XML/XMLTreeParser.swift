import CLibXML2

extension XMLTree {
    /// Parses a document.
    ///
    /// - Throws: ``XMLTreeError`` with the line, the column and the expected content.
    public init(parsing bytes: [UInt8]) throws(XMLTreeError) {
        var reader = XMLTreeReader(limit: Self.maxBytes)
        try reader.append(bytes)
        self.init(nodes: try reader.finish())
    }

    /// Parses a document from chunks of bytes as they arrive.
    ///
    /// A chunk may end at any byte. After an error, no further chunk is requested.
    ///
    /// - Parameters:
    ///   - chunks: the chunks, such as the body of a response.
    ///   - maxBytes: the maximum size of the document, in bytes. Values above ``maxBytes`` have no effect.
    /// - Throws: ``XMLTreeError`` with the line, the column and the expected content;
    ///   ``XMLTreeError/Reason/tooLarge(limit:)`` if the document is larger than `maxBytes`; `CancellationError`;
    ///   errors of `chunks`.
    public init<Chunks: AsyncSequence>(
        parsing chunks: Chunks, maxBytes: Int = XMLTree.maxBytes
    ) async throws where Chunks.Element: Collection<UInt8> {
        var reader = XMLTreeReader(limit: min(maxBytes, Self.maxBytes))
        try await chunks.forEachChunk { try reader.append(Array($0)) }
        self.init(nodes: try reader.finish())
    }
}

/// Reads the nodes of a document from chunks as they arrive.
private struct XMLTreeReader: ~Copyable {
    private let state: UnsafeMutablePointer<XMLTreeParser>
    private var parser: XMLPushParser
    private var size: DocumentSize
    /// Whether the document contains more than white space.
    private var hasContent = false

    init(limit: Int) {
        size = DocumentSize(limit: limit)
        state = .allocate(capacity: 1)
        state.initialize(to: XMLTreeParser())
        var handler = XMLTreeParser.handler
        parser = XMLPushParser(&handler, user: state)
        state.pointee.context = parser.context
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
    }

    mutating func append(_ bytes: [UInt8]) throws(XMLTreeError) {
        guard size.add(bytes.count) else {
            throw XMLTreeError(
                reason: .tooLarge(limit: size.limit), line: 1, column: 1, expected: "a smaller document")
        }
        hasContent = hasContent || bytes.contains { $0 > 0x20 }
        let failure = parser.append(bytes, isStopped: { [state] in state.pointee.failure != nil })
        try check(failure)
    }

    mutating func finish() throws(XMLTreeError) -> [XMLTree.Node] {
        guard hasContent else {
            throw XMLTreeError(reason: .empty, line: 1, column: 1, expected: "an XML document")
        }
        let failure = parser.finish(isStopped: { [state] in state.pointee.failure != nil })
        try check(failure)
        return state.pointee.nodes
    }

    private func check(_ failure: XMLPushParser.Failure?) throws(XMLTreeError) {
        switch failure {
        case nil: break
        case .noMemory?: state.pointee.stop(.malformed("no memory"), expected: "a parser")
        case .notWellFormed(_, atEnd: true)?: state.pointee.stop(.truncated, expected: "the rest of the document")
        case .notWellFormed(let message, atEnd: false)?:
            state.pointee.stop(.malformed(message), expected: "well-formed XML")
        }
        if let failure = state.pointee.failure { throw failure }
    }
}

/// Builds a tree from libxml2's SAX2 events. C callbacks access the parser through a pointer that is valid as long as
/// its ``XMLTreeReader`` exists.
private struct XMLTreeParser {
    fileprivate var context: xmlParserCtxtPtr?
    fileprivate private(set) var failure: XMLTreeError?
    /// The open elements, outermost first.
    private var open: [XMLTree.Element] = []
    fileprivate private(set) var nodes: [XMLTree.Node] = []
    /// The character data of the open element that is not yet part of a node.
    private var text: [UInt8] = []

    /// The callbacks, which find their parser through the pointer that they get.
    static var handler: xmlSAXHandler {
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
        return handler
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

    fileprivate mutating func stop(_ reason: XMLTreeError.Reason, expected: String) {
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
