import ODataModel

/// Writes a collection of entities or a delta piece by piece, so that a server can send 16 to 64 KB at a time
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
    /// The writer, which contains the output that has not been flushed.
    public var json: JSONWriter
    private let writer: EntityPayloadWriter
    private let type: QualifiedName
    /// The name of the entity set in the context URL.
    private var set = ""

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - writer: the writer of entities.
    ///   - type: the declared type of the entities.
    public init(_ writer: EntityPayloadWriter, type: QualifiedName) {
        self.writer = writer
        self.type = type
        json = JSONWriter(reservingCapacity: 64 * 1024)
    }

    /// Writes the beginning of the collection.
    ///
    /// - Parameters:
    ///   - context: the context URL, which ends in `/$delta` for deltas.
    ///   - count: the number of all matching entities.
    public mutating func begin(context: String?, count: Int64? = nil) {
        if let fragment = context?.parts(between: "#").last {
            set = String(fragment.unicodeScalars.prefix { $0 != "/" && $0 != "(" })
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

    /// Writes a new or changed entity, or a removed one if its control information has a reason for the removal.
    ///
    /// - Parameters:
    ///   - entity: the entity.
    ///   - context: the context URL of the entity if it differs from that of the collection.
    public mutating func entity(_ entity: ODataEntity, context: String? = nil) {
        if let reason = entity.control.removedReason, let id = entity.control.id, writer.version < .v401 {
            // 4.0 has a special object for removed entities, which contains only the id.
            return removed(id: id, reason: reason, set: set)
        }
        writer.write(entity, declared: type, context: context, to: &json)
    }

    /// Writes an entity that left the result (OData JSON Format 4.01, 15.3).
    ///
    /// - Parameters:
    ///   - id: the entity's id.
    ///   - reason: `deleted` or `changed`.
    ///   - set: the name of the entity set, which is part of the context URL in 4.0.
    ///   - etag: in a request of 4.01, the required ETag of the entity.
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

    /// Writes an added or deleted link (15.4 and 15.5).
    ///
    /// - Parameters:
    ///   - link: the link.
    ///   - isDeleted: whether the link was deleted.
    ///   - set: the entity set of the source, which is part of the context URL.
    ///   - annotations: the annotations of the item, by qualified term.
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

    /// Writes the end of the collection.
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

    /// Aborts the collection with an error after the closed array, so that the reader knows that the collection is
    /// incomplete (OData JSON Format 4.01, 21.2 *In-Stream Error*).
    public mutating func fail(_ error: ODataErrorPayload) {
        json.endArray()
        var body = JSONWriter()
        error.write(to: &body)
        json.key("error")
        // The range is the object within `{"error": …}`.
        json.raw(body.bytes.dropFirst(9).dropLast())
        json.endObject()
    }
}
