import ODataModel
import ODataQuery
import ODataService

/// Conversion of entities between V2 clients and the service: V2 types, and URLs below the V2 root.
struct V2Entities {
    let values: V2Values
    let addresses: V2Addresses
    private let showsActions: Bool

    /// Creates a conversion.
    ///
    /// - Parameter showsActions: whether entities contain links to actions, for formats that support them.
    init(_ addresses: V2Addresses, showsActions: Bool = false) {
        values = V2Values(model: addresses.model)
        self.addresses = addresses
        self.showsActions = showsActions
    }

    /// Returns an entity for a V2 client.
    ///
    /// - Parameter path: the URL of the entity if it has none of its own.
    func visible(_ entity: ODataEntity, at path: String? = nil) -> ODataEntity {
        var result = values.visible(entity)
        let control = entity.control
        let address = control.id ?? control.editLink ?? path
        let link = address.map { addresses.link($0) }
        result.control.id = link
        result.control.editLink = link
        result.control.etag = control.etag
        if result.shape.hasStream, let link {
            result.control.mediaReadLink = link + "/$value"
            result.control.annotations["odata.mediaEditLink"] = .string(link + "/$value")
            result.control.mediaContentType = control.mediaContentType ?? "application/octet-stream"
            result.control.mediaEtag = control.mediaEtag
        }
        for navigation in result.shape.navigationProperties {
            guard let related = entity.related[navigation.name] else { continue }
            result.related[navigation.name] = visible(related, at: address.map { "\($0)/\(navigation.name)" })
        }
        if showsActions {
            result.atomLinks = addresses.model.actionLinks.links(of: result).map { link in
                var link = link
                link.url = addresses.serviceRoot.url(for: link.url)
                return link
            }
        }
        result.markUnchanged()
        return result
    }

    private func visible(_ related: RelatedEntities, at path: String?) -> RelatedEntities {
        switch related {
        case .none: .none
        case .one(let entity): .one(visible(entity, at: path))
        case .many(let entities, let count, let nextLink):
            .many(entities.map { visible($0) }, count: count, nextLink: nextLink.map { addresses.link($0) })
        case .references(let ids): .references(ids.map { addresses.link($0) })
        }
    }

    /// Returns the service's form of an entity that a V2 client sent.
    ///
    /// - Throws: ``ODataError`` with status 400 and the faulty property.
    func stored(_ entity: ODataEntity) throws(ODataError) -> ODataEntity {
        var result = try values.stored(entity)
        for (name, related) in entity.related {
            switch related {
            case .none: result.related[name] = RelatedEntities.none
            case .one(let other): result.related[name] = .one(try storedMember(other))
            case .many(let others, _, _):
                var entities: [ODataEntity] = []
                for other in others { entities.append(try storedMember(other)) }
                result.related[name] = .many(entities)
            case .references(let ids):
                var addressed: [String] = []
                for id in ids { addressed.append(try addresses.entityID(id)) }
                result.related[name] = .references(addressed)
            }
        }
        return result
    }

    /// Returns a related entity within another one. Its URL must be of this service.
    private func storedMember(_ entity: ODataEntity) throws(ODataError) -> ODataEntity {
        if let id = entity.control.id { _ = try addresses.entityID(id) }
        return try stored(entity)
    }
}
