import CLibXML2

/// Parses a document in chunks as they arrive with libxml2, with options that protect against malicious input.
///
/// A DOCTYPE must stop the parser before any entity is declared, so that no entity is ever expanded or loaded.
/// Therefore, the handler's `internalSubset` must call `xmlStopParser`.
///
/// The result does not depend on the places at which the document is cut. libxml2 looks a few bytes ahead, so a cut
/// within a tag would change the position of an error. Therefore, each piece passed to libxml2 ends behind a tag, and
/// the bytes behind that tag are held until the next chunk arrives.
struct XMLPushParser: ~Copyable {
    /// The reason why the document cannot be parsed.
    enum Failure {
        /// libxml2 could not be set up.
        case noMemory
        /// The document is not well-formed, with libxml2's message, or ends too early.
        case notWellFormed(message: String, atEnd: Bool)
    }

    /// The maximum size of a call of libxml2. The size is large enough for efficiency and small enough to stop soon
    /// after an error.
    private static let pieceBytes = 64 * 1024
    /// The maximum number of bytes that are held until a tag ends.
    private static let maxHeldBytes = 4096
    /// The number of bytes that libxml2 needs in one call to detect the encoding.
    private static let firstBytes = 16

    /// The parser context of libxml2, valid as long as this value exists; `nil` if there is no memory.
    let context: xmlParserCtxtPtr?
    /// The bytes behind the last piece that libxml2 parsed.
    private var held: [UInt8] = []
    private var hasBegun = false

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - handler: the callbacks.
    ///   - user: the user data of the callbacks.
    init(_ handler: inout xmlSAXHandler, user: UnsafeMutableRawPointer) {
        handler.initialized = 0xDEED_BEAF
        context = xmlCreatePushParserCtxt(&handler, user, nil, 0, nil)
        // NOENT affects only the five predefined entities of XML: without the option, libxml2 leaves `&amp;` in
        // attributes as `&#38;`. No other entity can exist, because a DOCTYPE stops the parser.
        let options = [XML_PARSE_NONET, XML_PARSE_NOENT, XML_PARSE_NOERROR, XML_PARSE_NOWARNING]
        if let context { xmlCtxtUseOptions(context, Int32(options.reduce(0) { $0 | $1.rawValue })) }
    }

    deinit {
        if let context { xmlFreeParserCtxt(context) }
    }

    /// Parses the next chunk, which may have any size.
    ///
    /// - Parameter isStopped: returns whether a callback has stopped the parser.
    /// - Returns: the reason why the document cannot be parsed; `nil` if there is no error so far.
    mutating func append(_ bytes: [UInt8], isStopped: () -> Bool) -> Failure? {
        let known = hasBegun ? held.count : 0
        if held.isEmpty { held = bytes } else { held += bytes }
        guard hasBegun || held.count >= Self.firstBytes else { return nil }
        let end = endOfPiece(from: known)
        guard end > 0 else { return nil }
        let piece = held
        held = Array(piece[end...])
        return feed(piece, upTo: end, isStopped: isStopped)
    }

    /// Marks the end of the document.
    ///
    /// - Parameter isStopped: returns whether a callback has stopped the parser.
    /// - Returns: the reason why the document cannot be parsed; `nil` if the document is complete, or if a callback
    ///   stopped the parser.
    mutating func finish(isStopped: () -> Bool) -> Failure? {
        let rest = held
        held = []
        if let failure = feed(rest, upTo: rest.count, isStopped: isStopped) { return failure }
        // Only this call reports the end of the document to the parser, so that an error means an incomplete
        // document.
        guard !isStopped(), xmlParseChunk(context, nil, 0, 1) != 0 else { return nil }
        return .notWellFormed(message: Self.message(context), atEnd: true)
    }

    /// Returns the end of the last tag in the held bytes. If no tag ends in them, returns their number if they exceed
    /// the limit, and 0 otherwise.
    ///
    /// An invalid sequence of UTF-8 directly before the end of a piece would change the position of its error.
    /// Therefore, the last byte of that tag must follow three ASCII bytes.
    ///
    /// - Parameter known: the number of bytes in which an earlier call found no such end.
    private func endOfPiece(from known: Int) -> Int {
        held.withUnsafeBufferPointer { bytes in
            var index = bytes.count - 1
            let first = max(known, bytes.count - Self.maxHeldBytes)
            while index >= first {
                if bytes[index] == UInt8(ascii: ">"), bytes[max(0, index - 3)..<index].allSatisfy({ $0 < 0x80 }) {
                    return index + 1
                }
                index -= 1
            }
            return bytes.count > Self.maxHeldBytes ? bytes.count : 0
        }
    }

    /// Passes the first `end` bytes to libxml2.
    private mutating func feed(_ bytes: [UInt8], upTo end: Int, isStopped: () -> Bool) -> Failure? {
        guard let context else { return .noMemory }
        hasBegun = true
        return bytes.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { chars in
                var offset = 0
                while offset < end, !isStopped() {
                    let count = min(Self.pieceBytes, end - offset)
                    if xmlParseChunk(context, chars.baseAddress.map { $0 + offset }, Int32(count), 0) != 0 {
                        return .notWellFormed(message: Self.message(context), atEnd: false)
                    }
                    offset += count
                }
                return nil
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
