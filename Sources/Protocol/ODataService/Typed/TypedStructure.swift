import ODataModel

/// A Swift type for a structured type of a service's metadata; generated code conforms to it.
///
/// It is a value around an ``/ODataModel/Entity``, which it keeps as it was read: what was not loaded, what changed,
/// properties that the metadata did not have when the code was generated, and the instance's own type when that
/// derives from this one. Every property is optional, since OData says what may be null but not what an answer
/// holds: `nil` is null or not loaded, and ``isLoaded(_:)`` tells which.
///
/// ```swift
/// if var order = try await northwind.orders.key(10248).get() {
///     order.freight = 12
///     order = try await northwind.orders.update(order)     // sends Freight alone
/// }
/// ```
public protocol TypedStructure: EntityRepresentable, Hashable, Codable, ODataValueConvertible {
    /// What queries name its properties with.
    associatedtype Paths: TypedPaths
    /// The metadata that the code was generated from.
    static var odataMetadata: GeneratedMetadata { get }
    /// Its shape in their model.
    static var odataShape: TypeShape { get }
    /// What it is a view of.
    var odataEntity: ODataEntity { get set }
    /// Looks at an entity as this type.
    init(odataEntity: ODataEntity)
}

/// A Swift type for an entity type.
public protocol TypedEntity: TypedStructure {}

/// A Swift type for a complex type.
public protocol TypedComplex: TypedStructure {}

/// A type whose instances may have properties that the metadata does not declare
/// (OData CSDL 4.01, 6.3 *Open Entity Type*).
public protocol OpenStructure: TypedStructure {}

/// An entity with a stream of its own (OData CSDL 4.01, 6.4 *Media Entity Type*).
public protocol MediaEntity: TypedEntity {}

extension TypedStructure {
    /// Makes an instance in which nothing is loaded.
    public init() { self.init(odataEntity: ODataEntity(shape: Self.odataShape)) }

    /// Makes an instance and fills it.
    ///
    /// ```swift
    /// let order = Order { $0.shipCity = "Bern"; $0.freight = 12 }
    /// ```
    public init(_ fill: (inout Self) throws -> Void) rethrows {
        self.init()
        try fill(&self)
    }

    /// Takes a row.
    ///
    /// - Throws: ``DataServiceError/generatedMetadata(_:reason:)`` when somebody edited the generated metadata.
    public init(row: borrowing some PropertyReader) throws {
        try Self.checkMetadata()
        self.init(odataEntity: try row.entity(as: Self.odataShape))
    }

    /// Looks at each entity as this type.
    ///
    /// - Throws: ``DataServiceError/generatedMetadata(_:reason:)`` when somebody edited the generated metadata.
    @inlinable
    public static func odataInstances(of entities: consuming [ODataEntity]) throws -> [Self] {
        if !entities.isEmpty { try checkMetadata() }
        let count = entities.count
        var rest = consume entities
        return [Self](unsafeUninitializedCapacity: count) { buffer, filled in
            // Each is moved, from the last to the first: a copy of thousands counts the references of each.
            for index in (0..<count).reversed() {
                buffer.initializeElement(at: index, to: Self(odataEntity: rest.removeLast()))
            }
            filled = count
        }
    }

    /// Writes what is loaded.
    public func write(to row: inout some PropertyWriter) throws {
        for (property, value) in zip(odataEntity.shape.properties, odataEntity.values) {
            if let value { try row.set(value, for: property.name) }
        }
        for (name, value) in odataEntity.dynamicProperties { try row.set(value, for: name) }
    }

    /// The same instance as a type that derives from this one, or that this one derives from; `nil` when it is no
    /// such instance.
    ///
    /// ```swift
    /// for person in try await service.people.all() {
    ///     if let employee = person.as(Employee.self) { print(employee.cost) }
    /// }
    /// ```
    public func `as`<Other: TypedStructure>(_ type: Other.Type) -> Other? {
        let own = odataEntity.shape.name
        return Self.odataModel.isType(own, Other.typeName) ? Other(odataEntity: odataEntity) : nil
    }

    /// Whether a property was loaded or set: reading one that was not gives `nil` as null does.
    public func isLoaded<Path: SelectablePath>(_ path: KeyPath<Paths, Path>) -> Bool {
        let name = Self.paths[keyPath: path].odataPath
        return odataEntity[name] != nil || odataEntity.related[name] != nil
    }

    /// The value of a property that must be there.
    ///
    /// - Throws: ``/ODataModel/EntityError/notLoaded(property:type:)``, and
    ///   ``/ODataModel/EntityError/typeMismatch(property:type:expected:)`` for null.
    public func require<Value: ODataValueConvertible>(
        _ path: KeyPath<Paths, PropertyPath<Value>>
    ) throws(EntityError) -> Value {
        let name = Self.paths[keyPath: path].odataPath
        guard let value = Value(odataValue: try odataEntity.value(of: name)) else {
            throw .typeMismatch(property: name, type: odataEntity.shape.name, expected: "\(Value.self)")
        }
        return value
    }

    /// The properties changed since it was read: what an update sends.
    public var changedProperties: Set<String> { odataEntity.changedProperties }

    /// The model that the code was generated from.
    public static var odataModel: EntityDataModel { odataMetadata.model }

    /// What its queries start from.
    static var paths: Paths { Paths(odataPath: "") }

    /// That the type is in the metadata which were generated with it: done at each use, since they may be edited.
    @usableFromInline
    static func checkMetadata() throws(DataServiceError) {
        // Cheap for each row: only a type without properties may be the stand-in for one that is not there.
        if odataShape.properties.isEmpty { try odataMetadata.check(typeName) }
    }
}

extension TypedStructure {
    /// Reads an instance in any of Swift's coders; see ``/ODataModel/Entity``.
    public init(from decoder: any Decoder) throws {
        try Self.checkMetadata()
        self.init(odataEntity: try ODataEntity(from: decoder, as: Self.odataShape, in: Self.odataModel))
    }

    /// Writes what is loaded, and what changed.
    public func encode(to encoder: any Encoder) throws { try odataEntity.encode(to: encoder) }

    /// Reads an instance of a complex type.
    public init?(odataValue: ODataValue) {
        guard case .complex(let entity) = odataValue else { return nil }
        self.init(odataEntity: entity)
    }

    /// An instance of a complex type.
    public var odataValue: ODataValue { .complex(odataEntity) }
}

extension TypedEntity {
    /// The key; `nil` when a part is not loaded.
    public var odataKey: EntityKey? { odataEntity.key }

    /// The ETag that it was read with.
    public var odataETag: String? { odataEntity.control.etag }
}

extension OpenStructure {
    /// A property that the metadata does not declare.
    public subscript(dynamic name: String) -> ODataValue? {
        get { odataEntity.dynamicProperties[name] }
        set { odataEntity[name] = newValue }
    }

    /// The properties that the metadata does not declare.
    public var dynamicProperties: [String: ODataValue] { odataEntity.dynamicProperties }
}
