import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Single properties and raw values (OData Protocol 4.01, 11.2.4 and 11.2.5).
extension StoreReader {
    func property(
        _ resource: BoundResource, _ options: BoundQuery?, request: ODataRequest, reader: any DatabaseReader
    ) async throws -> ODataResponse {
        let isRaw: Bool
        switch resource.target {
        case .rawValue(nil): throw ODataError.notImplemented("the stream of a media entity in a store's reader")
        case .rawValue: isRaw = true
        default: isRaw = false
        }
        guard
            let first = resource.steps.firstIndex(where: {
                if case .property = $0 { true } else { false }
            }), case .property(_, let ordinal, let shape) = resource.steps[first]
        else { throw ODataError.notImplemented("this property") }
        let segments = Array(resource.steps[..<first])
        var query = Self.query(shape, Self.set(of: segments))
        query.projection = .some(ordinals: [ordinal], names: [])
        let wanted = query
        var paging = ExpandPaging()
        paging.budget = request.context.budget
        let found = try await reading(reader, request.context.budget) { [paging] database -> ODataEntity? in
            let (compiled, options) = try prepare(wanted, segments, now: configuration.now(), in: database)
            return try Self.entities(
                compiled, wanted, mapping: mapping, options: options, in: database, limit: 1, paging: paging
            ).first
        }
        guard let entity = found else { throw ODataError.notFound(Self.name(of: segments)) }
        let (value, type) = try Self.follow(resource.steps[first...], in: entity, of: segments, mapping.model)
        if value.isNull { return ODataResponse(status: 204, etag: entity.control.etag) }
        guard isRaw else {
            var response = ODataResponse(
                body: .value(try narrowed(value, by: options), type), etag: entity.control.etag)
            // The context URL contains the canonical URL of the entity, independent of the request URL (OData
            // Protocol 4.01, 10.13).
            response.owner = entity.control.id
            return response
        }
        if case .binary(let bytes) = value, case .rawValue(let property?) = resource.target,
            case .constant(_, let mediaType)? = property.annotations.annotation(Vocabulary.core + "MediaType")?.value
        {
            return ODataResponse(body: .raw(ByteStream(bytes), contentType: mediaType), etag: entity.control.etag)
        }
        return ODataResponse(body: try Self.raw(value, type, model: mapping.model), etag: entity.control.etag)
    }

    /// Returns complex values according to query options.
    package func narrowed(_ value: ODataValue, by query: BoundQuery?) throws -> ODataValue {
        guard let query else { return value }
        switch value {
        case .complex(let instance):
            let memory = EntitiesInMemory([instance], model: mapping.model, now: configuration.now())
            return try memory.page(query).entities.first.map { .complex($0) } ?? value
        case .collection(let members):
            let instances = members.compactMap { if case .complex(let instance) = $0 { instance } else { nil } }
            guard instances.count == members.count else { return value }
            let memory = EntitiesInMemory(instances, model: mapping.model, now: configuration.now())
            return .collection(try memory.page(query).entities.map { .complex($0) })
        default: return value
        }
    }

    /// Returns `$count` of a collection of values. All members are in one column, so that they are counted after
    /// reading.
    func memberCount(
        _ url: BoundURL, _ property: Property, of owner: TypeShape, request: ODataRequest, reader: any DatabaseReader
    ) async throws -> ODataResponse {
        var resource = url.resource
        resource.target = .property(property, of: owner)
        let response = try await self.property(resource, nil, request: request, reader: reader)
        guard case .value(.collection(let members), _) = response.body else { return response }
        guard let query = url.query, query.filter != nil || query.search != nil || !query.apply.isEmpty else {
            return ODataResponse(body: .count(Int64(members.count)))
        }
        let instances = members.compactMap { if case .complex(let instance) = $0 { instance } else { nil } }
        guard instances.count == members.count, query.variable.shape != nil else {
            throw ODataError.notImplemented("Query options on the count of a collection of primitive values")
        }
        let memory = EntitiesInMemory(instances, model: mapping.model, now: configuration.now())
        return ODataResponse(body: .count(Int64(try memory.page(query).entities.count)))
    }

    private static func set(of segments: [BoundSegment]) -> EntitySet? {
        for segment in segments.reversed() {
            switch segment {
            case .entitySet(let set, _): return set
            case .navigation(_, let set, _): return set
            default: continue
            }
        }
        return nil
    }

    private static func singleton(of segments: [BoundSegment]) -> String? {
        guard segments.count == 1, case .singleton(let singleton, _)? = segments.first else { return nil }
        return singleton.name
    }

    /// Follows property segments from an entity into complex values.
    ///
    /// - Parameter path: the path to the entity.
    private static func follow(
        _ segments: ArraySlice<BoundSegment>, in entity: ODataEntity, of path: [BoundSegment], _ model: EntityDataModel
    ) throws -> (ODataValue, TypeReference) {
        var current = ODataValue.complex(entity)
        var type = TypeReference.entity(entity.shape.name)
        for segment in segments {
            switch segment {
            case .property(let property, _, _):
                guard case .complex(let owner) = current else { return (.null, property.type) }
                guard let value = owner[property.name] else {
                    // A value that is not loaded is not null.
                    let set = set(of: path)?.name ?? singleton(of: path)
                    let query = segments.first?.propertyName.flatMap { first in set.map { "\($0)?$select=\(first)" } }
                    throw ODataError.notLoaded("\(set.map { "\($0)/" } ?? "")\(property.name)", definingQuery: query)
                }
                current = value
                type = property.type
            case .cast(let shape):
                switch current {
                case .complex(let holder):
                    guard model.isType(holder.shape.name, shape.name) else {
                        throw ODataError.notFound("\(type) as \(shape.name)")
                    }
                case .collection(let members):
                    current = .collection(
                        members.filter { member in
                            guard case .complex(let holder) = member else { return false }
                            return model.isType(holder.shape.name, shape.name)
                        })
                default: continue
                }
                type = type.isCollection ? .collection(.complex(shape.name)) : .complex(shape.name)
            default: throw ODataError.notImplemented("the path behind \(type)")
            }
        }
        return (current, type)
    }

    /// Returns the bytes of a value for `$value`.
    package static func raw(_ value: ODataValue, _ type: TypeReference, model: EntityDataModel) throws -> ResponseBody {
        switch value {
        case .binary(let bytes): return .raw(ByteStream(bytes), contentType: "application/octet-stream")
        case .geo(let value): return .raw(ByteStream(Array(value.geoJSON.utf8)), contentType: "application/json")
        case .enumeration(let number):
            var text = String(number)
            if case .enumeration(let name) = type, let declared = model.enumType(name) {
                text = declared.text(of: number)
            }
            return .raw(ByteStream(Array(text.utf8)), contentType: "text/plain")
        default:
            guard let text = value.lexicalText else { throw ODataError.notImplemented("$value of \(type)") }
            return .raw(ByteStream(Array(text.utf8)), contentType: "text/plain")
        }
    }
}

extension BoundSegment {
    fileprivate var propertyName: String? {
        if case .property(let property, _, _) = self { property.name } else { nil }
    }
}
