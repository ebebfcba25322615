import ODataModel

/// Reads bodies of any format into the same entities, values and documents, so that callers depend only on the
/// media type.
///
/// ```swift
/// guard let format = PayloadFormat(contentType: type, version: model.version) else { … }
/// let decoder = PayloadDecoder(model: model, format: format)
/// let order = try decoder.entity(body, type: orderType).entity
/// ```
public struct PayloadDecoder: Sendable {
    /// The model of the service.
    public let model: EntityDataModel
    /// The format of the bodies.
    public let format: PayloadFormat
    /// The treatment of undeclared properties.
    public let strictness: Strictness

    /// Creates a decoder.
    public init(model: EntityDataModel, format: PayloadFormat, strictness: Strictness = .lenient) {
        self.model = model
        self.format = format
        self.strictness = strictness
    }

    /// Reads a single entity.
    public func entity(_ bytes: [UInt8], type: QualifiedName) throws(PayloadError) -> EntityPayload {
        switch format {
        case .json: try EntityPayloadReader(model: model, strictness: strictness).read(bytes, type: type)
        case .verboseJSON: try VerboseEntityReader(model: model, strictness: strictness).read(bytes, type: type)
        case .atom: try AtomEntryReader(model: model, strictness: strictness).read(bytes, type: type)
        }
    }

    /// Returns a reader of chunks of a collection or delta.
    public func collection(type: QualifiedName) -> EntityStreamReader {
        EntityStreamReader(model: model, type: type, format: format, strictness: strictness)
    }

    /// Reads a property or the result of an operation.
    public func value(_ bytes: [UInt8], type: TypeReference) throws(PayloadError) -> ValuePayload {
        switch format {
        case .json: try ValuePayload(json: bytes, type: type, model: model, strictness: strictness)
        case .verboseJSON: try ValuePayload(verboseJSON: bytes, type: type, model: model, strictness: strictness)
        case .atom: try ValuePayload(xml: bytes, type: type, model: model, strictness: strictness)
        }
    }

    /// Reads references to entities.
    public func references(_ bytes: [UInt8]) throws(PayloadError) -> ReferencePayload {
        switch format {
        case .json, .verboseJSON: try ReferencePayload(json: bytes)
        case .atom: try ReferencePayload(xml: bytes)
        }
    }

    /// Reads a service document.
    public func serviceDocument(_ bytes: [UInt8]) throws(PayloadError) -> ServiceDocument {
        switch format {
        case .json: try ServiceDocument(json: bytes)
        case .verboseJSON: try ServiceDocument(verboseJSON: bytes)
        case .atom: try AtomServiceDocument(xml: bytes).document
        }
    }

    /// Reads a service document from chunks of bytes as they arrive.
    ///
    /// The decoder parses Atom chunk by chunk and never holds all bytes of the document. It holds JSON until the
    /// document is complete. A chunk may end at any byte. After an error, no further chunk is requested.
    ///
    /// - Parameters:
    ///   - chunks: the chunks, such as the body of a response or the content of a file.
    ///   - maxBytes: the maximum size of the document, in bytes.
    /// - Throws: ``PayloadError`` as in ``serviceDocument(_:)``; ``PayloadError/tooLarge(limit:)`` if the
    ///   document is larger than `maxBytes`; `CancellationError`; errors of `chunks`.
    public func serviceDocument<Chunks: AsyncSequence>(
        chunks: Chunks, maxBytes: Int = XMLPayloadLimits.maxElementBytes
    ) async throws -> ServiceDocument where Chunks.Element: Collection<UInt8> {
        switch format {
        case .json, .verboseJSON: try serviceDocument(await chunks.documentBytes(maxBytes: maxBytes))
        case .atom: try await AtomServiceDocument(xmlChunks: chunks, maxBytes: maxBytes).document
        }
    }

    /// Reads the body of an error response.
    public func error(_ bytes: [UInt8]) throws(PayloadError) -> ODataErrorPayload {
        switch format {
        case .json, .verboseJSON: try ODataErrorPayload(json: bytes)
        case .atom: try ODataErrorPayload(xml: bytes)
        }
    }
}

/// Reads a collection of entities or a delta of any format in chunks as they arrive.
public struct EntityStreamReader: ~Copyable, Sendable {
    private var json: CollectionPayloadReader?
    private var atom: AtomFeedReader?

    init(model: EntityDataModel, type: QualifiedName, format: PayloadFormat, strictness: Strictness) {
        switch format {
        case .json: json = CollectionPayloadReader(model: model, type: type, strictness: strictness)
        case .verboseJSON:
            json = CollectionPayloadReader(model: model, type: type, strictness: strictness, dialect: .verbose)
        case .atom: atom = AtomFeedReader(model: model, type: type, strictness: strictness)
        }
    }

    /// Adds the next chunk.
    ///
    /// - Throws: ``PayloadError`` with the position.
    public mutating func append(_ bytes: some Sequence<UInt8>) throws(PayloadError) {
        json?.append(bytes)
        try atom?.append(bytes)
    }

    /// Marks the end of the payload.
    ///
    /// - Throws: ``PayloadError`` with the position.
    public mutating func finish() throws(PayloadError) {
        json?.finish()
        try atom?.finish()
    }

    /// Returns the next element; `nil` if more bytes are needed, and after the end.
    ///
    /// - Throws: ``PayloadError`` with the position and the property path, or with the service's error.
    public mutating func next() throws(PayloadError) -> CollectionPayloadReader.Element? {
        if json != nil { return try json?.next() ?? nil }
        return try atom?.next() ?? nil
    }
}
