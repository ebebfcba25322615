import ODataModel

/// Reads a collection of entities or a delta in chunks as they arrive (OData JSON Format 4.01, 12 *Collection of
/// Entities* and 15 *Delta Payload*). Memory use does not grow with the number of entities.
///
/// ```swift
/// var reader = CollectionPayloadReader(model: model, type: orderType)
/// for try await chunk in body {
///     reader.append(chunk)
///     while let element = try reader.next() { … }
/// }
/// reader.finish()
/// while let element = try reader.next() { … }
/// ```
///
/// If entities are not needed as values, ``read(into:)`` returns each as a row cursor over the bytes.
public struct CollectionPayloadReader: Sendable {
    /// The maximum size of a single element in bytes.
    public static let maxElementBytes = 64 * 1024 * 1024

    /// The maximum number of blanks after the end of the text.
    static let maxBlanks = 64 * 1024

    /// The elements of a collection or delta.
    public enum Element: Hashable, Sendable {
        /// An entity, which is new or changed in a delta.
        case entity(ODataEntity)
        /// An entity that left the result (OData JSON Format 4.01, 15.3).
        ///
        /// The entity is identified by its id, or by the key properties and control information of `entity`. The
        /// reason is `deleted` or `changed`.
        case removed(id: String?, entity: ODataEntity?, reason: String)
        /// An added link (15.4).
        case link(DeltaLink)
        /// A deleted link (15.5).
        case deletedLink(DeltaLink)
        /// The end of the collection, with information about the whole collection.
        case finished(CollectionSummary)
    }

    @usableFromInline var chunks = JSONChunks()
    private var progress: CollectionProgress
    /// The offset in the whole text after the collection; `nil` before its end.
    private var end: Int?

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - model: the model of the service.
    ///   - type: the declared type of the entities.
    ///   - strictness: the treatment of undeclared properties.
    ///   - dialect: the JSON format.
    public init(
        model: EntityDataModel, type: QualifiedName, strictness: Strictness = .lenient, dialect: JSONDialect = .light
    ) {
        progress = CollectionProgress(
            reader: EntityPayloadReader(model: model, strictness: strictness), type: type, dialect: dialect)
        chunks.takesBareNumbers = strictness == .forgiving
    }

    /// Adds the next chunk.
    public mutating func append(_ bytes: some Sequence<UInt8>) { chunks.append(bytes) }

    /// Marks the end of the payload.
    public mutating func finish() { chunks.finish() }

    /// Returns the next element.
    ///
    /// - Returns: `nil` if more bytes are needed, and after ``Element/finished(_:)``.
    /// - Throws: ``PayloadError`` with the position and the property path, or with the service's error object.
    public mutating func next() throws(PayloadError) -> Element? { try next(stoppingAtElements: false) }

    /// Returns the next element; `nil` also at the start of the elements, so that a reader of rows can take over.
    @usableFromInline
    mutating func next(stoppingAtElements stops: Bool) throws(PayloadError) -> Element? {
        let wasAmongElements = progress.isAmongElements
        while chunks.isReady() {
            switch try Self.step(&chunks, &progress) {
            case .element(let element)?: return element
            case .nothing?: if stops, !wasAmongElements, progress.isAmongElements { return nil }
            case .ended?:
                try checkEnd()
                return nil
            case .serviceError(let error)?: throw .service(error)
            case nil: continue
            }
        }
        try checkSize()
        return nil
    }

    /// Reads one element or one member; returns `nil` if more bytes are needed.
    private static func step(
        _ chunks: inout JSONChunks, _ progress: inout CollectionProgress
    ) throws(PayloadError) -> CollectionProgress.Outcome? {
        do throws(JSONError) {
            var state = progress.state
            let outcome = try chunks.scan(&state) { (scanner) throws(JSONError) in try progress.step(&scanner) }
            progress.state = state
            return outcome
        } catch {
            throw .malformed(error)
        }
    }

    /// Checks that a text ends at the end of its collection.
    private mutating func checkEnd() throws(PayloadError) {
        let offset = chunks.origin.offset + chunks.consumed
        guard offset - (end ?? offset) <= Self.maxBlanks else { throw .elementTooLarge(at: chunks.origin) }
        end = end ?? offset
    }

    @usableFromInline
    func checkSize() throws(PayloadError) {
        if chunks.pending > Self.maxElementBytes { throw .elementTooLarge(at: chunks.origin) }
    }

    // MARK: Rows

    /// Whether the next token is an element of the collection or its end.
    @usableFromInline var isAmongElements: Bool { progress.isAmongElements }

    /// Returns whether rows can be read: the position is among the elements, and a whole element may be available.
    @usableFromInline
    mutating func isReadyForRows() -> Bool { progress.isAmongElements && chunks.isReady() }

    /// Returns a row of the declared type; `nil` if the model does not declare the type.
    @usableFromInline
    func makeRow() -> JSONRow? {
        progress.reader.model.shape(progress.type).map {
            JSONRow(shape: $0, model: progress.reader.model, isForgiving: progress.reader.isForgiving)
        }
    }

    /// Returns a pass over the rows of the buffer.
    @usableFromInline
    func makePass(_ bytes: UnsafeBufferPointer<UInt8>) -> RowPass {
        RowPass(chunks.scanner(over: bytes, progress.state), isStrict: progress.reader.strictness == .strict)
    }

    /// Continues at the end of a pass.
    ///
    /// - Returns: whether the next element must be read as a value.
    @usableFromInline
    mutating func finishPass(_ pass: RowPass) throws(PayloadError) -> Bool {
        if pass.scanner.offset > chunks.consumed { chunks.advance(to: pass.scanner.offset) }
        progress.state = pass.scanner.state
        switch pass.end {
        case .cut:
            chunks.waitForEnd()
            return false
        case .failed(let error): throw .malformed(error)
        case .other, nil: return true
        }
    }
}

/// The two families of JSON formats.
public enum JSONDialect: Hashable, Sendable {
    /// The JSON of V4 and the light JSON of V3, with control information beside the properties.
    case light
    /// The JSON of V1 to V3, with everything in `d` and control information in `__metadata` (OData JSON Verbose
    /// Format 3.0).
    case verbose
}

/// Information about a collection besides its elements (OData JSON Format 4.01, 4.6.4 to 4.6.7).
public struct CollectionSummary: Hashable, Sendable {
    /// The context URL.
    public var context: String?
    /// The number of all matching entities, regardless of paging.
    public var count: Int64?
    /// The link to the next page.
    public var nextLink: String?
    /// The link to later changes.
    public var deltaLink: String?
    /// The annotations on the collection by full name, such as `Org.OData.Core.V1.Messages`.
    public var annotations: [String: ODataValue]

    /// Creates a summary.
    public init(
        context: String? = nil, count: Int64? = nil, nextLink: String? = nil, deltaLink: String? = nil,
        annotations: [String: ODataValue] = [:]
    ) {
        self.annotations = annotations
        self.context = context
        self.count = count
        self.nextLink = nextLink
        self.deltaLink = deltaLink
    }
}

/// A link in a delta (OData JSON Format 4.01, 15.4 and 15.5).
public struct DeltaLink: Hashable, Sendable {
    /// The id of the entity at which the link starts.
    public var source: String
    /// The path of the navigation property.
    public var relationship: String
    /// The id of the related entity; `nil` if a deleted single-valued link omits the target.
    public var target: String?

    /// Creates a link.
    public init(source: String, relationship: String, target: String?) {
        self.source = source
        self.relationship = relationship
        self.target = target
    }
}
