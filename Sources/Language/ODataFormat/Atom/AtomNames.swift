import ODataModel

/// The namespaces and relations of Atom payloads, which differ in V4 (OData Atom Format 4.0, 3; OData V2, Atom
/// Format).
enum AtomNames {
    static let atom = "http://www.w3.org/2005/Atom"
    static let publishing = "http://www.w3.org/2007/app"
    static let tombstones = "http://purl.org/atompub/tombstones/1.0"
    static let gml = "http://www.opengis.net/gml"
    static let xml = "http://www.w3.org/XML/1998/namespace"
    static let sap = "http://www.sap.com/Protocols/SAPData"

    private static let legacy = "http://schemas.microsoft.com/ado/2007/08/dataservices"
    private static let current = "http://docs.oasis-open.org/odata/ns"

    /// Returns the namespace of properties.
    static func data(_ version: ODataVersion) -> String { version < .v4 ? legacy : current + "/data" }
    /// Returns the namespace of all other elements and attributes of OData.
    static func metadata(_ version: ODataVersion) -> String { (version < .v4 ? legacy : current) + "/metadata" }
    /// Returns the scheme of categories whose terms are types.
    static func scheme(_ version: ODataVersion) -> String { (version < .v4 ? legacy : current) + "/scheme" }
    /// Returns the relation of a link that represents a property, with a kind such as `related`.
    static func relation(_ version: ODataVersion, _ kind: String, property: String) -> String {
        "\(version < .v4 ? legacy : current)/\(kind)/\(property)"
    }

    static func isData(_ namespace: String) -> Bool { namespace == legacy || namespace == current + "/data" }
    static func isMetadata(_ namespace: String) -> Bool {
        namespace == legacy + "/metadata" || namespace == current + "/metadata"
    }
    static func isScheme(_ scheme: String?) -> Bool { scheme == legacy + "/scheme" || scheme == current + "/scheme" }

    /// Splits a link's relation into kind and property: `related` and `Orders`, or `edit` and an empty text.
    static func relation(_ text: String) -> (kind: String, property: String) {
        for base in [legacy, current] {
            guard let rest = text.rest(behind: base + "/") else { continue }
            guard let (kind, property) = rest.halves(atFirst: "/") else { return (String(rest), "") }
            return (String(kind), String(property))
        }
        // IANA relations may be URIs (RFC 4287, 4.2.7.2).
        let registry = "http://www.iana.org/assignments/relation/"
        return (text.rest(behind: registry).map(String.init) ?? text, "")
    }
}

extension XMLFragment {
    /// Returns the value of an OData attribute in the namespace of any version.
    func metadata(_ name: String) -> String? {
        attributes.first { $0.name == name && AtomNames.isMetadata($0.namespace) }?.value
    }

    /// Returns whether the fragment is an OData element with this name.
    func isMetadata(_ name: String) -> Bool { self.name == name && AtomNames.isMetadata(namespace) }

    /// Returns whether the fragment is an Atom element with this name.
    func isAtom(_ name: String) -> Bool { self.name == name && namespace == AtomNames.atom }

    /// The text without surrounding white space, which may be formatting.
    var trimmedText: String { text.trimmingXMLSpace() }

    /// Returns an error with the position of the element.
    func error(_ reason: XMLPayloadError.Reason, expected: String) -> XMLPayloadError {
        XMLPayloadError(reason: reason, line: line, column: column, expected: expected)
    }
}

extension String {
    /// Returns the string without XML white space at both ends.
    func trimmingXMLSpace() -> String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
        guard let first = utf8.first, let last = utf8.last, isSpace(first) || isSpace(last) else { return self }
        let start = utf8.firstIndex { !isSpace($0) } ?? utf8.endIndex
        guard start != utf8.endIndex, let end = utf8.lastIndex(where: { !isSpace($0) }) else { return "" }
        return String(self[start...end])
    }
}

extension XMLPayloadError {
    /// Converts an error of the XML parser to an error of the payload.
    init(_ error: XMLFragmentError) {
        let (reason, expected): (Reason, String) =
            switch error.reason {
            case .notWellFormed(let words): (.notWellFormed(words), "well-formed XML")
            case .truncated: (.truncated, "the rest of the document")
            case .documentType: (.documentType, "a document without DOCTYPE")
            case .tooDeep: (.tooDeep, "at most \(XMLPayloadLimits.maxDepth) levels")
            case .tooLarge: (.tooLarge, "at most \(XMLPayloadLimits.maxElementBytes) bytes")
            }
        self.init(reason: reason, line: error.line, column: error.column, expected: expected)
    }
}

/// Reads a whole XML document as one fragment from chunks as they arrive.
struct XMLBodyReader: ~Copyable {
    private var parser = XMLFragmentParser(
        maxDepth: XMLPayloadLimits.maxDepth, maxElementBytes: XMLPayloadLimits.maxElementBytes)
    private var root: XMLFragment?

    /// Parses the next chunk.
    ///
    /// - Throws: ``PayloadError/malformedXML(_:)``.
    mutating func append(_ bytes: [UInt8]) throws(PayloadError) {
        do throws(XMLFragmentError) {
            try parser.append(bytes)
        } catch {
            throw .malformedXML(XMLPayloadError(error))
        }
        takeEvents()
    }

    /// Marks the end of the document.
    ///
    /// - Returns: the root element with its content.
    /// - Throws: ``PayloadError/malformedXML(_:)``.
    mutating func finish() throws(PayloadError) -> XMLFragment {
        do throws(XMLFragmentError) {
            try parser.finish()
        } catch {
            throw .malformedXML(XMLPayloadError(error))
        }
        takeEvents()
        guard let root else {
            throw .malformedXML(XMLPayloadError(reason: .truncated, line: 1, column: 1, expected: "an element"))
        }
        return root
    }

    /// Adds the parsed elements to the root.
    private mutating func takeEvents() {
        while let event = parser.next() {
            switch event {
            case .root(let element): root = element
            case .child(let element): root?.content.append(.element(element))
            case .end(let text): if !text.isEmpty { root?.content.append(.text(text)) }
            }
        }
    }
}

/// Reading of a whole XML document as one fragment.
enum XMLBody {
    /// Parses a document.
    ///
    /// - Throws: ``PayloadError/malformedXML(_:)``, or ``PayloadError/service(_:)`` if the document is an error.
    static func read(_ bytes: [UInt8]) throws(PayloadError) -> XMLFragment { try unlessError(parse(bytes)) }

    /// Parses a document, which may be an error response.
    ///
    /// - Throws: ``PayloadError/malformedXML(_:)``.
    static func parse(_ bytes: [UInt8]) throws(PayloadError) -> XMLFragment {
        var reader = XMLBodyReader()
        try reader.append(bytes)
        return try reader.finish()
    }

    /// Parses a document from chunks as they arrive.
    ///
    /// - Throws: ``PayloadError/malformedXML(_:)``, ``PayloadError/tooLarge(limit:)``, or ``PayloadError/service(_:)``
    ///   if the document is an error; `CancellationError`; errors of the sequence.
    static func read<Chunks: AsyncSequence>(
        chunks: Chunks, maxBytes: Int
    ) async throws -> XMLFragment where Chunks.Element: Collection<UInt8> {
        var reader = XMLBodyReader()
        try await chunks.forEachDocumentChunk(maxBytes: maxBytes) { try reader.append(Array($0)) }
        return try unlessError(reader.finish())
    }

    /// Returns the root of a document.
    ///
    /// - Throws: ``PayloadError/service(_:)`` if the document is an error.
    private static func unlessError(_ root: XMLFragment) throws(PayloadError) -> XMLFragment {
        if root.isMetadata("error") { throw .service(ODataErrorPayload(root)) }
        return root
    }

    /// Runs `body` and wraps its errors in ``PayloadError``.
    static func mapped<Result>(_ body: () throws(XMLPayloadError) -> Result) throws(PayloadError) -> Result {
        do throws(XMLPayloadError) {
            return try body()
        } catch {
            throw .malformedXML(error)
        }
    }
}
