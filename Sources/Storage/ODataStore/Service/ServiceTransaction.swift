import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The store inside one transaction, for the code of a service: operations and interceptors.
///
/// What is done here is done by the service itself: authorisation and capabilities do not restrict it, ETags,
/// versions, constraints and interceptors work as for any change.
public struct ServiceTransaction {
    let core: ServiceCore
    let database: Database
    /// The request on whose behalf all this happens.
    let request: ODataRequest

    /// The model.
    public var model: EntityDataModel { core.mapping.model }

    /// Reads what a relative URL addresses: a collection with its query, or one entity.
    ///
    /// - Throws: ``ODataError``; an entity that is not there gives no entities.
    public func entities(_ url: String) throws -> [ODataEntity] {
        let parsed: ODataURL
        do throws(QueryError) { parsed = try ODataURL(parsing: url) } catch { throw ODataError(error) }
        return try entities(try core.bind(parsed))
    }

    /// Reads one entity; `nil` when it is not there.
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

    /// The number of entities that a collection's URL addresses, whatever `$top` and `$skip` say.
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

    /// Makes an entity of a set's declared type with nothing in it.
    public func newEntity(in set: String, _ properties: [String: ODataValue] = [:]) throws -> ODataEntity {
        guard let shape = core.mapping.tables[set]?.shape else { throw ODataError.notFound(set) }
        return ODataEntity(shape: shape, properties)
    }

    /// Creates an entity.
    ///
    /// - Returns: the entity as it is stored, with its id.
    /// - Throws: ``ODataError`` when refused.
    @discardableResult
    public func create(_ entity: ODataEntity, in set: String) throws -> ODataEntity {
        try core.trustedWriter.create(entity, in: set, request: own(.create), database: database).entity
    }

    /// Changes properties of an entity.
    ///
    /// - Parameters:
    ///   - entity: an entity that was read here; its key counts, and what was set since.
    ///   - properties: further properties to set.
    /// - Throws: ``ODataError`` when refused.
    @discardableResult
    public func update(_ entity: ODataEntity, _ properties: [String: ODataValue] = [:]) throws -> ODataEntity {
        guard let id = entity.control.id else {
            throw ODataError(status: 500, code: "InternalError", message: "An entity without an id was to be changed.")
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
    /// - Throws: ``ODataError`` when refused.
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
