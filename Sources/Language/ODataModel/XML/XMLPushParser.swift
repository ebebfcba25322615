import CLibXML2

/// Runs libxml2 over a document, with options that protect against malicious input.
///
/// A DOCTYPE must stop the parser before any entity is declared, so that no entity is ever expanded or loaded.
/// Therefore, the handler's `internalSubset` must call `xmlStopParser`.
enum XMLPushParser {
    /// The outcome of a parse.
    enum Ending {
        /// The document was complete, or the handler stopped the parser.
        case done
        /// libxml2 could not be set up.
        case noMemory
        /// The document is not well-formed, with libxml2's message, or ends too early.
        case failed(message: String, atEnd: Bool)
    }

    /// The size is large enough for efficiency and small enough to stop soon after an error.
    private static let chunkBytes = 64 * 1024

    /// Parses a whole document.
    ///
    /// - Parameters:
    ///   - bytes: the document.
    ///   - handler: the callbacks.
    ///   - user: the user data of the callbacks.
    ///   - begin: receives the context before the first callback; the context is valid until `run` returns.
    ///   - isStopped: returns whether a callback has stopped the parser.
    ///   - ending: receives the outcome.
    static func run(
        _ bytes: [UInt8], _ handler: inout xmlSAXHandler, user: UnsafeMutableRawPointer,
        begin: (xmlParserCtxtPtr?) -> Void, isStopped: () -> Bool, ending: (Ending) -> Void
    ) {
        handler.initialized = 0xDEED_BEAF
        guard let context = xmlCreatePushParserCtxt(&handler, user, nil, 0, nil) else { return ending(.noMemory) }
        defer {
            begin(nil)
            xmlFreeParserCtxt(context)
        }
        begin(context)
        // NOENT affects only the five predefined entities of XML: without the option, libxml2 leaves `&amp;` in
        // attributes as `&#38;`. No other entity can exist, because a DOCTYPE stops the parser.
        let options = [XML_PARSE_NONET, XML_PARSE_NOENT, XML_PARSE_NOERROR, XML_PARSE_NOWARNING]
        xmlCtxtUseOptions(context, Int32(options.reduce(0) { $0 | $1.rawValue }))
        bytes.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { chars in
                var offset = 0
                while offset < chars.count, !isStopped() {
                    let count = min(chunkBytes, chars.count - offset)
                    if xmlParseChunk(context, chars.baseAddress.map { $0 + offset }, Int32(count), 0) != 0 {
                        return ending(.failed(message: message(context), atEnd: false))
                    }
                    offset += count
                }
                // Only this call reports the end of the document to the parser, so that an error means an
                // incomplete document.
                if !isStopped(), xmlParseChunk(context, nil, 0, 1) != 0 {
                    return ending(.failed(message: message(context), atEnd: true))
                }
                ending(.done)
            }
        }
    }

    /// Returns the last message of libxml2.
    static func message(_ context: xmlParserCtxtPtr?) -> String {
        guard let context, let error = xmlCtxtGetLastError(context), let message = error.pointee.message else {
            return "unknown error"
        }
        return String(String(cString: message).prefix { $0 != "\n" })
    }

    /// Returns the error in the names of the last tag: an undeclared prefix, a repeated attribute, or a colon that
    /// does not end a prefix (Namespaces in XML 1.0, 4, 5 and 6.3).
    ///
    /// libxml2 continues after these errors. It reports an undeclared prefix as no prefix, and a misplaced colon as
    /// part of the name. A tag that is cut by the end of the document is not checked, because the parser itself
    /// then fails.
    ///
    /// - Parameter names: the local names of the element and its attributes, evaluated only if there is an error.
    static func namespaceError(_ context: xmlParserCtxtPtr?, names: @autoclosure () -> [String]) -> String? {
        guard let context, context.pointee.nsWellFormed == 0, let input = context.pointee.input,
            input.pointee.cur < input.pointee.end
        else { return nil }
        if let name = names().first(where: { $0.utf8.contains(UInt8(ascii: ":")) }) {
            return "the colon in '\(name)' ends no prefix"
        }
        guard let error = xmlCtxtGetLastError(context), error.pointee.domain == Int32(XML_FROM_NAMESPACE.rawValue),
            [XML_NS_ERR_UNDEFINED_NAMESPACE, XML_NS_ERR_ATTRIBUTE_REDEFINED].contains(
                where: { error.pointee.code == Int32($0.rawValue) })
        else { return nil }
        return message(context)
    }

    /// Returns the local names of an element and its attributes from the arguments of a callback.
    static func names(
        _ localName: UnsafePointer<xmlChar>, _ count: Int32,
        values: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
    ) -> [String] {
        // Each attribute has five pointers, of which the name is the first.
        let attributes = (0..<Int(count)).compactMap { values?[$0 * 5] }
        return ([localName] + attributes).map { String(cString: $0) }
    }

    /// Returns the position of the parser, counted from 1.
    static func position(_ context: xmlParserCtxtPtr?) -> (line: Int32, column: Int32) {
        guard let input = context?.pointee.input else { return (1, 1) }
        return (max(input.pointee.line, 1), max(input.pointee.col, 1))
    }
}
