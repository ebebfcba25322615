/// A Swift type that represents an entity type or complex type; generated types conform to this protocol.
///
/// ```swift
/// struct Order: EntityRepresentable {
///     static let typeName = QualifiedName("Northwind", "Order")
///     var id: Int64
///     var freight: ODataDecimal?
///
///     init(row: borrowing some PropertyReader) throws {
///         id = try row.read("OrderID")
///         freight = try row.read("Freight")
///     }
///
///     func write(to row: inout some PropertyWriter) throws {
///         try row.write("OrderID", id)
///         try row.write("Freight", freight)
///     }
/// }
/// ```
public protocol EntityRepresentable: Sendable {
    /// The qualified name of the type in the model.
    static var typeName: QualifiedName { get }
    /// Reads an instance from a row of any source.
    init(row: borrowing some PropertyReader) throws
    /// Writes the properties that have values.
    func write(to row: inout some PropertyWriter) throws
    /// Creates an instance from each entity, in the same order.
    ///
    /// Readers of whole pages call this method. The default implementation calls ``init(row:)`` for each entity.
    /// The compiler specialises the loop for the type, which a generic loop elsewhere would not achieve.
    static func odataInstances(of entities: consuming [ODataEntity]) throws -> [Self]
}

extension EntityRepresentable {
    /// Reads an instance from each entity.
    @inlinable
    public static func odataInstances(of entities: consuming [ODataEntity]) throws -> [Self] {
        try entities.map { try Self(row: $0) }
    }
}

/// A source of the properties of one row: an ``ODataEntity``, a database statement or a JSON reader.
///
/// ```swift
/// struct Order: EntityRepresentable {
///     static let typeName = QualifiedName("Shop", "Order")
///     var id: Int64
///     var city: String?
///
///     init(row: borrowing some PropertyReader) throws {
///         id = try row.read("OrderID")
///         city = try row.read("ShipCity")  // nil for null
///     }
///
///     func write(to row: inout some PropertyWriter) throws {
///         try row.write("OrderID", id)
///         try row.write("ShipCity", city)
///     }
/// }
/// ```
public protocol PropertyReader: ~Copyable {
    /// Returns the value of a property.
    ///
    /// - Throws: ``EntityError`` if the property is unknown or not loaded.
    func value(of name: String) throws(EntityError) -> ODataValue
    /// The type of the row, for use in messages.
    var typeName: QualifiedName { get }
    /// Returns the whole row as an entity with values by ordinal. Types that store the entity they were read from
    /// use this method.
    ///
    /// - Parameter shape: the expected type, for rows that do not know their own type.
    /// - Throws: ``EntityError`` if a value does not match its property's type.
    func entity(as shape: TypeShape) throws(EntityError) -> ODataEntity
}

/// A destination for the properties of one row.
///
/// ```swift
/// struct Address: Sendable {
///     var city: String?
///
///     func write(to row: inout some PropertyWriter) throws { try row.write("City", city) }
/// }
/// ```
public protocol PropertyWriter {
    /// Sets a property.
    ///
    /// - Throws: ``EntityError/unknownProperty(_:type:)`` if the type does not declare the property and is not
    ///   open.
    mutating func set(_ value: ODataValue, for name: String) throws(EntityError)
}

extension PropertyReader where Self: ~Copyable {
    /// Reads a property that must have a value.
    @inlinable
    public func read<Value: ODataValueConvertible>(_ name: String) throws(EntityError) -> Value {
        let value = try value(of: name)
        guard let result = Value(odataValue: value) else {
            throw .typeMismatch(property: name, type: typeName, expected: "\(Value.self)")
        }
        return result
    }

    /// Reads a property that may be null.
    @inlinable
    public func read<Value: ODataValueConvertible>(_ name: String) throws(EntityError) -> Value? {
        let value = try value(of: name)
        if value.isNull { return nil }
        guard let result = Value(odataValue: value) else {
            throw .typeMismatch(property: name, type: typeName, expected: "\(Value.self)")
        }
        return result
    }
}

extension PropertyReader where Self: ~Copyable {
    /// Reads each property of the shape; properties that are not loaded remain so.
    public func entity(as shape: TypeShape) throws(EntityError) -> ODataEntity {
        var values = [ODataValue?](repeating: nil, count: shape.properties.count)
        for (ordinal, property) in shape.properties.enumerated() {
            do throws(EntityError) {
                values[ordinal] = try value(of: property.name)
            } catch .notLoaded {
                continue
            } catch .unknownProperty {
                continue
            } catch {
                throw error
            }
        }
        return ODataEntity(shape: shape, values: values)
    }
}

extension PropertyWriter {
    /// Writes a property that cannot be null.
    @inlinable
    public mutating func write(_ name: String, _ value: some ODataValueConvertible) throws(EntityError) {
        try set(value.odataValue, for: name)
    }

    /// Writes a property that may be null.
    @inlinable
    public mutating func write<Value: ODataValueConvertible>(_ name: String, _ value: Value?) throws(EntityError) {
        try set(value?.odataValue ?? .null, for: name)
    }
}

extension ODataEntity: PropertyReader, PropertyWriter {
    /// The qualified name of the shape's type.
    public var typeName: QualifiedName { shape.name }

    /// Returns the entity itself, whose shape may be that of a derived type.
    public func entity(as shape: TypeShape) throws(EntityError) -> ODataEntity { self }

    /// Sets a property.
    ///
    /// - Throws: ``EntityError/unknownProperty(_:type:)`` if the type does not declare the property and is not
    ///   open.
    public mutating func set(_ value: ODataValue, for name: String) throws(EntityError) {
        guard shape.ordinal(of: name) != nil || shape.isOpen else { throw .unknownProperty(name, type: shape.name) }
        self[name] = value
    }
}
