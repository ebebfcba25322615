/// A Swift type that stands for an entity or complex type; generated proxies conform to it.
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
    /// Reads an instance from wherever a row stands.
    init(row: borrowing some PropertyReader) throws
    /// Writes the properties that have values.
    func write(to row: inout some PropertyWriter) throws
    /// Makes an instance of each entity, in their order: what readers of whole pages call.
    ///
    /// By default ``init(row:)`` of each. The compiler makes code of it for the one type, where a loop elsewhere asks for
    /// everything anew with each entity.
    static func odataInstances(of entities: consuming [ODataEntity]) throws -> [Self]
}

extension EntityRepresentable {
    /// Reads an instance from each entity.
    @inlinable
    public static func odataInstances(of entities: consuming [ODataEntity]) throws -> [Self] {
        try entities.map { try Self(row: $0) }
    }
}

/// Gives the properties of one row: of an ``ODataEntity``, a database statement or a JSON reader.
public protocol PropertyReader: ~Copyable {
    /// The value of a property.
    ///
    /// - Throws: ``EntityError`` when it is unknown or not loaded.
    func value(of name: String) throws(EntityError) -> ODataValue
    /// The type of the row, for messages.
    var typeName: QualifiedName { get }
    /// Everything that the row has, by ordinal: how types that keep what they were read from take it at once.
    ///
    /// - Parameter shape: the type wanted, where the row does not know its own.
    /// - Throws: ``EntityError`` when a value is none of its property's type.
    func entity(as shape: TypeShape) throws(EntityError) -> ODataEntity
}

/// Takes the properties of one row.
public protocol PropertyWriter {
    /// Sets a property.
    ///
    /// - Throws: ``EntityError/unknownProperty(_:type:)`` when the type declares none and is not open.
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
    /// Asks for each property of the shape; what is not loaded stays so.
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
    /// Writes a property.
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
    /// The shape's name.
    public var typeName: QualifiedName { shape.name }

    /// The entity itself, whose shape may be that of a derived type.
    public func entity(as shape: TypeShape) throws(EntityError) -> ODataEntity { self }

    /// Sets a property.
    public mutating func set(_ value: ODataValue, for name: String) throws(EntityError) {
        guard shape.ordinal(of: name) != nil || shape.isOpen else { throw .unknownProperty(name, type: shape.name) }
        self[name] = value
    }
}
