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
}

/// Gives the properties of one row: of an ``Entity``, a database statement or a JSON reader.
public protocol PropertyReader: ~Copyable {
    /// The value of a property.
    ///
    /// - Throws: ``EntityError`` when it is unknown or not loaded.
    func value(of name: String) throws(EntityError) -> ODataValue
    /// The type of the row, for messages.
    var typeName: QualifiedName { get }
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
    public func read<Value: ODataValueConvertible>(_ name: String) throws(EntityError) -> Value {
        let value = try value(of: name)
        guard let result = Value(odataValue: value) else {
            throw .typeMismatch(property: name, type: typeName, expected: "\(Value.self)")
        }
        return result
    }

    /// Reads a property that may be null.
    public func read<Value: ODataValueConvertible>(_ name: String) throws(EntityError) -> Value? {
        let value = try value(of: name)
        if value.isNull { return nil }
        guard let result = Value(odataValue: value) else {
            throw .typeMismatch(property: name, type: typeName, expected: "\(Value.self)")
        }
        return result
    }
}

extension PropertyWriter {
    /// Writes a property.
    public mutating func write(_ name: String, _ value: some ODataValueConvertible) throws(EntityError) {
        try set(value.odataValue, for: name)
    }

    /// Writes a property that may be null.
    public mutating func write<Value: ODataValueConvertible>(_ name: String, _ value: Value?) throws(EntityError) {
        try set(value?.odataValue ?? .null, for: name)
    }
}

extension Entity: PropertyReader, PropertyWriter {
    /// The shape's name.
    public var typeName: QualifiedName { shape.name }

    /// Sets a property.
    public mutating func set(_ value: ODataValue, for name: String) throws(EntityError) {
        guard shape.ordinal(of: name) != nil || shape.isOpen else { throw .unknownProperty(name, type: shape.name) }
        self[name] = value
    }
}

/// A Swift type that a property's value can be read as and written from.
public protocol ODataValueConvertible {
    /// Reads a value; `nil` when it is of another type or out of range.
    init?(odataValue: ODataValue)
    /// The value for OData.
    var odataValue: ODataValue { get }
}

extension Bool: ODataValueConvertible {
    /// Reads a boolean.
    public init?(odataValue: ODataValue) {
        guard case .boolean(let value) = odataValue else { return nil }
        self = value
    }
    /// A boolean.
    public var odataValue: ODataValue { .boolean(self) }
}

extension String: ODataValueConvertible {
    /// Reads a string.
    public init?(odataValue: ODataValue) {
        guard case .string(let value) = odataValue else { return nil }
        self = value
    }
    /// A string.
    public var odataValue: ODataValue { .string(self) }
}

extension Double: ODataValueConvertible {
    /// Reads a floating-point number.
    public init?(odataValue: ODataValue) {
        switch odataValue {
        case .double(let value): self = value
        case .single(let value): self = Double(value)
        default: return nil
        }
    }
    /// A double.
    public var odataValue: ODataValue { .double(self) }
}

extension FixedWidthInteger where Self: SignedInteger {
    /// Reads a whole number that fits.
    public init?(odataValue: ODataValue) {
        guard case .integer(let value) = odataValue, let fitting = Self(exactly: value) else { return nil }
        self = fitting
    }
    /// A whole number.
    public var odataValue: ODataValue { .integer(Int64(self)) }
}

extension Int: ODataValueConvertible {}
extension Int64: ODataValueConvertible {}
extension Int32: ODataValueConvertible {}
extension Int16: ODataValueConvertible {}

extension ODataDecimal: ODataValueConvertible {
    /// Reads a decimal or whole number.
    public init?(odataValue: ODataValue) {
        switch odataValue {
        case .decimal(let value): self = value
        case .integer(let value): self.init(value)
        default: return nil
        }
    }
    /// A decimal.
    public var odataValue: ODataValue { .decimal(self) }
}

extension ODataGuid: ODataValueConvertible {
    /// Reads an identifier.
    public init?(odataValue: ODataValue) {
        guard case .guid(let value) = odataValue else { return nil }
        self = value
    }
    /// An identifier.
    public var odataValue: ODataValue { .guid(self) }
}

extension ODataDate: ODataValueConvertible {
    /// Reads a date.
    public init?(odataValue: ODataValue) {
        guard case .date(let value) = odataValue else { return nil }
        self = value
    }
    /// A date.
    public var odataValue: ODataValue { .date(self) }
}

extension ODataDateTimeOffset: ODataValueConvertible {
    /// Reads an instant.
    public init?(odataValue: ODataValue) {
        guard case .dateTimeOffset(let value) = odataValue else { return nil }
        self = value
    }
    /// An instant.
    public var odataValue: ODataValue { .dateTimeOffset(self) }
}
