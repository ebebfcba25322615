import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The store inside a transaction, for the handlers of operations and for interceptors.
///
/// Authorization and capabilities do not restrict these reads and changes. ETags, constraints and interceptors
/// work as in other changes.
public struct ServiceTransaction {
    let core: ServiceCore
    let database: Database
    /// The request that caused the transaction.
    let request: ODataRequest

    /// The model of the service.
    public var model: EntityDataModel { core.mapping.model }

    /// Returns the entities at a relative URL: a collection with query options, or one entity.
    ///
    /// - Throws: ``ODataError``. For a missing entity the result is empty.
    public func entities(_ url: String) throws -> [ODataEntity] {
        let parsed: ODataURL
        do throws(QueryError) { parsed = try ODataURL(parsing: url) } catch { throw ODataError(error) }
        return try entities(try core.bind(parsed))
    }

    /// Returns the entity at a relative URL; `nil` if there is none.
    public func entity(_ url: String) throws -> ODataEntity? { try entities(url).first }

    func entities(_ bound: BoundURL, limit: Int = .max) throws -> [ODataEntity] {
        let shape: TypeShape
        let set: EntitySet?
        switch bound.resource.target {
        case .entities(let type, let of), .entity(let type, let of): (shape, set) = (type, of)
        default:
            throw ODataError(status: 500, code: "InternalError", message: "Entities were expected at the URL.")
        }
        let query = bound.query ?? StoreReader.query(shape, set)
        let reader = core.reader
        let (compiled, options) = try reader.prepare(
            query, bound.resource.steps, now: core.options.now(), in: database)
        return try StoreReader.entities(
            compiled, query, mapping: core.mapping, options: options, in: database, limit: limit)
    }

    /// Returns the number of entities in the collection at a relative URL, regardless of `$top` and `$skip`.
    public func count(_ url: String) throws -> Int {
        let parsed: ODataURL
        do throws(QueryError) { parsed = try ODataURL(parsing: url) } catch { throw ODataError(error) }
        let bound = try core.bind(parsed)
        guard case .entities(let shape, let set) = bound.resource.target else { return try entities(bound).count }
        var query = bound.query ?? StoreReader.query(shape, set)
        query.orderBy = []
        query.expand = []
        let (compiled, _) = try core.reader.prepare(
            query, bound.resource.steps, now: core.options.now(), in: database)
        return Int(try StoreReader.count(compiled, in: database))
    }

    /// Returns a new entity of a set's declared type with some properties.
    public func newEntity(in set: String, _ properties: [String: ODataValue] = [:]) throws -> ODataEntity {
        guard let shape = core.mapping.tables[set]?.shape else { throw ODataError.notFound(set) }
        return ODataEntity(shape: shape, properties)
    }

    /// Creates an entity.
    ///
    /// - Returns: the stored entity with its id.
    /// - Throws: ``ODataError`` if the change is refused.
    @discardableResult
    public func create(_ entity: ODataEntity, in set: String) throws -> ODataEntity {
        try core.trustedWriter.create(entity, in: set, request: own(.create), database: database).entity
    }

    /// Changes properties of an entity.
    ///
    /// - Parameters:
    ///   - entity: an entity that was read in this transaction. Its key identifies the row; its changed
    ///     properties are written.
    ///   - properties: further properties to write.
    /// - Throws: ``ODataError`` if the change is refused.
    @discardableResult
    public func update(_ entity: ODataEntity, _ properties: [String: ODataValue] = [:]) throws -> ODataEntity {
        guard let id = entity.control.id else {
            throw ODataError(
                status: 500, code: "InternalError", message: "The entity to change has no id. Add @id or its key.")
        }
        var patch = ODataEntity(shape: entity.shape)
        for name in entity.changedProperties { patch[name] = entity[name] }
        for (name, value) in properties { patch[name] = value }
        let target = try target(id)
        return try core.trustedWriter.update(
            patch, key: target.key, in: target.set, parent: target.parent, request: own(.update), database: database
        ).entity
    }

    /// Deletes an entity by its id.
    ///
    /// - Throws: ``ODataError`` if the change is refused.
    public func delete(_ id: String) throws {
        let target = try target(id)
        try core.trustedWriter.delete(
            key: target.key, in: target.set, parent: target.parent, request: own(.delete), database: database)
    }

    private func target(_ id: String) throws -> WriteTarget {
        let url: ODataURL
        do throws(QueryError) { url = try ODataURL(parsing: id) } catch { throw ODataError(error) }
        return try WriteTarget(core.bind(url).resource, writer: core.trustedWriter, database: database)
    }

    private func own(_ method: ODataRequest.Method) -> ODataRequest {
        var own = ODataRequest(method, ODataURL(), ifMatch: method == .create ? nil : "*")
        own.context.principal = request.context.principal
        return own
    }
}
