import ODataModel

/// Writes a feed in verbose JSON piece by piece.
///
/// ```swift
/// var writer = VerboseCollectionWriter(VerboseEntityWriter(model: model))
/// writer.begin(count: 830)
/// for order in orders { writer.entity(order) }
/// writer.end(nextLink: next)
/// ```
public struct VerboseCollectionWriter: Sendable {
    /// The writer, which contains the output that has not been flushed.
    public var json = JSONWriter(reservingCapacity: 64 * 1024)
    private let writer: VerboseEntityWriter

    /// Creates a writer.
    public init(_ writer: VerboseEntityWriter) { self.writer = writer }

    /// Writes the beginning of the feed.
    ///
    /// - Parameter count: the number of all matching entities, which V1 does not support.
    public mutating func begin(count: Int64? = nil) {
        json.beginObject()
        json.key("d")
        if writer.version > .v1 {
            json.beginObject()
            if let count {
                json.key("__count")
                json.string(String(count))
            }
            json.key("results")
        }
        json.beginArray()
    }

    /// Writes an entry.
    public mutating func entity(_ entity: ODataEntity) { writer.writeInstance(entity, to: &json) }

    /// Writes an entry that left the result, in the notation of V4 within a feed of V2.
    public mutating func removed(id: String, set: String) {
        json.beginObject()
        json.key("@odata.context")
        json.string("$metadata#\(set)/$deletedEntity")
        json.key("id")
        json.string(id)
        json.endObject()
    }

    /// Writes the end of the feed.
    public mutating func end(nextLink: String? = nil, deltaLink: String? = nil) {
        json.endArray()
        if writer.version > .v1 {
            if let nextLink {
                json.key("__next")
                json.string(nextLink)
            }
            if let deltaLink {
                json.key("__delta")
                json.string(deltaLink)
            }
            json.endObject()
        }
        json.endObject()
    }

    /// Aborts the feed with an error. The result is malformed JSON, so that no reader takes the feed for complete
    /// (OData JSON Verbose Format 3.0, 8.9; V2 has no other way).
    public mutating func fail(_ error: ODataErrorPayload) { error.write(to: &json, dialect: .verbose) }
}
