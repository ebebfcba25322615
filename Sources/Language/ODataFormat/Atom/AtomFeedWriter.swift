import ODataModel

/// Writes an Atom feed or delta piece by piece, so that a server can send 16 to 64 KB at a time (OData Atom Format
/// 4.0, 6 and 13).
///
/// ```swift
/// var writer = AtomFeedWriter(AtomEntryWriter(model: model, version: .v2), type: orderType)
/// writer.begin(id: "https://…/Orders", title: "Orders", count: 830)
/// for order in orders {
///     writer.entity(order)
///     if writer.count > 32_768 { send(writer.takeBytes()) }
/// }
/// writer.end(nextLink: next)
/// send(writer.takeBytes())
/// ```
public struct AtomFeedWriter: Sendable {
    private var xml = XMLOutput()
    private let writer: AtomEntryWriter
    private var hasEntries = false

    /// Creates a writer.
    public init(_ writer: AtomEntryWriter) { self.writer = writer }

    /// The number of bytes in the buffer.
    public var count: Int { xml.bytes.count }

    /// Returns the output and empties the buffer.
    public mutating func takeBytes() -> [UInt8] { xml.takeBytes() }

    /// Writes the beginning of the feed.
    ///
    /// - Parameters:
    ///   - id: the URL of the collection.
    ///   - title: the name of the collection.
    ///   - context: the context URL, which only V4 uses.
    ///   - count: the number of all matching entries.
    ///   - selfLink: the URL of this feed (RFC 4287, 4.1.1); by default that of the collection.
    public mutating func begin(
        id: String, title: String, context: String? = nil, count: Int64? = nil, selfLink: String? = nil
    ) {
        xml.declaration()
        xml.begin("feed")
        writer.declareNamespaces(&xml)
        xml.attribute("xmlns:at", AtomNames.tombstones)
        if writer.version >= .v4 { xml.attribute("m:context", context) }
        xml.element("id", text: id)
        xml.element("title", text: title)
        xml.element("updated", text: writer.updated.description)
        xml.element("link", [("rel", "self"), ("title", title), ("href", selfLink ?? id)], text: "")
        if let count { xml.element("m:count", text: String(count)) }
    }

    /// Writes a new or changed entry.
    public mutating func entity(_ entity: ODataEntity, context: String? = nil) {
        hasEntries = true
        writer.write(entity, context: context, to: &xml)
    }

    /// Writes a tombstone for an entry that left the result (RFC 6721, 3).
    public mutating func removed(id: String, reason: String) {
        var attributes = [("ref", id), ("when", writer.updated.description)]
        if writer.version >= .v4 { attributes.append(("m:reason", reason)) }
        xml.element("at:deleted-entry", attributes, text: "")
    }

    /// Writes an added or deleted link, which only V4 supports (OData Atom Format 4.0, 13.4 and 13.5).
    ///
    /// - Parameter set: the entity set at which the link starts.
    public mutating func link(_ link: DeltaLink, isDeleted: Bool, set: String) {
        var attributes = [("m:context", "$metadata#\(set)/\(isDeleted ? "$deletedLink" : "$link")")]
        attributes += [("source", link.source), ("relationship", link.relationship)]
        if let target = link.target { attributes.append(("target", target)) }
        xml.element(isDeleted ? "m:deleted-link" : "m:link", attributes, text: "")
    }

    /// Writes the end of the feed.
    public mutating func end(nextLink: String? = nil, deltaLink: String? = nil) {
        if !hasEntries {
            // A feed without entries must state an author itself (RFC 4287, 4.1.1).
            xml.begin("author")
            xml.element("name", text: "")
            xml.end()
        }
        if let nextLink { xml.element("link", [("rel", "next"), ("href", nextLink)], text: "") }
        if let deltaLink {
            let relation = writer.version < .v4 ? "delta" : "http://docs.oasis-open.org/odata/ns/delta"
            xml.element("link", [("rel", relation), ("href", deltaLink)], text: "")
        }
        xml.end()
    }

    /// Aborts the feed with an error, so that the reader knows that the feed is incomplete (OData Atom Format 4.0,
    /// 19.2).
    public mutating func fail(_ error: ODataErrorPayload) {
        xml.begin("m:error")
        xml.element("m:code", text: error.code)
        xml.element("m:message", text: error.message)
        xml.end()
        xml.end()
    }
}

extension ODataEntity {
    /// Creates an empty entry of an entity set's type, as a template for a create.
    ///
    /// - Returns: `nil` if the model does not declare the set.
    public init?(ofSet name: String, model: EntityDataModel) {
        guard let shape = model.shape(ofSet: name) else { return nil }
        self.init(shape: shape)
    }

    /// Sets a value at a path into complex values; missing complex values are created.
    ///
    /// ```swift
    /// try order.set("Rome", at: "ShipTo/Address/City", model: model)
    /// ```
    /// - Throws: `EntityError` if a name is not a property of its type, or an inner property is not complex.
    public mutating func set(_ value: ODataValue, at path: String, model: EntityDataModel) throws(EntityError) {
        try set(value, path.parts(between: "/").map(String.init)[...], model: model)
    }

    private mutating func set(
        _ value: ODataValue, _ path: ArraySlice<String>, model: EntityDataModel
    ) throws(EntityError) {
        guard let name = path.first, shape.ordinal(of: name) != nil || shape.isOpen else {
            throw .unknownProperty(path.first ?? "", type: shape.name)
        }
        guard path.count > 1 else {
            self[name] = value
            return
        }
        var inner: ODataEntity
        if case .complex(let present)? = self[name] {
            inner = present
        } else if case .complex(let type?)? = shape.property(name)?.type, let shape = model.shape(type) {
            inner = ODataEntity(shape: shape)
        } else {
            throw .typeMismatch(property: name, type: shape.name, expected: "of a complex type")
        }
        try inner.set(value, path.dropFirst(), model: model)
        self[name] = .complex(inner)
    }
}
