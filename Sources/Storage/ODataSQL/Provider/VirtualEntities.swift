import ODataModel
import ODataQuery
import ODataService

/// An entity set without a table: its entities, and the processing of reads.
package struct VirtualEntities {
    private static let mark = "v~"

    private let set: EntitySet
    private let model: EntityDataModel
    private let maxPageSize: Int
    private var memory: EntitiesInMemory

    /// Creates the set.
    ///
    /// - Parameters:
    ///   - entities: the entities with their keys and inlined related entities.
    ///   - set: the entity set.
    ///   - model: the model that declares the set.
    ///   - now: the value of `now()`.
    ///   - maxPageSize: the maximum number of entities on a page.
    package init(
        _ entities: [ODataEntity], of set: EntitySet, model: EntityDataModel, now: ODataDateTimeOffset, maxPageSize: Int
    ) {
        self.set = set
        self.model = model
        self.maxPageSize = maxPageSize
        let shape = model.shape(set.type)
        memory = EntitiesInMemory(
            entities.map { entity in
                var entity = entity
                if let key = entity.key, let shape {
                    entity.control.id = EntityID.canonical(set: set.name, key: key, shape: shape, model: model)
                }
                entity.markUnchanged()
                return entity
            }, model: model, now: now)
    }

    /// Removes the entities that do not satisfy a condition.
    package mutating func keep(_ condition: BoundExpression) throws { try memory.keep(condition) }

    /// Processes a read.
    ///
    /// - Parameter bound: the URL of the request, which starts with the set.
    /// - Throws: ``ODataError``: 404 for an unknown key, 501 for requests that virtual sets do not support.
    package func answer(_ bound: BoundURL, _ request: ODataRequest) throws -> ODataResponse {
        var memory = memory
        var properties: [Property] = []
        for step in bound.resource.steps.dropFirst() {
            switch step {
            case .key(let key):
                memory.keep(key)
                guard !memory.entities.isEmpty else { throw Self.notFound(bound) }
            case .filter(let condition, _), .alternateKey(_, let condition, _): try memory.keep(condition)
            case .cast(let shape): memory.keep(shape)
            case .property(let property, _, _): properties.append(property)
            case .navigation(let navigation, _, _) where properties.isEmpty:
                let related = memory.entities.flatMap { $0.related(through: navigation.name) }
                memory = EntitiesInMemory(related.compactMap { $0 as? ODataEntity }, model: model, now: memory.now)
            default: throw ODataError.notImplemented("This path through \(set.name)")
            }
        }
        return try answer(memory, properties, bound: bound, request: request)
    }

    private static func notFound(_ bound: BoundURL) -> ODataError {
        ODataError.notFound(StoreReader.name(of: bound.resource.steps))
    }

    private func answer(
        _ memory: EntitiesInMemory, _ properties: [Property], bound: BoundURL, request: ODataRequest
    ) throws -> ODataResponse {
        switch bound.resource.target {
        case .entities(let shape, let set):
            return try Self.page(
                memory, bound.query ?? StoreReader.query(shape, set), request: request, maxPageSize: maxPageSize)
        case .count(let shape, let set):
            var query = bound.query ?? StoreReader.query(shape, set)
            query.expand = []
            return ODataResponse(body: .count(Int64(try memory.page(query).entities.count)))
        case .entity(let shape, let set):
            let found = try memory.page(bound.query ?? StoreReader.query(shape, set)).entities.first
            guard let found else { throw Self.notFound(bound) }
            return ODataResponse(body: .entity(found), etag: found.control.etag)
        case .property, .rawValue:
            guard let entity = memory.entities.first, let last = properties.last else { throw Self.notFound(bound) }
            var value = ODataValue.complex(entity)
            for property in properties {
                guard case .complex(let holder) = value else { break }
                value = holder[property.name] ?? .null
            }
            if value.isNull { return ODataResponse(status: 204) }
            if case .property = bound.resource.target { return ODataResponse(body: .value(value, last.type)) }
            return ODataResponse(body: try StoreReader.raw(value, last.type, model: model))
        default: throw ODataError.notImplemented("This resource of a virtual entity set")
        }
    }

    /// Returns a page of entities in memory. The next link contains the position of the next page.
    package static func page(
        _ memory: EntitiesInMemory, _ query: BoundQuery, request: ODataRequest, maxPageSize: Int
    ) throws -> ODataResponse {
        var start = 0
        if let token = query.skipToken {
            guard token.hasPrefix(mark), let position = Int(token.dropFirst(mark.count)), position >= 0 else {
                throw PageToken.invalid
            }
            start = position
        }
        var page = try memory.page(query)
        let size = max(1, min(request.preferences.maxPageSize ?? .max, maxPageSize))
        let rest = page.entities.dropFirst(start)
        if rest.count > size {
            var url = request.url
            url.options.skipToken = "\(mark)\(start + size)"
            page.nextLink = (request.format?.serviceRoot ?? "") + url.urlEncoded()
        }
        page.entities = Array(rest.prefix(size))
        var response = ODataResponse(body: .page(page))
        if let wanted = request.preferences.maxPageSize {
            response.preferencesApplied.append("maxpagesize=\(min(wanted, size))")
        }
        return response
    }
}
