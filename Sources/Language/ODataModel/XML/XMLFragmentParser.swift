import CLibXML2

/// Parses an XML document in chunks and returns the children of its root one by one, so that memory use does not
/// grow with the document.
///
/// A DOCTYPE stops the parser before any entity is declared, so that no entity is ever expanded or loaded.
///
/// ```swift
/// var parser = XMLFragmentParser(maxDepth: 100, maxElementBytes: 1 << 20)
/// try parser.append(chunk)
/// try parser.finish()
/// while let event = parser.next() { … }
/// ```
// The parser is safe to send, because its memory is accessible only through this noncopyable value.
package struct XMLFragmentParser: ~Copyable, @unchecked Sendable {
    /// The events of the parser.
    package enum Event: Hashable, Sendable {
        /// The root element without its content; always the first event.
        case root(XMLFragment)
        /// A child of the root.
        case child(XMLFragment)
        /// The text directly within the root, at the end of the root; always the last event.
        case end(text: String)
    }

    private let state: UnsafeMutablePointer<XMLFragmentBuilder>
    private var parser: XMLPushParser

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - maxDepth: the maximum nesting depth of elements.
    ///   - maxElementBytes: the maximum number of bytes of names, values and text in a child of the root.
    package init(maxDepth: Int, maxElementBytes: Int) {
        state = .allocate(capacity: 1)
        state.initialize(to: XMLFragmentBuilder(maxDepth: maxDepth, maxElementBytes: maxElementBytes))
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
    package mutating func append(_ bytes: some Sequence<UInt8>) throws(XMLFragmentError) {
        try check()
        let failure = parser.append(Array(bytes), isStopped: { [state] in state.pointee.failure != nil })
        note(failure)
        try check()
    }

    /// Marks the end of the document and checks that it is complete.
    package mutating func finish() throws(XMLFragmentError) {
        try check()
        let failure = parser.finish(isStopped: { [state] in state.pointee.failure != nil })
        note(failure)
        try check()
    }

    /// Returns the next event; `nil` if more bytes are needed, and after the end.
    package mutating func next() -> Event? { state.pointee.takeEvent() }

    private func note(_ failure: XMLPushParser.Failure?) {
        switch failure {
        case nil: break
        case .noMemory?: state.pointee.fail(.notWellFormed("no memory"))
        case .notWellFormed(_, atEnd: true)?: state.pointee.fail(.truncated)
        case .notWellFormed(let message, atEnd: false)?: state.pointee.fail(.notWellFormed(message))
        }
    }

    private func check() throws(XMLFragmentError) {
        if let failure = state.pointee.failure { throw failure }
    }
}

/// Builds fragments from libxml2's SAX2 events. The callbacks access the builder through a pointer.
private struct XMLFragmentBuilder {
    let maxDepth: Int
    let maxElementBytes: Int
    var context: xmlParserCtxtPtr?
    var failure: XMLFragmentError?
    private var events: [XMLFragmentParser.Event] = []
    private var taken = 0
    private var open: [XMLFragment] = []
    private var text: [UInt8] = []
    private var size = 0

    init(maxDepth: Int, maxElementBytes: Int) {
        self.maxDepth = maxDepth
        self.maxElementBytes = maxElementBytes
    }

    mutating func takeEvent() -> XMLFragmentParser.Event? {
        guard taken < events.count else {
            events.removeAll(keepingCapacity: true)
            taken = 0
            return nil
        }
        taken += 1
        return events[taken - 1]
    }

    mutating func fail(_ reason: XMLFragmentError.Reason) {
        if failure == nil { failure = error(reason) }
    }

    private func error(_ reason: XMLFragmentError.Reason) -> XMLFragmentError {
        let (line, column) = XMLPushParser.position(context)
        return XMLFragmentError(reason: reason, line: Int(line), column: Int(column))
    }

    private mutating func stop(_ reason: XMLFragmentError.Reason) {
        fail(reason)
        if let context { xmlStopParser(context) }
    }

    private mutating func flushText() {
        guard !text.isEmpty, let last = open.indices.last else { return }
        open[last].content.append(.text(String(decoding: text, as: UTF8.self)))
        text.removeAll(keepingCapacity: true)
    }

    mutating func begin(
        _ localName: UnsafePointer<xmlChar>, _ uri: UnsafePointer<xmlChar>?, count: Int32,
        values: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
    ) {
        guard failure == nil else { return }
        if let message = XMLPushParser.namespaceError(
            context, names: XMLPushParser.names(localName, count, values: values))
        {
            return stop(.notWellFormed(message))
        }
        guard open.count < maxDepth else { return stop(.tooDeep) }
        flushText()
        if open.count == 1 { size = 0 }
        let (line, column) = XMLPushParser.position(context)
        var element = XMLFragment(
            namespace: uri.map { String(cString: $0) } ?? "", name: String(cString: localName), attributes: [],
            line: Int(line), column: Int(column))
        size += element.name.utf8.count
        for attribute in 0..<Int(count) {
            // Each attribute has five pointers: local name, prefix, namespace, start and end of the value.
            guard let values, let local = values[attribute * 5], let start = values[attribute * 5 + 3],
                let end = values[attribute * 5 + 4]
            else { continue }
            let value = UnsafeBufferPointer(start: start, count: end - start)
            size += value.count
            element.attributes.append(
                XMLFragment.Attribute(
                    namespace: values[attribute * 5 + 2].map { String(cString: $0) } ?? "",
                    name: String(cString: local), value: String(decoding: value, as: UTF8.self)))
        }
        guard size <= maxElementBytes else { return stop(.tooLarge) }
        if open.isEmpty { events.append(.root(element)) }
        open.append(element)
    }

    mutating func end() {
        guard failure == nil else { return }
        flushText()
        guard let element = open.popLast() else { return }
        switch open.count {
        case 0: events.append(.end(text: element.text))
        case 1: events.append(.child(element))
        default: open[open.count - 1].content.append(.element(element))
        }
    }

    mutating func append(_ bytes: UnsafeBufferPointer<xmlChar>) {
        guard failure == nil, !open.isEmpty else { return }
        size += bytes.count
        guard size <= maxElementBytes else { return stop(.tooLarge) }
        text.append(contentsOf: bytes)
    }

    mutating func refuseDocumentType() { stop(.documentType) }
}

private func builder(_ context: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<XMLFragmentBuilder>? {
    context?.assumingMemoryBound(to: XMLFragmentBuilder.self)
}

private let startElement: startElementNsSAX2Func = { context, localName, _, uri, _, _, count, _, values in
    guard let localName else { return }
    builder(context)?.pointee.begin(localName, uri, count: count, values: values)
}

private let endElement: endElementNsSAX2Func = { context, _, _, _ in builder(context)?.pointee.end() }

private let characters: charactersSAXFunc = { context, text, count in
    builder(context)?.pointee.append(UnsafeBufferPointer(start: text, count: Int(count)))
}

private let documentType: internalSubsetSAXFunc = { context, _, _, _ in
    builder(context)?.pointee.refuseDocumentType()
}
