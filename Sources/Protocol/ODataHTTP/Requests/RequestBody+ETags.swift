import ODataModel
import ODataService

extension RequestBody {
    /// Removes the entity tags of entities, which are not conditions before 4.01 (OData Protocol 4.01, 11.4.3).
    mutating func removeETags() {
        switch self {
        case .entity(let entity): self = .entity(entity.withoutETags)
        case .delta(var page):
            page.entities = page.entities.map(\.withoutETags)
            for index in page.removed.indices { page.removed[index].etag = nil }
            self = .delta(page)
        default: break
        }
    }
}

extension ODataEntity {
    /// The entity without its entity tag and those of nested entities.
    fileprivate var withoutETags: ODataEntity {
        var entity = self
        if entity.control.etag != nil { entity.control.etag = nil }
        for (name, related) in related {
            switch related {
            case .one(let other): entity.related[name] = .one(other.withoutETags)
            case .many(let others, let count, let nextLink):
                entity.related[name] = .many(others.map(\.withoutETags), count: count, nextLink: nextLink)
            case .none, .references: break
            }
        }
        return entity
    }
}
