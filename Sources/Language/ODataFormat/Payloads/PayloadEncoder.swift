import ODataModel

/// Writes bodies of any format from the same entities, values and documents, so that callers depend only on the
/// media type.
///
/// ```swift
/// let encoder = PayloadEncoder(model: model, format: .atom(.v2), purpose: .create)
/// let body = encoder.entity(order)
/// request.headerFields[.contentType] = encoder.format.contentType(.entry)
/// ```
public struct PayloadEncoder: Sendable {
    /// The purposes of a body.
    public typealias Purpose = AtomEntryWriter.Purpose

    /// The model of the service.
    public let model: EntityDataModel
    /// The format of the bodies.
    public let format: PayloadFormat
    /// The purpose of the bodies.
    public let purpose: Purpose
    /// Whether related entities are written inside their entity.
    public let includesRelated: Bool
    /// The time of the last update for entities that state none, because Atom requires a time in each entry and
    /// feed.
    public let updated: ODataDateTimeOffset

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - model: the model of the service.
    ///   - format: the format.
    ///   - purpose: the purpose of the bodies; requests contain no links and ETags of the service.
    ///   - includesRelated: whether related entities are included.
    ///   - updated: the time of the last update for entries and feeds that state none.
    public init(
        model: EntityDataModel, format: PayloadFormat, purpose: Purpose = .response, includesRelated: Bool = true,
        updated: ODataDateTimeOffset = ODataDateTimeOffset(seconds: 0)
    ) {
        self.model = model
        self.format = format
        self.purpose = purpose
        self.includesRelated = includesRelated
        self.updated = updated
    }

    var light: EntityPayloadWriter {
        guard case .json(let version, let metadata, let isCompatible) = format else {
            return EntityPayloadWriter(model: model)
        }
        return EntityPayloadWriter(
            model: model, metadata: purpose == .response ? metadata : .minimal, version: version,
            isIEEE754Compatible: isCompatible)
    }

    var verbose: VerboseEntityWriter {
        VerboseEntityWriter(
            model: model, version: format.version, isResponse: purpose == .response, includesRelated: includesRelated)
    }

    var atom: AtomEntryWriter {
        AtomEntryWriter(
            model: model, version: format.version, purpose: purpose, includesRelated: includesRelated, updated: updated)
    }

    /// Writes a single entity.
    ///
    /// - Parameters:
    ///   - entity: the entity.
    ///   - declared: the type that the reader expects; another type is stated explicitly. The default is the
    ///     entity's own type,
    ///     unless its control information has a type.
    ///   - context: the context URL, for responses of V3 and V4.
    public func entity(_ entity: ODataEntity, declared: QualifiedName? = nil, context: String? = nil) -> [UInt8] {
        switch format {
        case .json:
            var json = JSONWriter()
            let expected = declared ?? (entity.control.type == nil ? entity.shape.name : nil)
            light.write(outgoing(entity), declared: expected, context: context, to: &json)
            return json.bytes
        case .verboseJSON:
            var json = JSONWriter()
            verbose.writeBody(entity, to: &json)
            return json.bytes
        case .atom: return atom.document(entity, context: context)
        }
    }

    /// Returns an entity without content that only responses have.
    func outgoing(_ entity: ODataEntity) -> ODataEntity {
        var result = entity
        if !includesRelated { result.related = [:] }
        guard purpose != .response else { return result }
        result.control = entity.control.ofRequest
        return result
    }

    /// Returns a writer of a collection of entities or a delta.
    ///
    /// - Parameter type: the declared type of the entities.
    public func collection(type: QualifiedName) -> EntityStreamWriter { EntityStreamWriter(self, type: type) }

    /// Writes a property or the result of an operation.
    ///
    /// - Parameters:
    ///   - payload: the value.
    ///   - name: the name of the property or operation, which some formats include.
    ///   - type: the declared type.
    public func value(_ payload: ValuePayload, named name: String, type: TypeReference) -> [UInt8] {
        var json = JSONWriter()
        switch format {
        case .json: payload.write(type: type, using: light, to: &json)
        case .verboseJSON: verbose.writeBody(payload.value, named: name, type: type, to: &json)
        case .atom: return payload.writeXML(named: name, type: type, using: atom)
        }
        return json.bytes
    }

    /// Writes references to entities.
    public func references(_ payload: ReferencePayload) -> [UInt8] {
        var json = JSONWriter()
        switch format {
        case .json: payload.write(using: light, to: &json)
        case .verboseJSON: verbose.writeBody(links: payload.ids, isCollection: payload.isCollection, to: &json)
        case .atom: return payload.writeXML(version: format.version)
        }
        return json.bytes
    }

    /// Writes the service document of the model.
    ///
    /// - Parameters:
    ///   - baseURL: the root URL of the service, for Atom.
    ///   - context: the context URL, for JSON.
    public func serviceDocument(baseURL: String?, context: String?) -> [UInt8] {
        var json = JSONWriter()
        switch format {
        case .json(let version, let metadata, _):
            ServiceDocument(model: model, context: metadata == .none ? nil : context).write(version: version, to: &json)
        case .verboseJSON: ServiceDocument(model: model, context: nil).writeVerbose(to: &json)
        case .atom(let version): return AtomServiceDocument(model: model, baseURL: baseURL).write(version: version)
        }
        return json.bytes
    }

    /// Writes the body of an error response.
    public func error(_ error: ODataErrorPayload) -> [UInt8] {
        var json = JSONWriter()
        switch format {
        case .json: error.write(to: &json)
        case .verboseJSON: error.write(to: &json, dialect: .verbose)
        case .atom(let version): return error.writeXML(version: version)
        }
        return json.bytes
    }
}

/// Writes a collection of entities or a delta of any format piece by piece, so that a server can send 16 to 64 KB
/// at a time.
///
/// ```swift
/// var writer = encoder.collection(type: orderType)
/// writer.begin(url: root + "Orders", set: "Orders", context: context, count: 830)
/// for order in orders {
///     writer.entity(order)
///     if writer.count > 32_768 { send(writer.takeBytes()) }
/// }
/// writer.end(nextLink: next)
/// send(writer.takeBytes())
/// ```
public struct EntityStreamWriter: Sendable {
    /// Exactly one of the writers exists. Separate properties allow changes in place without copying buffers.
    private var light: CollectionPayloadWriter?
    private var verbose: VerboseCollectionWriter?
    private var atom: AtomFeedWriter?
    private let encoder: PayloadEncoder
    private var set = ""

    init(_ encoder: PayloadEncoder, type: QualifiedName) {
        self.encoder = encoder
        switch encoder.format {
        case .json: light = CollectionPayloadWriter(encoder.light, type: type)
        case .verboseJSON: verbose = VerboseCollectionWriter(encoder.verbose)
        case .atom: atom = AtomFeedWriter(encoder.atom)
        }
    }

    /// The number of bytes in the buffer.
    public var count: Int { light?.json.bytes.count ?? verbose?.json.bytes.count ?? atom?.count ?? 0 }

    /// Returns the output and empties the buffer.
    public mutating func takeBytes() -> [UInt8] {
        var bytes: [UInt8] = []
        light?.json.flush { bytes = $0 }
        verbose?.json.flush { bytes = $0 }
        if let xml = atom?.takeBytes() { bytes = xml }
        return bytes
    }

    /// Writes the beginning of the collection.
    ///
    /// - Parameters:
    ///   - url: the URL of the collection, for Atom.
    ///   - set: the name of the entity set.
    ///   - context: the context URL.
    ///   - count: the number of all matching entities.
    ///   - selfLink: the URL of this response, for Atom; by default that of the collection.
    public mutating func begin(
        url: String, set: String, context: String?, count: Int64? = nil, selfLink: String? = nil
    ) {
        self.set = set
        light?.begin(context: context, count: count)
        verbose?.begin(count: count)
        atom?.begin(id: url, title: set, context: context, count: count, selfLink: selfLink)
    }

    /// Writes a new or changed entity.
    public mutating func entity(_ entity: ODataEntity) {
        let entity = encoder.outgoing(entity)
        light?.entity(entity)
        verbose?.entity(entity)
        atom?.entity(entity)
    }

    /// Writes an entity that left the result.
    ///
    /// - Parameters:
    ///   - id: the entity's id.
    ///   - reason: `deleted` or `changed`.
    public mutating func removed(id: String, reason: String) {
        light?.removed(id: id, reason: reason, set: set)
        verbose?.removed(id: id, set: set)
        atom?.removed(id: id, reason: reason)
    }

    /// Writes an added or deleted link.
    ///
    /// - Throws: ``PayloadError/unsupported(_:)`` before V4.
    public mutating func link(_ link: DeltaLink, isDeleted: Bool) throws(PayloadError) {
        guard encoder.format.version >= .v4 else { throw .unsupported("a link in a delta") }
        light?.link(link, isDeleted: isDeleted, set: set)
        atom?.link(link, isDeleted: isDeleted, set: set)
    }

    /// Writes the end of the collection.
    public mutating func end(nextLink: String? = nil, deltaLink: String? = nil) {
        light?.end(nextLink: nextLink, deltaLink: deltaLink)
        verbose?.end(nextLink: nextLink, deltaLink: deltaLink)
        atom?.end(nextLink: nextLink, deltaLink: deltaLink)
    }

    /// Aborts the collection with an error, so that the reader knows that the collection is incomplete.
    public mutating func fail(_ error: ODataErrorPayload) {
        light?.fail(error)
        verbose?.fail(error)
        atom?.fail(error)
    }
}
