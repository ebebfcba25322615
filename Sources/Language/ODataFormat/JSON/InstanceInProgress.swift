import ODataModel

/// An instance while its members come in: what belongs to a property may stand before or after it.
struct InstanceInProgress {
    var entity: ODataEntity
    var hasStatedType = false
    /// Whether what is still to come was looked through for a type once: nothing else is there the next time.
    private(set) var hasLookedAhead = false
    /// What the payload states of the types of properties.
    var statedTypes: [String: TypeReference] = [:]
    /// Entity ids by navigation property.
    var bindings: [String: [String]] = [:]
    var counts: [String: Int64] = [:]
    var nextLinks: [String: String] = [:]

    init(shape: TypeShape) { entity = ODataEntity(shape: shape) }

    /// The type that a later member states, where none was stated so far and nobody has looked for it.
    ///
    /// - Parameter find: looks for it, in time proportional to what is still to come.
    mutating func typeAhead(_ find: () throws(JSONError) -> TypeShape?) throws(JSONError) -> TypeShape? {
        guard !hasStatedType, !hasLookedAhead else { return nil }
        let shape = try find()
        hasLookedAhead = true
        return shape == entity.shape ? nil : shape
    }

    /// The type to read a declared property with: a stated one where the declaration leaves it open.
    func type(of property: Property) -> TypeReference {
        guard !statedTypes.isEmpty, let stated = statedTypes[property.name] else { return property.type }
        switch (property.type, stated) {
        // V3 states the type of a complex value beside the property.
        case (.untyped, _), (.complex, .complex), (.collection(.untyped), .collection): return stated
        default: return property.type
        }
    }

    /// Goes on as an instance of another type: base-type properties keep their ordinals.
    mutating func adopt(_ shape: TypeShape) {
        guard shape != entity.shape else { return }
        var next = ODataEntity(shape: shape)
        for (property, value) in zip(entity.shape.properties, entity.values) {
            if let value { next[property.name] = value }
        }
        for (name, value) in entity.dynamicProperties { next[name] = value }
        // What was read was not changed.
        next.markUnchanged()
        next.related = entity.related
        next.control = entity.control
        entity = next
    }

    /// The instance with counts, links and references put where they belong.
    consuming func finished() -> ODataEntity {
        // Most have none of it.
        if bindings.isEmpty, counts.isEmpty, nextLinks.isEmpty { return entity }
        for (name, ids) in bindings {
            switch entity.related[name] {
            case .many(let entities, let count, let nextLink):
                // Existing entities beside new ones: each reference is an entity of which only the id is known.
                let type = entity.shape.navigationProperty(name)?.target
                let shape = entities.first?.shape ?? TypeShape.untyped
                let references = ids.map { id in
                    var reference = ODataEntity(shape: shape)
                    reference.control.id = id
                    reference.control.type = type
                    return reference
                }
                entity.related[name] = .many(entities + references, count: count, nextLink: nextLink)
            default: entity.related[name] = .references(ids)
            }
        }
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

extension JSONValueReading {
    /// Reads an array of entities.
    func readMany(_ scanner: inout JSONScanner, _ type: QualifiedName) throws(JSONError) -> [ODataEntity] {
        var entities: [ODataEntity] = []
        try scanner.beginArray()
        while try scanner.nextElement() {
            do throws(JSONError) {
                entities.append(try readInstance(&scanner, declared: type))
            } catch {
                throw error.within(String(entities.count))
            }
        }
        return entities
    }
}

extension ODataValue {
    /// A value that was read without knowing its type, as a value of that type; `nil` when it is none.
    func seen(as type: TypeReference, model: EntityDataModel) -> ODataValue? {
        switch (self, type) {
        case (.null, _), (_, .untyped), (_, .complex), (_, .entity): return self
        case (.collection(let values), .collection(let element)):
            var result: [ODataValue] = []
            for value in values {
                guard let typed = value.seen(as: element, model: model) else { return nil }
                result.append(typed)
            }
            return .collection(result)
        case (.string(let text), .enumeration(let name)):
            return model.enumType(name)?.value(of: text).map { .enumeration($0) }
        case (.integer(let number), .enumeration): return .enumeration(number)
        case (.complex, .primitive(let primitive)) where primitive.isGeo:
            var json = JSONWriter()
            json.value(self, type: nil, model: model)
            return try? JSONScanner.scan(json.bytes) { (scanner) throws(JSONError) in
                try scanner.readPrimitive(primitive)
            }
        case (.string, .primitive(.string)), (.boolean, .primitive(.boolean)): return self
        default:
            guard let primitive = type.primitive, let text = lexicalText else { return nil }
            return try? ODataValue(lexical: text, type: primitive)
        }
    }
}
