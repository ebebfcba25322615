/// Conversion of entities by Swift's encoders and decoders, such as those for JSON.
///
/// Values have their properties' names, exact numbers and dates are text, and the names of control information
/// begin with `@` (OData JSON Format 4.01, 4.6).
///
/// ```swift
/// let data = try JSONEncoder().encode(entity)
/// let decoder = JSONDecoder()
/// decoder.userInfo[.entityDataModel] = model
/// let again = try decoder.decode(ODataEntity.self, from: data)
/// ```
///
/// Properties that are not loaded remain so, and the set of changed properties is preserved. Generated types
/// contain their own model and need none in `userInfo`.
extension ODataEntity: Codable {
    /// Encodes the loaded values, related entities, control information and the names of changed properties.
    ///
    /// - Throws: errors of the encoder.
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

    /// Decodes an entity that ``encode(to:)`` wrote with its type.
    ///
    /// - Throws: `DecodingError` if `userInfo` has no model, the model lacks the type, or a value does not match
    ///   its property's type.
    public init(from decoder: any Decoder) throws {
        guard let model = decoder.userInfo[.entityDataModel] as? EntityDataModel else {
            throw DecodingError.valueNotFound(
                EntityDataModel.self,
                .init(codingPath: decoder.codingPath, debugDescription: "userInfo[.entityDataModel] has no model."))
        }
        try self.init(from: decoder, as: nil, in: model)
    }

    /// Decodes an entity.
    ///
    /// - Parameters:
    ///   - decoder: the decoder.
    ///   - expected: the type if the entity states none; a stated type must be the same or derive from it.
    ///   - model: the model.
    /// - Throws: `DecodingError` if the type is unknown or does not match, or a value does not match its property's
    ///   type.
    public init(from decoder: any Decoder, as expected: TypeShape?, in model: EntityDataModel) throws {
        let container = try decoder.container(keyedBy: EntityCodingKey.self)
        var shape = expected
        if let text = try container.decodeIfPresent(String.self, forKey: .type) {
            let name = QualifiedName(text.rest(behind: "#") ?? text[...])
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
            if let (owner, control) = key.stringValue.halves(atLast: "@"), control == "odata.bind" {
                related[String(owner)] = .references(
                    try container.decode([String].self, forKey: key))
            }
            guard !key.stringValue.has("@") else { continue }
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
    /// The key of the ``EntityDataModel`` for decoding entities.
    public static let entityDataModel: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "outpost.entityDataModel") else {
            // The initializer is failable only because of its protocol; every text is a valid key.
            preconditionFailure("a coding key of any text")
        }
        return key
    }()
}

/// The key of a property or of control information.
struct EntityCodingKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    static let type = EntityCodingKey("@odata.type")
    static let changed = EntityCodingKey("@outpost.changed")
    static let value = EntityCodingKey("value")

    /// The control information of an entity, by name in OData JSON.
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

    /// Returns the key of a property's control information.
    func annotated(_ name: String) -> EntityCodingKey { EntityCodingKey("\(stringValue)@odata.\(name)") }
}
