import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The addresses of the entities of requests: in a set, or in a collection or property of another entity.
extension Uploader {
    /// The place at which the entity of a request is created.
    struct EntityAddress {
        var url: ODataURL
        /// Whether the place holds many entities; if not, the entity is put there.
        var isCollection = true
    }

    /// The URL of a request's entity.
    ///
    /// - Parameter key: the key at the service; by default, the key of the request.
    func url(of request: QueuedRequest, key: EntityKey? = nil) async throws -> ODataURL {
        if request.kind == .call { return try await boundURL(of: request) }
        let key = key ?? request.key
        guard request.parentRow != nil else { return KeyURL.url(set: request.entitySet, key: key, mapping) }
        let place = try await address(of: request)
        guard place.isCollection, case .name(let name, _)? = place.url.path.segments.last else { return place.url }
        var url = place.url
        let predicate = KeyPredicate(key, shape: request.changes.shape, model: mapping.model)
        url.path.segments[url.path.segments.count - 1] = .name(name, .key(predicate))
        return url
    }

    /// The address that the service gave the entity of a request; `nil` if the address follows from the key.
    func link(of request: QueuedRequest) async throws -> String? {
        guard request.isOfRow, request.parentRow == nil else { return nil }
        let row = RowReference(set: request.entitySet, rowID: request.rowID)
        return try await database.read { try EntityLinks.edit(of: row, in: $0) }
    }

    /// The URL of the collection of a request's entity, with the current keys of its containers.
    ///
    /// - Throws: `ODataError` if a container is gone. The request then goes to the archive.
    func address(of request: QueuedRequest) async throws -> EntityAddress {
        let set = request.entitySet
        guard let parent = request.parentRow else {
            return EntityAddress(url: ODataURL(path: ResourcePath([.name(Identifier(set), .none)])))
        }
        return try await database.read { [mapping] database in
            try Containment(mapping: mapping).place(in: set, of: parent, database)
        }
    }
}
