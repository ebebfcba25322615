import ODataModel

/// An instance during reading, because annotations on a property may precede or follow the property.
struct InstanceInProgress {
    var entity: ODataEntity
    var hasStatedType = false
    /// Whether the remaining members were already searched for a type. A repeated search would find the same.
    private(set) var hasLookedAhead = false
    /// Whether a value of a property came before, readable or not.
    func hasRead(_ property: Property, _ ordinal: Int) -> Bool {
        entity.values[ordinal] != nil
            || (!entity.control.unreadable.isEmpty && entity.control.unreadable[property.name] != nil)
    }

    /// Removes the values of properties that also had an unreadable one.
    mutating func forgetUnreadable() {
        for name in entity.control.unreadable.keys {
            if let ordinal = entity.shape.ordinal(of: name) { entity.values[ordinal] = nil }
        }
    }

    /// The types of properties that the payload states.
    var statedTypes: [String: TypeReference] = [:]
    /// The entity ids by navigation property.
    var bindings: [String: [String]] = [:]
    var counts: [String: Int64] = [:]
    var nextLinks: [String: String] = [:]

    init(shape: TypeShape) { entity = ODataEntity(shape: shape) }

    /// Returns the type that a later member states, if none was stated or searched for before.
    ///
    /// - Parameter find: a function that searches the remaining members, in time proportional to their length.
    mutating func typeAhead(_ find: () throws(JSONError) -> TypeShape?) throws(JSONError) -> TypeShape? {
        guard !hasStatedType, !hasLookedAhead else { return nil }
        let shape = try find()
        hasLookedAhead = true
        return shape == entity.shape ? nil : shape
    }

    /// Returns the type with which to read a declared property: the stated type if the declaration is open.
    func type(of property: Property) -> TypeReference {
        statedTypes.isEmpty ? property.type : property.type.narrowed(by: statedTypes[property.name])
    }

    /// Goes on as an instance of another type: base-type properties keep their ordinals.
    mutating func adopt(_ shape: TypeShape) { entity.adopt(shape) }

    /// Returns the instance with counts, links and references added to its related entities.
    consuming func finished() -> ODataEntity {
        // Most instances have no such data.
        if bindings.isEmpty, counts.isEmpty, nextLinks.isEmpty { return entity }
        for (name, ids) in bindings {
            switch entity.related[name] {
            case .many(let entities, let count, let nextLink):
                // New and existing entities may be mixed; each reference becomes an entity with only an id.
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
                // `$expand=Items/$count` and collections of values have a count but no entities.
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
            if isForgiving, try scanner.takeNull() { continue }
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
    /// Converts a value that was read without its type to the type; returns `nil` if the value is invalid for the
    /// type.
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
