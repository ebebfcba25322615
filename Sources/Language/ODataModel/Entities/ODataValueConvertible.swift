/// A Swift type that can be read from and written as a property's value.
public protocol ODataValueConvertible {
    /// Reads a value; `nil` if the value has another type or is out of range.
    init?(odataValue: ODataValue)
    /// The corresponding OData value.
    var odataValue: ODataValue { get }
}

extension Bool: ODataValueConvertible {
    /// Reads a value of type `Edm.Boolean`.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .boolean(let value) = odataValue else { return nil }
        self = value
    }
    /// The value as `Edm.Boolean`.
    @inlinable
    public var odataValue: ODataValue { .boolean(self) }
}

extension String: ODataValueConvertible {
    /// Reads a value of type `Edm.String`.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .string(let value) = odataValue else { return nil }
        self = value
    }
    /// The value as `Edm.String`.
    @inlinable
    public var odataValue: ODataValue { .string(self) }
}

extension Double: ODataValueConvertible {
    /// Reads a value of type `Edm.Double` or `Edm.Single`.
    @inlinable
    public init?(odataValue: ODataValue) {
        switch odataValue {
        case .double(let value): self = value
        case .single(let value): self = Double(value)
        default: return nil
        }
    }
    /// The value as `Edm.Double`.
    @inlinable
    public var odataValue: ODataValue { .double(self) }
}

extension Float: ODataValueConvertible {
    /// Reads a value of type `Edm.Single`.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .single(let value) = odataValue else { return nil }
        self = value
    }
    /// The value as `Edm.Single`.
    @inlinable
    public var odataValue: ODataValue { .single(self) }
}

extension FixedWidthInteger {
    /// Reads a value of any integer type; `nil` if the value is out of range.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .integer(let value) = odataValue, let fitting = Self(exactly: value) else { return nil }
        self = fitting
    }
}

extension FixedWidthInteger where Self: SignedInteger {
    /// The value as an OData integer.
    @inlinable
    public var odataValue: ODataValue { .integer(Int64(self)) }
}

extension Int: ODataValueConvertible {}
extension Int64: ODataValueConvertible {}
extension Int32: ODataValueConvertible {}
extension Int16: ODataValueConvertible {}
extension Int8: ODataValueConvertible {}

extension UInt8: ODataValueConvertible {
    /// The value as an OData integer.
    @inlinable
    public var odataValue: ODataValue { .integer(Int64(self)) }
}

extension ODataDecimal: ODataValueConvertible {
    /// Reads a value of type `Edm.Decimal` or of any integer type.
    @inlinable
    public init?(odataValue: ODataValue) {
        switch odataValue {
        case .decimal(let value): self = value
        case .integer(let value): self.init(value)
        default: return nil
        }
    }
    /// The value as `Edm.Decimal`.
    @inlinable
    public var odataValue: ODataValue { .decimal(self) }
}

extension ODataGuid: ODataValueConvertible {
    /// Reads a value of type `Edm.Guid`.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .guid(let value) = odataValue else { return nil }
        self = value
    }
    /// The value as `Edm.Guid`.
    @inlinable
    public var odataValue: ODataValue { .guid(self) }
}

extension ODataDate: ODataValueConvertible {
    /// Reads a value of type `Edm.Date`.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .date(let value) = odataValue else { return nil }
        self = value
    }
    /// The value as `Edm.Date`.
    @inlinable
    public var odataValue: ODataValue { .date(self) }
}

extension ODataTimeOfDay: ODataValueConvertible {
    /// Reads a value of type `Edm.TimeOfDay`.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .timeOfDay(let value) = odataValue else { return nil }
        self = value
    }
    /// The value as `Edm.TimeOfDay`.
    @inlinable
    public var odataValue: ODataValue { .timeOfDay(self) }
}

extension ODataDateTimeOffset: ODataValueConvertible {
    /// Reads a value of type `Edm.DateTimeOffset`.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .dateTimeOffset(let value) = odataValue else { return nil }
        self = value
    }
    /// The value as `Edm.DateTimeOffset`.
    @inlinable
    public var odataValue: ODataValue { .dateTimeOffset(self) }
}

extension ODataDateTime: ODataValueConvertible {
    /// Reads a value of type `Edm.DateTime`.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .dateTime(let value) = odataValue else { return nil }
        self = value
    }
    /// The value as `Edm.DateTime`.
    @inlinable
    public var odataValue: ODataValue { .dateTime(self) }
}

extension ODataDuration: ODataValueConvertible {
    /// Reads a value of type `Edm.Duration` or `Edm.Time`.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .duration(let value) = odataValue else { return nil }
        self = value
    }
    /// The value as `Edm.Duration`.
    @inlinable
    public var odataValue: ODataValue { .duration(self) }
}

extension Array: ODataValueConvertible where Element: ODataValueConvertible {
    /// Reads a collection without nulls; an array of `UInt8` also reads binary values.
    public init?(odataValue: ODataValue) {
        switch odataValue {
        case .collection(let members):
            self = []
            reserveCapacity(members.count)
            for member in members {
                guard let element = Element(odataValue: member) else { return nil }
                append(element)
            }
        case .binary(let bytes):
            // The check of the element type prevents empty binary values from becoming arrays of other types.
            guard Element.self == UInt8.self, let bytes = bytes as? [Element] else { return nil }
            self = bytes
        default: return nil
        }
    }

    /// A collection; a binary value for an array of `UInt8`.
    public var odataValue: ODataValue {
        if Element.self == UInt8.self, let bytes = self as? [UInt8] { return .binary(bytes) }
        return .collection(map(\.odataValue))
    }
}

extension GeoValue: ODataValueConvertible {
    /// Reads a value of any geography or geometry type.
    public init?(odataValue: ODataValue) {
        guard case .geo(let value) = odataValue else { return nil }
        self = value
    }
    /// The value as a geography or geometry type.
    public var odataValue: ODataValue { .geo(self) }
}

extension ODataValue: ODataValueConvertible {
    /// Copies any value, including null.
    public init?(odataValue: ODataValue) { self = odataValue }
    /// The value itself.
    public var odataValue: ODataValue { self }
}

extension ODataEntity: ODataValueConvertible {
    /// Reads a value of a complex type.
    public init?(odataValue: ODataValue) {
        guard case .complex(let entity) = odataValue else { return nil }
        self = entity
    }
    /// The value as a complex type.
    public var odataValue: ODataValue { .complex(self) }
}
