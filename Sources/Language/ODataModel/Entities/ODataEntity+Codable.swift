/// Entities in any of Swift's coders, JSON as OData writes it among them: values under their properties' names, exact
/// numbers and dates as text, what belongs to the instance under names that begin with `@` (OData JSON Format 4.01, 4.6).
///
/// ```swift
/// let data = try JSONEncoder().encode(entity)
/// let decoder = JSONDecoder()
/// decoder.userInfo[.entityDataModel] = model
/// let again = try decoder.decode(ODataEntity.self, from: data)
/// ```
///
/// What is not loaded stays so, and what was changed is still known as changed. Generated types need no model in
/// `userInfo`: they have their own.
extension ODataEntity: Codable {
    /// Writes what is loaded, related entities, ETag, id and the names of what was changed.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: EntityCodingKey.self)
        try container.encode("#\(shape.name)", forKey: .type)
        for (key, path) in EntityCodingKey.control {
            try container.encodeIfPresent(control[keyPath: path], forKey: EntityCodingKey(key))
        }
        if !changedProperties.isEmpty { try container.encode(changedProperties.sorted(), forKey: .changed) }
        for (property, value) in zip(shape.properties, values) {
            guard let value else { continue }
            let key = EntityCodingKey(property.name)
            if property.type.isUntyped {
                try encodeUntyped(value, key, in: &container)
            } else {
                try container.encode(CodableValue(value), forKey: key)
            }
        }
        for (name, value) in dynamicProperties { try encodeUntyped(value, EntityCodingKey(name), in: &container) }
        for (name, related) in related {
            let key = EntityCodingKey(name)
            switch related {
            case .none: try container.encodeNil(forKey: key)
            case .one(let entity): try container.encode(entity, forKey: key)
            case .many(let entities, let count, let nextLink):
                try container.encode(entities, forKey: key)
                try container.encodeIfPresent(count, forKey: key.annotated("count"))
                try container.encodeIfPresent(nextLink, forKey: key.annotated("nextLink"))
            case .references(let ids): try container.encode(ids, forKey: key.annotated("bind"))
            }
        }
    }

    private func encodeUntyped(
        _ value: ODataValue, _ key: EntityCodingKey, in container: inout KeyedEncodingContainer<EntityCodingKey>
    ) throws {
        try container.encode(CodableValue(untyped: value), forKey: key)
        if let type = value.statedType { try container.encode("#\(type)", forKey: key.annotated("type")) }
    }

    /// Reads an entity whose type stands in it, as ``encode(to:)`` writes it.
    ///
    /// - Throws: `DecodingError` when `userInfo` has no model, the model not the type, or a value is not of its
    ///   property's type.
    public init(from decoder: any Decoder) throws {
        guard let model = decoder.userInfo[.entityDataModel] as? EntityDataModel else {
            throw DecodingError.valueNotFound(
                EntityDataModel.self,
                .init(codingPath: decoder.codingPath, debugDescription: "userInfo[.entityDataModel] has no model."))
        }
        try self.init(from: decoder, as: nil, in: model)
    }

    /// Reads an entity.
    ///
    /// - Parameters:
    ///   - decoder: where from.
    ///   - expected: its type, where it does not say; one that it says must be it or derive from it.
    ///   - model: the model.
    /// - Throws: `DecodingError` when the type is unknown or another, or a value is not of its property's type.
    public init(from decoder: any Decoder, as expected: TypeShape?, in model: EntityDataModel) throws {
        let container = try decoder.container(keyedBy: EntityCodingKey.self)
        var shape = expected
        if let text = try container.decodeIfPresent(String.self, forKey: .type) {
            let name = QualifiedName(text.hasPrefix("#") ? text.dropFirst() : text[...])
            shape = name.flatMap { $0 == TypeShape.untyped.name ? .untyped : model.shape($0) }
            guard let name, shape != nil, expected.map({ model.isType(name, $0.name) }) ?? true else {
                throw DecodingError.dataCorruptedError(
                    forKey: .type, in: container,
                    debugDescription: "\(text) is not \(expected?.name.description ?? "a type of the model").")
            }
        }
        guard let shape else {
            throw DecodingError.keyNotFound(
                EntityCodingKey.type,
                .init(codingPath: decoder.codingPath, debugDescription: "The type of the entity is not known."))
        }
        self.init(shape: shape)
        try decode(container, model)
        for (key, path) in EntityCodingKey.control {
            if let text = try container.decodeIfPresent(String.self, forKey: EntityCodingKey(key)) {
                control[keyPath: path] = text
            }
        }
        markChanged(Set(try container.decodeIfPresent([String].self, forKey: .changed) ?? []))
    }

    private mutating func decode(
        _ container: KeyedDecodingContainer<EntityCodingKey>, _ model: EntityDataModel
    ) throws {
        for key in container.allKeys {
            if key.stringValue.hasSuffix("@odata.bind") {
                related[String(key.stringValue.dropLast(11))] = .references(
                    try container.decode([String].self, forKey: key))
            }
            guard !key.stringValue.contains("@") else { continue }
            if let ordinal = shape.ordinal(of: key.stringValue) {
                var type = shape.properties[ordinal].type
                if type.isUntyped, let stated = try statedType(of: key, in: container, model) { type = stated }
                values[ordinal] = try CodableValue.decode(from: container.superDecoder(forKey: key), type, model)
            } else if let navigation = shape.navigationProperty(key.stringValue) {
                try decodeRelated(navigation, container, key: key, model: model)
            } else {
                dynamicProperties[key.stringValue] = try CodableValue.decode(
                    from: container.superDecoder(forKey: key),
                    statedType(of: key, in: container, model) ?? .untyped("Edm.Untyped"), model)
            }
        }
    }

    private func statedType(
        of key: EntityCodingKey, in container: KeyedDecodingContainer<EntityCodingKey>, _ model: EntityDataModel
    ) throws -> TypeReference? {
        try container.decodeIfPresent(String.self, forKey: key.annotated("type")).map {
            model.typeReference(fragment: $0)
        }
    }

    private mutating func decodeRelated(
        _ property: NavigationProperty, _ container: KeyedDecodingContainer<EntityCodingKey>, key: EntityCodingKey,
        model: EntityDataModel
    ) throws {
        let target = model.shape(property.target)
        guard property.isCollection else {
            if try container.decodeNil(forKey: key) {
                related[property.name] = RelatedEntities.none
            } else {
                related[property.name] = .one(
                    try ODataEntity(from: container.superDecoder(forKey: key), as: target, in: model))
            }
            return
        }
        var members: [ODataEntity] = []
        var list = try container.nestedUnkeyedContainer(forKey: key)
        while !list.isAtEnd { members.append(try ODataEntity(from: list.superDecoder(), as: target, in: model)) }
        related[property.name] = .many(
            members, count: try container.decodeIfPresent(Int64.self, forKey: key.annotated("count")),
            nextLink: try container.decodeIfPresent(String.self, forKey: key.annotated("nextLink")))
    }
}

extension CodingUserInfoKey {
    /// The ``EntityDataModel`` that entities are decoded with.
    public static let entityDataModel: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "outpost.entityDataModel") else {
            // The initializer is failable by its protocol alone: any text is a key.
            preconditionFailure("a coding key of any text")
        }
        return key
    }()
}

/// A property's name, or control information.
struct EntityCodingKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    static let type = EntityCodingKey("@odata.type")
    static let changed = EntityCodingKey("@outpost.changed")
    static let value = EntityCodingKey("value")

    /// What the service says of the entity besides its properties, by its names in OData's JSON.
    static var control: [(String, WritableKeyPath<ControlInformation, String?>)] {
        [
            ("@odata.id", \.id), ("@odata.etag", \.etag), ("@odata.editLink", \.editLink),
            ("@odata.readLink", \.readLink), ("@odata.mediaReadLink", \.mediaReadLink),
            ("@odata.mediaContentType", \.mediaContentType), ("@odata.mediaEtag", \.mediaEtag),
        ]
    }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }

    /// The control information of a property.
    func annotated(_ name: String) -> EntityCodingKey { EntityCodingKey("\(stringValue)@odata.\(name)") }
}
