import CLibXML2

/// Fills a ``CSDLContent`` from libxml2's SAX2 events.
///
/// C callbacks find it through a pointer that is valid for one call of ``parse(_:into:source:)``; a class would
/// check for exclusive access on each of a hundred thousand events.
struct CSDLParser {
    private var content: CSDLContent
    private var context: xmlParserCtxtPtr?
    private var failure: CSDLError? {
        didSet { hasFailed = failure != nil }
    }
    /// Asked at every event: an error is much to look at.
    private var hasFailed = false
    private let source: String?
    private let firstElement: Int
    private var rootName = ""
    /// Character data since the last tag, within elements that may have some: what stands in others is layout.
    private var text: [UInt8] = []
    private var takesText = false
    private var names = AddressTable<(name: CSDLName, otherName: CSDLDocument.Text)>()
    private var namespacesByAddress = AddressTable<Int32>()
    /// The values that attributes had last, by the addresses of their names; -1 for none.
    private var recent: [CSDLDocument.Text] = Array(repeating: -1, count: 64)

    /// Reads a whole document behind what is there already.
    ///
    /// - Throws: ``CSDLError`` with the place; `content` is then of no use.
    static func parse(_ bytes: [UInt8], into content: inout CSDLContent, source: String?) throws(CSDLError) {
        let parser = UnsafeMutablePointer<CSDLParser>.allocate(capacity: 1)
        let firstRoot = content.roots.count
        parser.initialize(to: CSDLParser(content: content, source: source))
        content = CSDLContent()
        defer {
            parser.deinitialize(count: 1)
            parser.deallocate()
        }
        run(parser, bytes)
        if let failure = parser.pointee.failure { throw failure }
        swap(&content, &parser.pointee.content)
        for root in firstRoot..<content.roots.count { content.roots[root].source = source }
    }

    private init(content: CSDLContent, source: String?) {
        self.content = content
        self.source = source
        firstElement = content.elements.count
    }

    /// Works through the pointer alone: the parser must not be held while callbacks change it.
    private static func run(_ parser: UnsafeMutablePointer<CSDLParser>, _ bytes: [UInt8]) {
        var handler = xmlSAXHandler()
        handler.startElementNs = startElement
        handler.endElementNs = endElement
        handler.characters = characters
        handler.cdataBlock = characters
        handler.internalSubset = documentType
        parser.pointee.content.reserve(documentBytes: bytes.count)
        XMLPushParser.run(
            bytes, &handler, user: parser, begin: { parser.pointee.context = $0 },
            isStopped: { parser.pointee.hasFailed },
            ending: { ending in
                switch ending {
                case .done: break
                case .noMemory:
                    parser.pointee.failure = CSDLError(
                        reason: .malformed("no memory"), line: 1, column: 1, expected: "a parser")
                case .failed(let message, let atEnd): parser.pointee.fail(message, atEnd: atEnd)
                }
            })
    }

    private mutating func fail(_ message: String, atEnd: Bool) {
        guard failure == nil else { return }
        let hasElements = content.elements.count > firstElement
        if !hasElements, !atEnd {
            // What goes on after the first tag decides whether this was meant to be metadata at all.
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

    /// Ends the parse at once.
    private mutating func stop(_ error: CSDLError) {
        if failure == nil { failure = error }
        if let context { xmlStopParser(context) }
    }

    /// libxml2 keeps each name once, so its address stands for it.
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
            // Five pointers each: local name, prefix, namespace, and the value from its start to its end.
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

    /// The number of an attribute's value. Most attributes but names have the value that they had last: comparing with
    /// that is faster than looking it up.
    private mutating func number(
        of value: UnsafeBufferPointer<UInt8>, _ name: CSDLName, _ address: UnsafePointer<xmlChar>
    ) -> CSDLDocument.Text {
        if name == .name { return content.strings.id(value) }
        // Names share the slots, and more is made of a target than its number.
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

/// Values by the address of a name that libxml2 keeps as long as it parses: a document has few names and
/// tens of thousands of uses.
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
