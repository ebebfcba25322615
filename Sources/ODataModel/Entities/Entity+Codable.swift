/// Entities as `Codable` values, for an app's own files and messages: the properties by name as OData's JSON has
/// them, control information as annotations (OData JSON Format 4.01, 4.6).
///
/// Reading needs the model, in the decoder's `userInfo`. Numbers that JSON libraries round go as strings. Which
/// properties were changed since the entity was read is not kept.
///
/// ```swift
/// let data = try JSONEncoder().encode(order)
/// let decoder = JSONDecoder()
/// decoder.userInfo[.entityDataModel] = model
/// let copy = try decoder.decode(Entity.self, from: data)
/// ```
extension Entity: Codable {
    /// Writes the entity with its type.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: MemberKey.self)
        try container.encode("#\(shape.name)", forKey: "@odata.type")
        try container.encodeIfPresent(control.id, forKey: "@odata.id")
        try container.encodeIfPresent(control.etag, forKey: "@odata.etag")
        try container.encodeIfPresent(control.editLink, forKey: "@odata.editLink")
        try container.encodeIfPresent(control.readLink, forKey: "@odata.readLink")
        try container.encodeIfPresent(control.mediaReadLink, forKey: "@odata.mediaReadLink")
        try container.encodeIfPresent(control.mediaContentType, forKey: "@odata.mediaContentType")
        try container.encodeIfPresent(control.mediaEtag, forKey: "@odata.mediaEtag")
        for (property, value) in zip(shape.properties, values) {
            guard let value else { continue }
            try container.encode(CodableValue(value), forKey: MemberKey(property.name))
        }
        for (name, value) in dynamicProperties {
            if let type = value.statedType {
                try container.encode("#\(type)", forKey: MemberKey("\(name)@odata.type"))
            }
            try container.encode(CodableValue(value), forKey: MemberKey(name))
        }
        for (name, related) in related {
            switch related {
            case .none: try container.encodeNil(forKey: MemberKey(name))
            case .one(let entity): try container.encode(entity, forKey: MemberKey(name))
            case .many(let entities, let count, let nextLink):
                try container.encode(entities, forKey: MemberKey(name))
                try container.encodeIfPresent(count, forKey: MemberKey("\(name)@odata.count"))
                try container.encodeIfPresent(nextLink, forKey: MemberKey("\(name)@odata.nextLink"))
            case .references(let ids): try container.encode(ids, forKey: MemberKey("\(name)@odata.bind"))
            }
        }
    }

    /// Reads an entity.
    ///
    /// - Throws: `DecodingError` when the model is missing in `userInfo`, the type is unknown to it, or a value is
    ///   none of its property's type.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: MemberKey.self)
        guard let model = decoder.userInfo[.entityDataModel] as? EntityDataModel else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "An entity is read with the model in userInfo[.entityDataModel]."))
        }
        let type = try container.decode(String.self, forKey: "@odata.type")
        if type == "#\(Shape.untyped.name)" {
            self.init(shape: .untyped)
        } else if let name = QualifiedName(String(type.dropFirst())), let shape = model.shape(name) {
            self.init(shape: shape)
        } else {
            throw DecodingError.dataCorruptedError(
                forKey: "@odata.type", in: container, debugDescription: "The model has no type \(type).")
        }
        if container.allKeys.contains(where: { $0.stringValue.hasPrefix("@") && $0.stringValue != "@odata.type" }) {
            control.id = try container.decodeIfPresent(String.self, forKey: "@odata.id")
            control.etag = try container.decodeIfPresent(String.self, forKey: "@odata.etag")
            control.editLink = try container.decodeIfPresent(String.self, forKey: "@odata.editLink")
            control.readLink = try container.decodeIfPresent(String.self, forKey: "@odata.readLink")
            control.mediaReadLink = try container.decodeIfPresent(String.self, forKey: "@odata.mediaReadLink")
            control.mediaContentType = try container.decodeIfPresent(String.self, forKey: "@odata.mediaContentType")
            control.mediaEtag = try container.decodeIfPresent(String.self, forKey: "@odata.mediaEtag")
        }
        for key in container.allKeys {
            let name = key.stringValue
            if name.hasPrefix("@") { continue }
            if let at = name.firstIndex(of: "@") {
                if name.hasSuffix("@odata.bind") {
                    related[String(name[..<at])] = .references(try container.decode([String].self, forKey: key))
                }
                continue
            }
            if let ordinal = shape.ordinal(of: name) {
                values[ordinal] = try CodableValue.decode(container, key, shape.properties[ordinal].type)
            } else if let navigation = shape.navigationProperty(name) {
                related[name] = try Self.related(container, key, navigation)
            } else {
                let stated = try container.decodeIfPresent(String.self, forKey: MemberKey("\(name)@odata.type"))
                let type = stated.map { model.typeReference(fragment: $0) } ?? .untyped("Edm.Untyped")
                dynamicProperties[name] = try CodableValue.decode(container, key, type)
            }
        }
        markUnchanged()
    }

    private static func related(
        _ container: KeyedDecodingContainer<MemberKey>, _ key: MemberKey, _ navigation: NavigationProperty
    ) throws -> RelatedEntities {
        if try container.decodeNil(forKey: key) { return .none }
        guard navigation.isCollection else { return .one(try container.decode(Entity.self, forKey: key)) }
        let name = key.stringValue
        return .many(
            try container.decode([Entity].self, forKey: key),
            count: try container.decodeIfPresent(Int64.self, forKey: MemberKey("\(name)@odata.count")),
            nextLink: try container.decodeIfPresent(String.self, forKey: MemberKey("\(name)@odata.nextLink")))
    }
}

extension CodingUserInfoKey {
    /// The ``EntityDataModel`` that entities are read with.
    public static let entityDataModel: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "OData.entityDataModel") else {
            // Any text makes a key; the initializer is failable for the sake of a protocol.
            preconditionFailure("a text that is no key")
        }
        return key
    }()
}

/// The name of a property or annotation.
struct MemberKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringLiteral value: String) { stringValue = value }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
