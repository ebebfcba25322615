import ODataModel

/// The document at the root of a service (OData JSON Format 4.01, 5 *Service Document*).
public struct ServiceDocument: Hashable, Sendable {
    /// The kinds of entry.
    public enum Kind: String, Hashable, Sendable {
        /// A set of entities.
        case entitySet = "EntitySet"
        /// A single entity.
        case singleton = "Singleton"
        /// A function without parameters.
        case functionImport = "FunctionImport"
        /// The document of another service.
        case serviceDocument = "ServiceDocument"
    }

    /// An entry of a service document.
    public struct Entry: Hashable, Sendable {
        /// The name of the resource.
        public var name: String
        /// The title for display.
        public var title: String?
        /// The kind of resource.
        public var kind: Kind
        /// The URL, absolute or relative to the context URL.
        public var url: String

        /// Creates an entry.
        public init(name: String, title: String? = nil, kind: Kind = .entitySet, url: String) {
            self.name = name
            self.title = title
            self.kind = kind
            self.url = url
        }
    }

    /// The context URL, which is the URL of the metadata document.
    public var context: String?
    /// The entries in document order.
    public var entries: [Entry]

    /// Creates a document.
    public init(context: String? = nil, entries: [Entry]) {
        self.context = context
        self.entries = entries
    }

    /// Creates the document of a model, with the listed resources of its container.
    public init(model: EntityDataModel, context: String?) {
        let container = model.container
        let functions = container.operationImports.filter { $0.isInServiceDocument && $0.kind == .function }
        entries =
            container.entitySets.filter(\.isInServiceDocument).map { Entry(name: $0.name, url: $0.name) }
            + container.singletons.map { Entry(name: $0.name, kind: .singleton, url: $0.name) }
            + functions.map { Entry(name: $0.name, kind: .functionImport, url: $0.name) }
        self.context = context
    }

    /// Reads a document. Entries of unknown kinds are left out.
    ///
    /// - Throws: ``PayloadError/noServiceDocument(_:)`` if the member `value` is missing. Other ``PayloadError``
    ///   cases contain the position, or the service's error object.
    public init(json bytes: [UInt8]) throws(PayloadError) {
        var result = ServiceDocument(entries: [])
        var missing: NoServiceDocument?
        var serviceError: ODataErrorPayload?
        do throws(JSONError) {
            try JSONScanner.scan(bytes) { (scanner) throws(JSONError) in
                serviceError = try EntityPayloadReader.takeError(&scanner, .untyped)
                if serviceError != nil { return }
                var hasValue = false
                try scanner.beginObject()
                while let key = try scanner.nextKey() {
                    if key == "value" {
                        hasValue = true
                        try scanner.beginArray()
                        while try scanner.nextElement() {
                            if let entry = try Self.readEntry(&scanner) { result.entries.append(entry) }
                        }
                    } else if key == "@odata.context" || key == "@context" {
                        result.context = try scanner.readString()
                    } else {
                        try scanner.skipValue()
                    }
                }
                if !hasValue { missing = NoServiceDocument(expected: "the member value", scanner) }
                try scanner.expectEnd()
            }
        } catch {
            throw .malformed(error)
        }
        if let serviceError { throw .service(serviceError) }
        if let missing { throw .noServiceDocument(missing) }
        self = result
    }

    /// Reads a document from chunks of bytes as they arrive.
    ///
    /// The bytes are held until the document is complete. A chunk may end at any byte.
    ///
    /// - Parameters:
    ///   - chunks: the chunks, such as the body of a response or the content of a file.
    ///   - maxBytes: the maximum size of the document, in bytes. Beyond that size, no further chunk is requested.
    /// - Throws: ``PayloadError`` as in ``init(json:)``; ``PayloadError/tooLarge(limit:)`` if the document is
    ///   larger than `maxBytes`; `CancellationError`; errors of `chunks`.
    public init<Chunks: AsyncSequence>(
        jsonChunks chunks: Chunks, maxBytes: Int = XMLPayloadLimits.maxElementBytes
    ) async throws where Chunks.Element: Collection<UInt8> {
        try self.init(json: await chunks.documentBytes(maxBytes: maxBytes))
    }

    private static func readEntry(_ scanner: inout JSONScanner) throws(JSONError) -> Entry? {
        var members: [String: String] = [:]
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            if try scanner.peekKind() == .string {
                members[key.string] = try scanner.readString()
            } else {
                try scanner.skipValue()
            }
        }
        guard let name = members["name"], let url = members["url"] else {
            throw scanner.error(.unexpected("an entry without them"), expected: "the members name and url")
        }
        // The default kind is an entity set (OData JSON Format 4.01, 5).
        guard let kind = Kind(rawValue: members["kind"] ?? Kind.entitySet.rawValue) else { return nil }
        return Entry(name: name, title: members["title"], kind: kind, url: url)
    }

    /// Writes the document.
    ///
    /// - Parameter isPrefixed: whether 4.01 writes `@odata.context` as in 4.0, for readers of both versions.
    public func write(version: ODataVersion = .v401, isPrefixed: Bool = false, to json: inout JSONWriter) {
        json.beginObject()
        if let context {
            json.key(version >= .v401 && !isPrefixed ? "@context" : "@odata.context")
            json.string(context)
        }
        json.key("value")
        json.beginArray()
        for entry in entries {
            json.beginObject()
            json.key("name")
            json.string(entry.name)
            if let title = entry.title {
                json.key("title")
                json.string(title)
            }
            json.key("kind")
            json.string(entry.kind.rawValue)
            json.key("url")
            json.string(entry.url)
            json.endObject()
        }
        json.endArray()
        json.endObject()
    }
}

extension NoServiceDocument {
    /// An object that lacks what makes it a service document.
    init(found: String = "no such member", expected: String, _ scanner: JSONScanner) {
        let place = scanner.error(.unexpectedEnd, expected: expected).position
        self.init(found: found, line: place.line, column: place.column, expected: expected)
    }
}
