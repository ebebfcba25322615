import ODataModel

/// Writes a collection of entities or a delta piece by piece, so that a server sends 16 to 64 KB at a time
/// (OData JSON Format 4.01, 12 and 15).
///
/// ```swift
/// var writer = CollectionPayloadWriter(EntityPayloadWriter(model: model), type: orderType)
/// writer.begin(context: "$metadata#Orders", count: 830)
/// for order in orders {
///     writer.entity(order)
///     if writer.json.bytes.count > 32_768 { writer.json.flush(send) }
/// }
/// writer.end(nextLink: next)
/// writer.json.flush(send)
/// ```
public struct CollectionPayloadWriter: Sendable {
    /// Holds what has been written and not yet sent.
    public var json: JSONWriter
    private let writer: EntityPayloadWriter
    private let type: QualifiedName
    /// The entity set, as the context tells.
    private var set = ""

    /// Makes a writer.
    ///
    /// - Parameters:
    ///   - writer: says how entities are written.
    ///   - type: the declared type of the entities.
    public init(_ writer: EntityPayloadWriter, type: QualifiedName) {
        self.writer = writer
        self.type = type
        json = JSONWriter(reservingCapacity: 64 * 1024)
    }

    /// Writes the beginning.
    ///
    /// - Parameters:
    ///   - context: the context URL; ends in `/$delta` for deltas.
    ///   - count: the number of all entities that match.
    public mutating func begin(context: String?, count: Int64? = nil) {
        if let fragment = context?.split(separator: "#").last {
            set = String(fragment.prefix { $0 != "/" && $0 != "(" })
        }
        json.beginObject()
        if writer.metadata != .none, let context {
            json.key(writer.control("context"))
            json.string(context)
        }
        if let count {
            json.key(writer.control("count"))
            writer.writeValue(.integer(count), type: .primitive(.int64), to: &json)
        }
        json.key("value")
        json.beginArray()
    }

    /// Writes an entity, new or changed, or removed where it says so.
    ///
    /// - Parameters:
    ///   - entity: the entity.
    ///   - context: its own context URL, if it differs from that of the collection.
    public mutating func entity(_ entity: ODataEntity, context: String? = nil) {
        if let reason = entity.control.removedReason, let id = entity.control.id, writer.version < .v401 {
            // 4.0 has an object of its own for it, which knows the id alone.
            return removed(id: id, reason: reason, set: set)
        }
        writer.write(entity, declared: type, context: context, to: &json)
    }

    /// Writes that an entity left the result (OData JSON Format 4.01, 15.3).
    ///
    /// - Parameters:
    ///   - id: the entity's id.
    ///   - reason: `deleted` or `changed`.
    ///   - set: the name of the entity set, which 4.0 puts into the context URL.
    ///   - etag: in a request of 4.01, the ETag that the entity must have.
    public mutating func removed(id: String, reason: String, set: String, etag: String? = nil) {
        json.beginObject()
        if writer.version >= .v401 {
            json.key(writer.control("removed"))
            json.beginObject()
            json.key("reason")
            json.string(reason)
            json.endObject()
            json.key(writer.control("id"))
            json.string(id)
            if let etag {
                json.key(writer.control("etag"))
                json.string(etag)
            }
        } else {
            json.key("@odata.context")
            json.string("$metadata#\(set)/$deletedEntity")
            json.key("id")
            json.string(id)
            json.key("reason")
            json.string(reason)
        }
        json.endObject()
    }

    /// Writes that a link was added or deleted (15.4 and 15.5).
    ///
    /// - Parameters:
    ///   - link: the link.
    ///   - isDeleted: whether it was deleted.
    ///   - set: the entity set of its source, which the context URL names.
    ///   - annotations: the annotations of the item, by their qualified terms.
    public mutating func link(
        _ link: DeltaLink, isDeleted: Bool, set: String, annotations: [String: ODataValue] = [:]
    ) {
        json.beginObject()
        json.key(writer.control("context"))
        json.string("$metadata#\(set)/\(isDeleted ? "$deletedLink" : "$link")")
        json.key("source")
        json.string(link.source)
        json.key("relationship")
        json.string(link.relationship)
        if let target = link.target {
            json.key("target")
            json.string(target)
        }
        for (term, value) in annotations.sorted(by: { $0.key < $1.key }) where writer.metadata != .none {
            json.key("@\(term)")
            writer.writeValue(value, type: nil, to: &json)
        }
        json.endObject()
    }

    /// Writes the end.
    public mutating func end(nextLink: String? = nil, deltaLink: String? = nil) {
        json.endArray()
        if let nextLink {
            json.key(writer.control("nextLink"))
            json.string(nextLink)
        }
        if writer.metadata != .none, let deltaLink {
            json.key(writer.control("deltaLink"))
            json.string(deltaLink)
        }
        json.endObject()
    }

    /// Breaks off with an error: the array is closed, the error stands beside it, and the reader knows that
    /// the collection is not whole (OData JSON Format 4.01, 21.2 *In-Stream Error*).
    public mutating func fail(_ error: ODataErrorPayload) {
        json.endArray()
        var body = JSONWriter()
        error.write(to: &body)
        json.key("error")
        // The object within `{"error": …}`.
        json.raw(body.bytes.dropFirst(9).dropLast())
        json.endObject()
    }
}
