import ODataModel

/// An instance while its members come in: what belongs to a property may stand before or after it.
struct InstanceInProgress {
    var entity: Entity
    var hasStatedType = false
    /// Types of dynamic properties.
    var dynamicTypes: [String: TypeReference] = [:]
    /// Entity ids by navigation property.
    var bindings: [String: [String]] = [:]
    var counts: [String: Int64] = [:]
    var nextLinks: [String: String] = [:]

    init(shape: Shape) { entity = Entity(shape: shape) }

    /// Goes on as an instance of another type: base-type properties keep their ordinals.
    mutating func adopt(_ shape: Shape) {
        guard shape != entity.shape else { return }
        var next = Entity(shape: shape)
        for (property, value) in zip(entity.shape.properties, entity.values) {
            if let value { next[property.name] = value }
        }
        for (name, value) in entity.dynamicProperties { next[name] = value }
        next.related = entity.related
        next.control = entity.control
        entity = next
    }

    /// The instance with counts, links and references put where they belong.
    consuming func finished() -> Entity {
        for (name, ids) in bindings {
            switch entity.related[name] {
            case .many(let entities, let count, let nextLink):
                // Existing entities beside new ones: each reference is an entity of which only the id is known.
                let type = entity.shape.navigationProperty(name)?.target
                let shape = entities.first?.shape ?? Shape.untyped
                let references = ids.map { id in
                    var reference = Entity(shape: shape)
                    reference.control.id = id
                    reference.control.type = type
                    return reference
                }
                entity.related[name] = .many(entities + references, count: count, nextLink: nextLink)
            default: entity.related[name] = .references(ids)
            }
        }
        if counts.isEmpty, nextLinks.isEmpty { return entity }
        for name in Set(counts.keys).union(nextLinks.keys) {
            if case .many(let entities, _, _)? = entity.related[name] {
                entity.related[name] = .many(entities, count: counts[name], nextLink: nextLinks[name])
            } else {
                // `$expand=Items/$count` and collections of values have a count and no entities.
                if let count = counts[name] {
                    entity.control.annotations["\(name)@odata.count"] = .integer(count)
                }
                if let link = nextLinks[name] {
                    entity.control.annotations["\(name)@odata.nextLink"] = .string(link)
                }
            }
        }
        return entity
    }
}
