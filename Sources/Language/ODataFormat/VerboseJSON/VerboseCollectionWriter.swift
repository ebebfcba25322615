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
    /// Holds what has been written and not yet sent.
    public var json = JSONWriter(reservingCapacity: 64 * 1024)
    private let writer: VerboseEntityWriter

    /// Makes a writer.
    public init(_ writer: VerboseEntityWriter) { self.writer = writer }

    /// Writes the beginning.
    ///
    /// - Parameter count: the number of all entities that match; V1 has no place for it.
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

    /// Writes that an entry left the result, as V4 does within a feed of V2.
    public mutating func removed(id: String, set: String) {
        json.beginObject()
        json.key("@odata.context")
        json.string("$metadata#\(set)/$deletedEntity")
        json.key("id")
        json.string(id)
        json.endObject()
    }

    /// Writes the end.
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

    /// Breaks off with an error: what follows is no JSON, so that nobody takes the feed for whole (OData JSON Verbose
    /// Format 3.0, 8.9; V2 has no other way).
    public mutating func fail(_ error: ODataErrorPayload) { error.write(to: &json, dialect: .verbose) }
}
