import ODataModel

/// A Swift type for a structured type of a service's metadata, implemented by generated code.
///
/// The value wraps an ``/ODataModel/Entity`` and keeps its state: loaded properties, changes, properties that were
/// unknown when the code was generated, and a derived type. Every property is optional, since a response may omit
/// properties that cannot be null. `nil` means null or not loaded, and ``isLoaded(_:)`` distinguishes the two.
///
/// ```swift
/// if var order = try await northwind.orders.key(10248).get() {
///     order.freight = 12
///     order = try await northwind.orders.update(order)     // sends Freight alone
/// }
/// ```
public protocol TypedStructure: EntityRepresentable, Hashable, Codable, ODataValueConvertible {
    /// The paths of its properties in queries.
    associatedtype Paths: TypedPaths
    /// The properties that an initializer asks for: none, unless the type says otherwise.
    associatedtype InitialValues = OptionalInitialValues
    /// The metadata from which the code was generated.
    static var odataMetadata: GeneratedMetadata { get }
    /// The shape of the type in the metadata.
    static var odataShape: TypeShape { get }
    /// The wrapped entity.
    var odataEntity: ODataEntity { get set }
    /// Wraps an entity.
    init(odataEntity: ODataEntity)
}

/// A Swift type for an entity type.
public protocol TypedEntity: TypedStructure {}

/// A Swift type for a complex type.
public protocol TypedComplex: TypedStructure {}

/// A Swift type whose instances may have properties that the metadata do not declare (OData CSDL 4.01, 6.3 *Open
/// Entity Type*).
public protocol OpenStructure: TypedStructure {}

/// An entity with a stream of its own (OData CSDL 4.01, 6.4 *Media Entity Type*).
public protocol MediaEntity: TypedEntity {}

/// The marker of types whose instances can be created without any property.
public enum OptionalInitialValues {}

/// The marker of types whose initializers ask for every property that must not be null.
public enum RequiredInitialValues {}

extension TypedStructure where InitialValues == OptionalInitialValues {
    /// Creates an instance without loaded properties.
    public init() { self.init(odataEntity: ODataEntity(shape: Self.odataShape)) }

    /// Creates an instance and sets its properties.
    ///
    /// ```swift
    /// let order = Order { $0.shipCity = "Bern"; $0.freight = 12 }
    /// ```
    public init(_ fill: (inout Self) throws -> Void) rethrows {
        self.init()
        try fill(&self)
    }
}

extension TypedStructure {
    /// Reads a row.
    ///
    /// - Throws: ``DataServiceError/generatedMetadata(_:reason:)`` if the generated metadata were edited.
    public init(row: borrowing some PropertyReader) throws {
        try Self.checkMetadata()
        self.init(odataEntity: try row.entity(as: Self.odataShape))
    }

    /// Wraps each entity.
    ///
    /// - Throws: ``DataServiceError/generatedMetadata(_:reason:)`` if the generated metadata were edited.
    @inlinable
    public static func odataInstances(of entities: consuming [ODataEntity]) throws -> [Self] {
        if !entities.isEmpty { try checkMetadata() }
        let count = entities.count
        var rest = consume entities
        return [Self](unsafeUninitializedCapacity: count) { buffer, filled in
            // Entities are moved from the end of the array, since copying thousands of them would update many
            // reference counts.
            for index in (0..<count).reversed() {
                buffer.initializeElement(at: index, to: Self(odataEntity: rest.removeLast()))
            }
            filled = count
        }
    }

    /// Writes the loaded properties.
    public func write(to row: inout some PropertyWriter) throws {
        for (property, value) in zip(odataEntity.shape.properties, odataEntity.values) {
            if let value { try row.set(value, for: property.name) }
        }
        for (name, value) in odataEntity.dynamicProperties { try row.set(value, for: name) }
    }

    /// Returns the instance as a derived type or a base type; `nil` if it is not of that type.
    ///
    /// ```swift
    /// for person in try await northwind.people.all() {
    ///     if let employee = person.as(Employee.self) { print(employee.cost ?? 0) }
    /// }
    /// ```
    public func `as`<Other: TypedStructure>(_ type: Other.Type) -> Other? {
        let own = odataEntity.shape.name
        return Self.odataModel.isType(own, Other.typeName) ? Other(odataEntity: odataEntity) : nil
    }

    /// Returns whether a property was loaded or set. A property that was not loaded reads as `nil`, like null.
    public func isLoaded<Path: SelectablePath>(_ path: KeyPath<Paths, Path>) -> Bool {
        let name = Self.paths[keyPath: path].odataPath
        return odataEntity[name] != nil || odataEntity.related[name] != nil
    }

    /// Returns the value of a required property.
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

    /// The properties that changed since the instance was read, which an update sends.
    public var changedProperties: Set<String> { odataEntity.changedProperties }

    /// The model from which the code was generated.
    public static var odataModel: EntityDataModel { odataMetadata.model }

    /// The paths at the start of a query.
    static var paths: Paths { Paths(odataPath: "") }

    /// Checks that the generated metadata declare the type. The check runs at each use, since the text may be
    /// edited.
    @usableFromInline
    static func checkMetadata() throws(DataServiceError) {
        // The check is cheap for each row: only a shape without properties may be the substitute for a missing
        // type.
        if odataShape.properties.isEmpty { try odataMetadata.check(typeName) }
    }
}

extension TypedStructure {
    /// Decodes an instance with any decoder; see ``/ODataModel/Entity``.
    public init(from decoder: any Decoder) throws {
        try Self.checkMetadata()
        self.init(odataEntity: try ODataEntity(from: decoder, as: Self.odataShape, in: Self.odataModel))
    }

    /// Encodes the loaded properties and the changes.
    public func encode(to encoder: any Encoder) throws { try odataEntity.encode(to: encoder) }

    /// Creates an instance from a complex value; `nil` for other values.
    public init?(odataValue: ODataValue) {
        guard case .complex(let entity) = odataValue else { return nil }
        self.init(odataEntity: entity)
    }

    /// The instance as a complex value.
    public var odataValue: ODataValue { .complex(odataEntity) }
}

extension TypedEntity {
    /// The key; `nil` if a part is not loaded.
    public var odataKey: EntityKey? { odataEntity.key }

    /// The ETag with which the entity was read.
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
