import CLibXML2

/// Runs libxml2 over a document: the options that keep hostile input out, and what an ending means.
///
/// A DOCTYPE stops the parser before any entity could be declared, so none is ever expanded or loaded: the
/// handler's `internalSubset` has to call `xmlStopParser`.
enum XMLPushParser {
    /// How a parse ended.
    enum Ending {
        /// The document was complete, or the handler stopped the parser.
        case done
        /// libxml2 could not be set up.
        case noMemory
        /// The document is not well-formed, with libxml2's words, or ends too early.
        case failed(message: String, atEnd: Bool)
    }

    /// Enough to keep the parser busy, little enough to stop soon after an error.
    private static let chunkBytes = 64 * 1024

    /// Parses a whole document.
    ///
    /// - Parameters:
    ///   - bytes: the document.
    ///   - handler: the callbacks.
    ///   - user: what the callbacks get.
    ///   - begin: gets the context before the first callback; it is valid until `run` returns.
    ///   - isStopped: whether a callback has seen enough.
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
        // NOENT is about the five entities of XML itself: without it, libxml2 leaves `&amp;` in attributes as
        // `&#38;`. No other entity can exist, since a DOCTYPE ends the parse.
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
                // Only here does the parser learn that nothing follows: an error now is a missing rest.
                if !isStopped(), xmlParseChunk(context, nil, 0, 1) != 0 {
                    return ending(.failed(message: message(context), atEnd: true))
                }
                ending(.done)
            }
        }
    }

    /// What libxml2 said last.
    static func message(_ context: xmlParserCtxtPtr?) -> String {
        guard let context, let error = xmlCtxtGetLastError(context), let message = error.pointee.message else {
            return "unknown error"
        }
        return String(String(cString: message).prefix { $0 != "\n" })
    }

    /// What is wrong with the names of the tag that has just been read: a prefix that nothing declares, an attribute
    /// that is there twice, or a colon that ends no prefix (Namespaces in XML 1.0, 4, 5 and 6.3). libxml2 goes on there:
    /// it gives the first as if they had no prefix, and the last as part of the name. A tag that ends where the document
    /// does is no matter of names: the parser itself fails then.
    ///
    /// - Parameter names: the local names of the element and its attributes, asked for where there is something wrong.
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

    /// The local names of an element and its attributes, as libxml2 gives them to a callback.
    static func names(
        _ localName: UnsafePointer<xmlChar>, _ count: Int32,
        values: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
    ) -> [String] {
        // Five pointers for each attribute, its name first.
        let attributes = (0..<Int(count)).compactMap { values?[$0 * 5] }
        return ([localName] + attributes).map { String(cString: $0) }
    }

    /// Where the parser is, both from 1.
    static func position(_ context: xmlParserCtxtPtr?) -> (line: Int32, column: Int32) {
        guard let input = context?.pointee.input else { return (1, 1) }
        return (max(input.pointee.line, 1), max(input.pointee.col, 1))
    }
}
