import CLibXML2

/// Fills a ``CSDLDocument`` from libxml2's SAX2 events.
///
/// C callbacks find it through a pointer that is valid for one call of ``parse(_:)``; a class would check
/// for exclusive access on each of a hundred thousand events. A DOCTYPE stops the parser before any entity could be declared, so none is ever expanded or loaded.
struct CSDLParser {
    private var document = CSDLDocument.Content()
    private var context: xmlParserCtxtPtr?
    private var failure: CSDLError?
    /// The open elements with the last child of each, to link siblings.
    private var open: [(element: Int32, lastChild: Int32)] = []
    /// libxml2 keeps each name once, so its address stands for it.
    private var namesByAddress: [UnsafePointer<xmlChar>: CSDLName] = [:]
    private var namespacesByAddress: [UnsafePointer<xmlChar>: Int32] = [:]

    private static let names = Dictionary(
        CSDLName.allCases.map { ($0.rawValue, $0) }, uniquingKeysWith: { first, _ in first })
    /// Enough to keep the parser busy, little enough to stop soon after an error.
    private static let chunkBytes = 64 * 1024

    /// Reads a whole document.
    static func parse(_ bytes: [UInt8]) throws(CSDLError) -> CSDLDocument {
        guard bytes.count <= CSDLReader.maxBytes else {
            throw CSDLError(reason: .tooLarge, line: 1, column: 1, expected: "a smaller document")
        }
        let parser = UnsafeMutablePointer<CSDLParser>.allocate(capacity: 1)
        parser.initialize(to: CSDLParser())
        defer {
            parser.deinitialize(count: 1)
            parser.deallocate()
        }
        run(parser, bytes)
        if let failure = parser.pointee.failure { throw failure }
        return CSDLDocument(parser.pointee.document)
    }

    /// Works through the pointer alone: the parser must not be held while callbacks change it.
    private static func run(_ parser: UnsafeMutablePointer<CSDLParser>, _ bytes: [UInt8]) {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        guard let first = bytes[start...].first(where: { $0 > 0x20 }) else {
            parser.pointee.failure = CSDLError(reason: .empty, line: 1, column: 1, expected: "a metadata document")
            return
        }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            parser.pointee.failure = CSDLError(reason: .json, line: 1, column: 1, expected: "CSDL in XML")
            return
        }
        var handler = xmlSAXHandler()
        handler.initialized = 0xDEED_BEAF
        handler.startElementNs = startElement
        handler.endElementNs = endElement
        handler.characters = characters
        handler.cdataBlock = characters
        handler.internalSubset = documentType
        guard let context = xmlCreatePushParserCtxt(&handler, parser, nil, 0, nil) else {
            parser.pointee.failure = CSDLError(
                reason: .malformed("no memory"), line: 1, column: 1, expected: "a parser")
            return
        }
        defer { xmlFreeParserCtxt(context) }
        parser.pointee.context = context
        // NOENT is about the five entities of XML itself: without it, libxml2 leaves `&amp;` in attributes as
        // `&#38;`. No other entity can exist, since a DOCTYPE ends the parse.
        let options = [XML_PARSE_NONET, XML_PARSE_NOENT, XML_PARSE_NOERROR, XML_PARSE_NOWARNING]
        xmlCtxtUseOptions(context, Int32(options.reduce(0) { $0 | $1.rawValue }))
        parser.pointee.document.text.reserveCapacity(bytes.count / 2)
        bytes.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { chars in
                var offset = 0
                while offset < chars.count, parser.pointee.failure == nil {
                    let count = min(chunkBytes, chars.count - offset)
                    if xmlParseChunk(context, chars.baseAddress.map { $0 + offset }, Int32(count), 0) != 0 {
                        return parser.pointee.fail(atEnd: false)
                    }
                    offset += count
                }
                // Only here does the parser learn that nothing follows: an error now is a missing rest.
                if parser.pointee.failure == nil, xmlParseChunk(context, nil, 0, 1) != 0 {
                    parser.pointee.fail(atEnd: true)
                }
            }
        }
    }

    private mutating func fail(atEnd: Bool) {
        guard failure == nil else { return }
        if document.elements.isEmpty, !atEnd {
            // What goes on after the first tag decides whether this was meant to be metadata at all.
            failure = error(.malformed(lastMessage()), expected: "an XML document with the root element Edmx")
            return
        }
        if !document.elements.isEmpty, rootName.lowercased() == "html" {
            failure = error(.html, expected: "a metadata document")
            return
        }
        failure =
            atEnd
            ? error(.truncated, expected: open.isEmpty ? "an element" : "the rest of the document")
            : error(.malformed(lastMessage()), expected: "well-formed XML")
    }

    private func lastMessage() -> String {
        guard let context, let error = xmlCtxtGetLastError(context), let message = error.pointee.message else {
            return "unknown error"
        }
        return String(String(cString: message).prefix { $0 != "\n" })
    }

    private func error(_ reason: CSDLError.Reason, expected: String) -> CSDLError {
        let (line, column) = position
        return CSDLError(reason: reason, line: Int(line), column: Int(column), expected: expected)
    }

    private var rootName: String {
        guard let root = document.elements.first else { return "" }
        let name = document.text[Int(root.otherName.start)..<Int(root.otherName.end)]
        return root.name == .other ? String(decoding: name, as: UTF8.self) : root.name.rawValue
    }

    private var position: (line: Int32, column: Int32) {
        guard let input = context?.pointee.input else { return (1, 1) }
        return (max(input.pointee.line, 1), max(input.pointee.col, 1))
    }

    /// Ends the parse at once.
    private mutating func stop(_ error: CSDLError) {
        if failure == nil { failure = error }
        if let context { xmlStopParser(context) }
    }

    private mutating func name(_ address: UnsafePointer<xmlChar>) -> CSDLName {
        if let known = namesByAddress[address] { return known }
        let name = Self.names[String(cString: address)] ?? .other
        namesByAddress[address] = name
        return name
    }

    private mutating func namespace(_ address: UnsafePointer<xmlChar>?) -> Int32 {
        guard let address else { return -1 }
        if let known = namespacesByAddress[address] { return known }
        document.namespaces.append(String(cString: address))
        let index = Int32(document.namespaces.count - 1)
        namespacesByAddress[address] = index
        return index
    }

    private mutating func keep(_ bytes: UnsafeBufferPointer<xmlChar>) -> CSDLDocument.Text {
        let start = Int32(document.text.count)
        document.text.append(contentsOf: bytes)
        return CSDLDocument.Text(start: start, end: Int32(document.text.count))
    }

    private mutating func keepName(_ address: UnsafePointer<xmlChar>) -> CSDLDocument.Text {
        var count = 0
        while address[count] != 0 { count += 1 }
        return keep(UnsafeBufferPointer(start: address, count: count))
    }

    fileprivate mutating func begin(
        _ localName: UnsafePointer<xmlChar>, _ uri: UnsafePointer<xmlChar>?, _ count: Int32,
        _ values: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
    ) {
        guard failure == nil else { return }
        guard open.count < CSDLReader.maxDepth else {
            return stop(error(.tooDeep, expected: "at most \(CSDLReader.maxDepth) levels"))
        }
        guard document.elements.count < CSDLReader.maxElements else {
            return stop(error(.tooManyElements, expected: "at most \(CSDLReader.maxElements) elements"))
        }
        let index = Int32(document.elements.count)
        let (line, column) = position
        let name = name(localName)
        document.elements.append(
            CSDLDocument.Element(
                name: name, namespace: namespace(uri), otherName: name == .other ? keepName(localName) : .init(),
                firstAttribute: Int32(document.attributes.count), attributeCount: count, line: line, column: column))
        for attribute in 0..<Int(count) {
            // Five pointers each: local name, prefix, namespace, and the value from its start to its end.
            guard let values, let local = values[attribute * 5], let start = values[attribute * 5 + 3],
                let end = values[attribute * 5 + 4]
            else { continue }
            let name = self.name(local)
            document.attributes.append(
                CSDLDocument.Attribute(
                    name: name, namespace: namespace(values[attribute * 5 + 2]),
                    otherName: name == .other ? keepName(local) : .init(),
                    value: keep(UnsafeBufferPointer(start: start, count: end - start))))
        }
        document.elements[Int(index)].attributeCount =
            Int32(document.attributes.count) - document.elements[Int(index)].firstAttribute
        if let parent = open.indices.last {
            if open[parent].lastChild < 0 {
                document.elements[Int(open[parent].element)].firstChild = index
            } else {
                document.elements[Int(open[parent].lastChild)].nextSibling = index
            }
            open[parent].lastChild = index
        }
        open.append((index, -1))
    }

    fileprivate mutating func end() {
        if !open.isEmpty { open.removeLast() }
    }

    fileprivate mutating func append(_ bytes: UnsafeBufferPointer<xmlChar>) {
        guard failure == nil, let current = open.last else { return }
        // Character data after a child element is layout: no element of CSDL has mixed content.
        guard current.lastChild < 0 else { return }
        let index = Int(current.element)
        let range = keep(bytes)
        if document.elements[index].text.end == range.start, document.elements[index].text.end > 0 {
            document.elements[index].text.end = range.end
        } else {
            document.elements[index].text = range
        }
    }

    fileprivate mutating func refuseDocumentType(_ name: String) {
        stop(
            name.lowercased() == "html"
                ? error(.html, expected: "a metadata document")
                : error(.documentType, expected: "a document without DOCTYPE"))
    }
}

private func parser(_ context: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<CSDLParser>? {
    context?.assumingMemoryBound(to: CSDLParser.self)
}

private let startElement: startElementNsSAX2Func = { context, localName, _, uri, _, _, count, _, values in
    guard let localName else { return }
    parser(context)?.pointee.begin(localName, uri, count, values)
}

private let endElement: endElementNsSAX2Func = { context, _, _, _ in parser(context)?.pointee.end() }

private let characters: charactersSAXFunc = { context, text, count in
    parser(context)?.pointee.append(UnsafeBufferPointer(start: text, count: Int(count)))
}

private let documentType: internalSubsetSAXFunc = { context, name, _, _ in
    parser(context)?.pointee.refuseDocumentType(name.map { String(cString: $0) } ?? "")
}
