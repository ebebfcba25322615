/// A Swift type that a property's value can be read as and written from.
public protocol ODataValueConvertible {
    /// Reads a value; `nil` when it is of another type or out of range.
    init?(odataValue: ODataValue)
    /// The value for OData.
    var odataValue: ODataValue { get }
}

extension Bool: ODataValueConvertible {
    /// Reads a boolean.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .boolean(let value) = odataValue else { return nil }
        self = value
    }
    /// A boolean.
    @inlinable
    public var odataValue: ODataValue { .boolean(self) }
}

extension String: ODataValueConvertible {
    /// Reads a string.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .string(let value) = odataValue else { return nil }
        self = value
    }
    /// A string.
    @inlinable
    public var odataValue: ODataValue { .string(self) }
}

extension Double: ODataValueConvertible {
    /// Reads a floating-point number.
    @inlinable
    public init?(odataValue: ODataValue) {
        switch odataValue {
        case .double(let value): self = value
        case .single(let value): self = Double(value)
        default: return nil
        }
    }
    /// A double.
    @inlinable
    public var odataValue: ODataValue { .double(self) }
}

extension Float: ODataValueConvertible {
    /// Reads a number of single precision.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .single(let value) = odataValue else { return nil }
        self = value
    }
    /// A number of single precision.
    @inlinable
    public var odataValue: ODataValue { .single(self) }
}

extension FixedWidthInteger {
    /// Reads a whole number that fits.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .integer(let value) = odataValue, let fitting = Self(exactly: value) else { return nil }
        self = fitting
    }
}

extension FixedWidthInteger where Self: SignedInteger {
    /// A whole number.
    @inlinable
    public var odataValue: ODataValue { .integer(Int64(self)) }
}

extension Int: ODataValueConvertible {}
extension Int64: ODataValueConvertible {}
extension Int32: ODataValueConvertible {}
extension Int16: ODataValueConvertible {}
extension Int8: ODataValueConvertible {}

extension UInt8: ODataValueConvertible {
    /// A whole number.
    @inlinable
    public var odataValue: ODataValue { .integer(Int64(self)) }
}

extension ODataDecimal: ODataValueConvertible {
    /// Reads a decimal or whole number.
    @inlinable
    public init?(odataValue: ODataValue) {
        switch odataValue {
        case .decimal(let value): self = value
        case .integer(let value): self.init(value)
        default: return nil
        }
    }
    /// A decimal.
    @inlinable
    public var odataValue: ODataValue { .decimal(self) }
}

extension ODataGuid: ODataValueConvertible {
    /// Reads an identifier.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .guid(let value) = odataValue else { return nil }
        self = value
    }
    /// An identifier.
    @inlinable
    public var odataValue: ODataValue { .guid(self) }
}

extension ODataDate: ODataValueConvertible {
    /// Reads a date.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .date(let value) = odataValue else { return nil }
        self = value
    }
    /// A date.
    @inlinable
    public var odataValue: ODataValue { .date(self) }
}

extension ODataTimeOfDay: ODataValueConvertible {
    /// Reads a time of day.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .timeOfDay(let value) = odataValue else { return nil }
        self = value
    }
    /// A time of day.
    @inlinable
    public var odataValue: ODataValue { .timeOfDay(self) }
}

extension ODataDateTimeOffset: ODataValueConvertible {
    /// Reads an instant.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .dateTimeOffset(let value) = odataValue else { return nil }
        self = value
    }
    /// An instant.
    @inlinable
    public var odataValue: ODataValue { .dateTimeOffset(self) }
}

extension ODataDateTime: ODataValueConvertible {
    /// Reads a date and time without offset.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .dateTime(let value) = odataValue else { return nil }
        self = value
    }
    /// A date and time without offset.
    @inlinable
    public var odataValue: ODataValue { .dateTime(self) }
}

extension ODataDuration: ODataValueConvertible {
    /// Reads a duration.
    @inlinable
    public init?(odataValue: ODataValue) {
        guard case .duration(let value) = odataValue else { return nil }
        self = value
    }
    /// A duration.
    @inlinable
    public var odataValue: ODataValue { .duration(self) }
}

extension Array: ODataValueConvertible where Element: ODataValueConvertible {
    /// Reads a collection none of whose members is null; an array of `UInt8` reads binary values too.
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
            // Without a look at the type, no bytes at all would be an array of anything.
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
    /// A geography or geometry value.
    public var odataValue: ODataValue { .geo(self) }
}

extension ODataValue: ODataValueConvertible {
    /// The value itself, whatever it is; null too.
    public init?(odataValue: ODataValue) { self = odataValue }
    /// The value itself.
    public var odataValue: ODataValue { self }
}

extension ODataEntity: ODataValueConvertible {
    /// Reads an instance of a complex type.
    public init?(odataValue: ODataValue) {
        guard case .complex(let entity) = odataValue else { return nil }
        self = entity
    }
    /// An instance of a complex type.
    public var odataValue: ODataValue { .complex(self) }
}
