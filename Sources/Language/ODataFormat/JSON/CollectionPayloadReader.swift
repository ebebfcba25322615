import ODataModel

/// Reads a collection of entities or a delta, fed in chunks as they arrive, in memory that does not grow
/// with the number of entities (OData JSON Format 4.01, 12 *Collection of Entities* and 15 *Delta Payload*).
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
/// Where entities are not needed as such, ``read(into:)`` gives each one as a row cursor over the bytes instead.
public struct CollectionPayloadReader: Sendable {
    /// The size of the largest single element, in bytes.
    public static let maxElementBytes = 64 * 1024 * 1024

    /// What comes out.
    public enum Element: Hashable, Sendable {
        /// An entity, new or changed in a delta.
        case entity(ODataEntity)
        /// An entity that left the result (OData JSON Format 4.01, 15.3): known by its id, or by the key
        /// properties and control information of `entity`. The reason is `deleted` or `changed`.
        case removed(id: String?, entity: ODataEntity?, reason: String)
        /// A link that was added (15.4).
        case link(DeltaLink)
        /// A link that was deleted (15.5).
        case deletedLink(DeltaLink)
        /// The end, with what the service said of the whole.
        case finished(CollectionSummary)
    }

    @usableFromInline var chunks = JSONChunks()
    private var progress: CollectionProgress

    /// Makes a reader.
    ///
    /// - Parameters:
    ///   - model: the model of the service.
    ///   - type: the declared type of the entities.
    ///   - strictness: what is made of undeclared properties.
    ///   - dialect: which of the JSON formats it is.
    public init(
        model: EntityDataModel, type: QualifiedName, strictness: Strictness = .lenient, dialect: JSONDialect = .light
    ) {
        progress = CollectionProgress(
            reader: EntityPayloadReader(model: model, strictness: strictness), type: type, dialect: dialect)
    }

    /// Takes the next chunk.
    public mutating func append(_ bytes: some Sequence<UInt8>) { chunks.append(bytes) }

    /// Says that no chunk follows: what is missing from now on is an error.
    public mutating func finish() { chunks.finish() }

    /// The next element.
    ///
    /// - Returns: `nil` when more bytes are needed, and after ``Element/finished(_:)``.
    /// - Throws: ``PayloadError`` with the place and the property path, or with the service's error object.
    public mutating func next() throws(PayloadError) -> Element? { try next(stoppingAtElements: false) }

    /// The next element; `nil` also when the elements begin, for a reader of rows.
    @usableFromInline
    mutating func next(stoppingAtElements stops: Bool) throws(PayloadError) -> Element? {
        let wasAmongElements = progress.isAmongElements
        while chunks.isReady() {
            switch try Self.step(&chunks, &progress) {
            case .element(let element)?: return element
            case .nothing?: if stops, !wasAmongElements, progress.isAmongElements { return nil }
            case .ended?: return nil
            case .serviceError(let error)?: throw .service(error)
            case nil: continue
            }
        }
        try checkSize()
        return nil
    }

    /// Reads one element or one member; `nil` when more bytes are needed.
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

    @usableFromInline
    func checkSize() throws(PayloadError) {
        if chunks.pending > Self.maxElementBytes { throw .elementTooLarge(at: chunks.origin) }
    }

    // MARK: Rows

    /// Whether the next token is an element of the collection or its end.
    @usableFromInline var isAmongElements: Bool { progress.isAmongElements }

    /// Whether rows can be read: the elements have begun and not ended, and a whole one may be there.
    @usableFromInline
    mutating func isReadyForRows() -> Bool { progress.isAmongElements && chunks.isReady() }

    /// A row of the declared type; `nil` when the model does not declare it.
    @usableFromInline
    func makeRow() -> JSONRow? {
        progress.reader.model.shape(progress.type).map {
            JSONRow(shape: $0, model: progress.reader.model, isForgiving: progress.reader.isForgiving)
        }
    }

    /// A pass over the rows of the buffer, which must be given to it.
    @usableFromInline
    func makePass(_ bytes: UnsafeBufferPointer<UInt8>) -> RowPass {
        RowPass(chunks.scanner(over: bytes, progress.state), isStrict: progress.reader.strictness == .strict)
    }

    /// Goes on where a pass ended.
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
    /// That of V4, and V3's light one: control information beside the properties.
    case light
    /// That of V1 to V3: everything in `d`, control information in `__metadata` (OData JSON Verbose Format 3.0).
    case verbose
}

/// What a service says of a collection besides its elements (OData JSON Format 4.01, 4.6.4 to 4.6.7).
public struct CollectionSummary: Hashable, Sendable {
    /// The context URL.
    public var context: String?
    /// The number of all entities that match, whatever the paging.
    public var count: Int64?
    /// Where the next page is.
    public var nextLink: String?
    /// Where the changes since then are.
    public var deltaLink: String?
    /// The annotations on the collection by full name, such as `Org.OData.Core.V1.Messages`.
    public var annotations: [String: ODataValue]

    /// Makes a summary.
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
    /// The id of the entity that the link starts from.
    public var source: String
    /// The path of the navigation property.
    public var relationship: String
    /// The id of the related entity; `nil` when a deleted single-valued link leaves it out.
    public var target: String?

    /// Makes a link.
    public init(source: String, relationship: String, target: String?) {
        self.source = source
        self.relationship = relationship
        self.target = target
    }
}
