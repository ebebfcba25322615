import ODataModel
import ODataQuery

extension TypedEntity {
    /// Links an existing entity when this one is created or updated, with `Customer@odata.bind` (OData JSON Format
    /// 4.01, 8.5).
    ///
    /// ```swift
    /// var order = Order()
    /// order.bind(\.customer, to: northwind.customers.key("ALFKI"))
    /// ```
    public mutating func bind<Target>(
        _ path: KeyPath<Paths, NavigationEntityPath<Target>>, to other: EntityRequest<Target>
    ) {
        let name = Self.paths[keyPath: path].odataPath
        odataEntity.related[name] = .references([other.reference])
    }

    /// Links existing entities when this one is created.
    public mutating func bind<Target>(
        _ path: KeyPath<Paths, NavigationCollectionPath<Target>>, to others: [EntityRequest<Target>]
    ) {
        let name = Self.paths[keyPath: path].odataPath
        odataEntity.related[name] = .references(others.map(\.reference))
    }
}

extension ODataEntity {
    /// Returns the related entity as a generated type; `nil` if there is none or it was not expanded.
    public func typedRelated<Target: TypedEntity>(_ name: String) -> Target? {
        guard case .one(let entity)? = related[name] else { return nil }
        return Target(odataEntity: entity)
    }

    /// Returns the related entities as values of a generated type; `nil` if they were not expanded.
    public func typedRelatedCollection<Target: TypedEntity>(_ name: String) -> [Target]? {
        guard case .many(let entities, _, _)? = related[name] else { return nil }
        return entities.map { Target(odataEntity: $0) }
    }

    /// Sets the related entity, which is created together with this one; `nil` removes it.
    public mutating func setTypedRelated(_ name: String, _ value: (some TypedEntity)?) {
        related[name] = value.map { .one($0.odataEntity) }
    }

    /// Sets the related entities, which are created together with this one; `nil` removes them.
    public mutating func setTypedRelatedCollection(_ name: String, _ values: [some TypedEntity]?) {
        related[name] = values.map { .many($0.map(\.odataEntity)) }
    }
}

extension DataService {
    /// Returns a typed value as an entity of the provider's own model.
    ///
    /// The provider's model may declare the properties in another order than the model from which the code was
    /// generated.
    ///
    /// - Throws: ``/ODataModel/EntityError/unknownProperty(_:type:)`` if the provider's model lacks a property,
    ///   ``DataServiceError/unknownType(_:)`` if it lacks the type, and
    ///   ``DataServiceError/generatedMetadata(_:reason:)`` if the generated metadata were edited.
    package func localized<Value: TypedStructure>(_ value: Value) async throws -> ODataEntity {
        try Value.checkMetadata()
        return try value.odataEntity.localized(in: try await provider.model)
    }
}

extension ODataValue {
    /// Returns the value with its instances converted to the provider's own model.
    func localized(in model: EntityDataModel) throws -> ODataValue {
        switch self {
        case .complex(let entity): .complex(try entity.localized(in: model))
        case .collection(let members): .collection(try members.map { try $0.localized(in: model) })
        default: self
        }
    }
}

extension ODataEntity {
    package func localized(in model: EntityDataModel) throws -> ODataEntity {
        guard let own = model.shape(shape.name) else { throw DataServiceError.unknownType(shape.name) }
        var result = ODataEntity(shape: own)
        for (property, value) in zip(shape.properties, values) {
            guard let value else { continue }
            guard let ordinal = own.ordinal(of: property.name) else {
                throw EntityError.unknownProperty(property.name, type: own.name)
            }
            result.values[ordinal] = try value.localized(in: model)
        }
        for (name, value) in dynamicProperties { result.dynamicProperties[name] = try value.localized(in: model) }
        for (name, related) in related {
            switch related {
            case .one(let entity): result.related[name] = .one(try entity.localized(in: model))
            case .many(let entities, let count, let link):
                result.related[name] = .many(
                    try entities.map { try $0.localized(in: model) }, count: count, nextLink: link)
            case .none, .references: result.related[name] = related
            }
        }
        result.control = control
        result.markChanged(changedProperties)
        return result
    }
}
