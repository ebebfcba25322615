import GRDB
import ODataModel
import ODataSQL

/// Finds replaced streams by the media ETags of downloaded entities: a service need not change an entity when its
/// stream is replaced (OData JSON Format 4.01, 4.6.14).
struct ReplacedStreams {
    private let set: String
    /// Empty if no stream is kept offline.
    private let properties: [String]
    private let database: Database

    init(table: TableStorage, in database: Database) throws {
        set = table.set
        self.database = database
        let properties = StreamTable.properties(of: table)
        self.properties =
            try !properties.isEmpty && QueryTable.all(in: database).contains(where: \.retrievesStreams)
            ? properties : []
    }

    /// The downloaded streams of a row that differ from those of the server version.
    func of(_ entity: ODataEntity, _ rowID: Int64) throws -> [StreamTable.Owner] {
        guard !properties.isEmpty else { return [] }
        return try entity.streamETags.compactMap { property, etag in
            guard properties.contains(property) else { return nil }
            let owner = StreamTable.Owner(set: set, rowID: rowID, property: property)
            guard let known = try StreamTable.downloaded(owner, in: database)?.etag else { return nil }
            return Self.opaque(known) == Self.opaque(etag) ? nil : owner
        }
    }

    /// Marks the replaced streams of a row for loading.
    func noteDue(_ entity: ODataEntity, _ rowID: Int64) throws {
        for owner in try of(entity, rowID) { try StreamTable.note(owner, in: database) }
    }

    /// The opaque part of an ETag, without its strength: services use strong ETags in payloads and weak ones in
    /// responses for a stream, or the reverse.
    private static func opaque(_ etag: String) -> Substring { etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...] }
}

extension ODataEntity {
    /// The ETags of its streams from the service. The stream of a media entity has the empty name.
    var streamETags: [String: String] {
        get {
            guard shape.hasStream || !shape.streamProperties.isEmpty else { return [:] }
            var etags: [String: String] = [:]
            if let etag = control.mediaEtag { etags[""] = etag }
            for property in shape.streamProperties {
                guard case .string(let etag)? = control.annotations[Self.etagAnnotation(property.name)] else {
                    continue
                }
                etags[property.name] = etag
            }
            return etags
        }
        set {
            control.mediaEtag = newValue[""]
            for property in shape.streamProperties {
                control.annotations[Self.etagAnnotation(property.name)] = newValue[property.name].map { .string($0) }
            }
        }
    }

    private static func etagAnnotation(_ property: String) -> String { "\(property)@odata.mediaEtag" }
}
