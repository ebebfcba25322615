import CLibXML2

/// Reads one metadata document in XML from chunks as they arrive, and appends it to earlier documents.
struct CSDLXMLReader: ~Copyable {
    private let state: UnsafeMutablePointer<CSDLParser>
    private var parser: XMLPushParser

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - content: the earlier documents.
    ///   - source: the URI of the document; `nil` for the first document.
    ///   - expectedBytes: the size for which capacity is reserved, in bytes. The document may be larger.
    init(behind content: consuming CSDLContent, source: String?, expectedBytes: Int) {
        state = .allocate(capacity: 1)
        content.reserve(documentBytes: expectedBytes)
        state.initialize(to: CSDLParser(content: content, source: source))
        var handler = xmlSAXHandler()
        handler.startElementNs = startElement
        handler.endElementNs = endElement
        handler.characters = characters
        handler.cdataBlock = characters
        handler.internalSubset = documentType
        parser = XMLPushParser(&handler, user: state)
        state.pointee.context = parser.context
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Parses the next chunk.
    ///
    /// - Throws: ``CSDLError`` with the position.
    mutating func append(_ bytes: [UInt8]) throws(CSDLError) {
        let failure = parser.append(bytes, isStopped: { [state] in state.pointee.hasFailed })
        try check(failure)
    }

    /// Marks the end of the document.
    ///
    /// - Returns: the earlier documents with this document.
    /// - Throws: ``CSDLError`` with the position.
    mutating func finish() throws(CSDLError) -> CSDLContent {
        let failure = parser.finish(isStopped: { [state] in state.pointee.hasFailed })
        try check(failure)
        return state.pointee.takeContent()
    }

    private func check(_ failure: XMLPushParser.Failure?) throws(CSDLError) {
        if let failure { state.pointee.fail(failure) }
        if let failure = state.pointee.failure { throw failure }
    }
}

/// Fills a ``CSDLContent`` from libxml2's SAX2 events.
///
/// C callbacks access the parser through a pointer that is valid as long as its ``CSDLXMLReader`` exists. A class would
/// add an exclusivity check to each of many thousand events.
private struct CSDLParser {
    private var content: CSDLContent
    fileprivate var context: xmlParserCtxtPtr?
    fileprivate private(set) var failure: CSDLError? {
        didSet { hasFailed = failure != nil }
    }
    /// A cheap copy of `failure != nil`, which is checked at every event.
    fileprivate private(set) var hasFailed = false
    private let source: String?
    private let firstElement: Int
    private let firstRoot: Int
    private var rootName = ""
    /// Character data since the last tag, within elements that may contain text. Text in all other elements is
    /// formatting.
    private var text: [UInt8] = []
    private var takesText = false
    private var names = AddressTable<(name: CSDLName, otherName: CSDLDocument.Text)>()
    private var namespacesByAddress = AddressTable<Int32>()
    /// The last value of each attribute, by address of its name; -1 for none.
    private var recent: [CSDLDocument.Text] = Array(repeating: -1, count: 64)

    init(content: CSDLContent, source: String?) {
        self.content = content
        self.source = source
        firstElement = content.elements.count
        firstRoot = content.roots.count
    }

    /// Moves the documents to the caller.
    mutating func takeContent() -> CSDLContent {
        var result = content.take()
        for root in firstRoot..<result.roots.count { result.roots[root].source = source }
        return result
    }

    mutating func fail(_ reason: XMLPushParser.Failure) {
        switch reason {
        case .noMemory:
            failure = CSDLError(
                reason: .malformed("no memory"), line: 1, column: 1, expected: "a parser", source: source)
        case .notWellFormed(let message, let atEnd): fail(message, atEnd: atEnd)
        }
    }

    private mutating func fail(_ message: String, atEnd: Bool) {
        guard failure == nil else { return }
        let hasElements = content.elements.count > firstElement
        if !hasElements, !atEnd {
            // A syntax error before the first element means that the document is probably not metadata.
            failure = error(.malformed(message), expected: "an XML document with the root element Edmx")
            return
        }
        if hasElements, rootName.lowercased() == "html" {
            failure = error(.html, expected: "a metadata document")
            return
        }
        failure =
            atEnd
            ? error(.truncated, expected: content.depth == 0 ? "an element" : "the rest of the document")
            : error(.malformed(message), expected: "well-formed XML")
    }

    private func error(_ reason: CSDLError.Reason, expected: String) -> CSDLError {
        let (line, column) = XMLPushParser.position(context)
        return CSDLError(reason: reason, line: Int(line), column: Int(column), expected: expected, source: source)
    }

    /// Stops the parser immediately.
    private mutating func stop(_ error: CSDLError) {
        if failure == nil { failure = error }
        if let context { xmlStopParser(context) }
    }

    /// Returns the name at an address. libxml2 keeps each name once, so that the address identifies the name.
    private mutating func name(
        _ address: UnsafePointer<xmlChar>
    ) -> (name: CSDLName, otherName: CSDLDocument.Text) {
        if let known = names[address] { return known }
        let text = String(cString: address)
        let name = CSDLName(text)
        let result = (name, name == .other ? content.strings.id(text) : -1)
        names.insert(result, at: address)
        return result
    }

    private mutating func namespace(_ address: UnsafePointer<xmlChar>?) -> Int32 {
        guard let address else { return -1 }
        if let known = namespacesByAddress[address] { return known }
        let index = content.namespace(String(cString: address))
        namespacesByAddress.insert(index, at: address)
        return index
    }

    fileprivate mutating func begin(
        _ localName: UnsafePointer<xmlChar>, _ uri: UnsafePointer<xmlChar>?, count: Int32,
        values: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
    ) {
        guard !hasFailed else { return }
        if content.depth == 0 { rootName = String(cString: localName) }
        if let message = XMLPushParser.namespaceError(
            context, names: XMLPushParser.names(localName, count, values: values))
        {
            fail(message, atEnd: false)
            if let context { xmlStopParser(context) }
            return
        }
        guard content.depth < CSDLReader.maxDepth else {
            return stop(error(.tooDeep, expected: "at most \(CSDLReader.maxDepth) levels"))
        }
        guard content.elements.count < CSDLReader.maxElements else {
            return stop(error(.tooManyElements, expected: "at most \(CSDLReader.maxElements) elements"))
        }
        if !text.isEmpty { text.removeAll(keepingCapacity: true) }
        let (line, column) = XMLPushParser.position(context)
        let (name, otherName) = name(localName)
        takesText = name.mayHaveText
        content.begin(name, otherName: otherName, namespace: namespace(uri), line: line, column: column)
        guard let values else { return }
        for attribute in 0..<Int(count) {
            // Each attribute has five pointers: local name, prefix, namespace, start and end of the value.
            guard let local = values[attribute * 5], let start = values[attribute * 5 + 3],
                let end = values[attribute * 5 + 4]
            else { continue }
            let (name, otherName) = self.name(local)
            let value = UnsafeBufferPointer(start: start, count: end - start)
            content.attribute(
                name, otherName: otherName, namespace: namespace(values[attribute * 5 + 2]),
                value: number(of: value, name, local))
        }
    }

    /// Returns the number of an attribute's value. Comparison with the attribute's last value is faster than a
    /// lookup, and most attributes except names repeat their values.
    private mutating func number(
        of value: UnsafeBufferPointer<UInt8>, _ name: CSDLName, _ address: UnsafePointer<xmlChar>
    ) -> CSDLDocument.Text {
        if name == .name { return content.strings.id(value) }
        // Different attributes may share a slot, and a target needs more processing than a number.
        if name == .target { return content.value(value, of: name) }
        let slot = (Int(bitPattern: address) >> 3) & (recent.count - 1)
        if recent[slot] >= 0, content.strings.equals(recent[slot], value) { return recent[slot] }
        recent[slot] = content.value(value, of: name)
        return recent[slot]
    }

    fileprivate mutating func end() {
        takesText = false
        if text.isEmpty {
            content.end()
        } else {
            text.withUnsafeBufferPointer { content.end(text: $0) }
            text.removeAll(keepingCapacity: true)
        }
    }

    fileprivate mutating func append(_ bytes: UnsafeBufferPointer<xmlChar>) {
        guard takesText, !hasFailed else { return }
        text.append(contentsOf: bytes)
    }

    fileprivate mutating func refuseDocumentType(_ name: String) {
        stop(
            name.lowercased() == "html"
                ? error(.html, expected: "a metadata document")
                : error(.documentType, expected: "a document without DOCTYPE"))
    }
}

/// A table of values by the address of a name that libxml2 keeps during parsing. A document has few names and many
/// thousand uses of them.
private struct AddressTable<Value> {
    private var slots: [(address: UnsafePointer<xmlChar>, value: Value)?] = Array(repeating: nil, count: 256)
    private var count = 0

    subscript(address: UnsafePointer<xmlChar>) -> Value? {
        var slot = start(address)
        while let entry = slots[slot] {
            if entry.address == address { return entry.value }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    mutating func insert(_ value: Value, at address: UnsafePointer<xmlChar>) {
        if count * 2 >= slots.count {
            let old = slots
            slots = Array(repeating: nil, count: slots.count * 2)
            count = 0
            for case let entry? in old { insert(entry.value, at: entry.address) }
        }
        var slot = start(address)
        while slots[slot] != nil { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = (address, value)
        count += 1
    }

    private func start(_ address: UnsafePointer<xmlChar>) -> Int {
        let bits = UInt(bitPattern: address)
        return Int(truncatingIfNeeded: (bits ^ (bits >> 7)) &* 0x9E37_79B1) & (slots.count - 1)
    }
}

private func parser(_ context: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<CSDLParser>? {
    context?.assumingMemoryBound(to: CSDLParser.self)
}

private let startElement: startElementNsSAX2Func = { context, localName, _, uri, _, _, count, _, values in
    guard let localName else { return }
    parser(context)?.pointee.begin(localName, uri, count: count, values: values)
}

private let endElement: endElementNsSAX2Func = { context, _, _, _ in parser(context)?.pointee.end() }

private let characters: charactersSAXFunc = { context, text, count in
    parser(context)?.pointee.append(UnsafeBufferPointer(start: text, count: Int(count)))
}

private let documentType: internalSubsetSAXFunc = { context, name, _, _ in
    parser(context)?.pointee.refuseDocumentType(name.map { String(cString: $0) } ?? "")
}
