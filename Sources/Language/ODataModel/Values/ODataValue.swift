/// Any value of OData's type system.
///
/// Integers of every width share one case, as do both kinds of property that hold them: the type of a
/// value's slot (``Property/type``) says which it is. Values compare by content.
///
/// A value takes 24 bytes and no memory of its own except for long strings, bytes, collections, instances and
/// shapes. There is no literal for null: `nil` would turn `isKnown ? value : nil` into a null value where an
/// optional one, not loaded, is meant.
public enum ODataValue: Hashable, Sendable {
    /// No value.
    case null
    /// `Edm.Boolean`.
    case boolean(Bool)
    /// `Edm.Byte`, `Edm.SByte`, `Edm.Int16`, `Edm.Int32`, `Edm.Int64`.
    case integer(Int64)
    /// `Edm.Single`.
    case single(Float)
    /// `Edm.Double`; also `INF`, `-INF` and `NaN` of `Edm.Decimal`.
    case double(Double)
    /// `Edm.Decimal`.
    case decimal(ODataDecimal)
    /// `Edm.String`.
    case string(String)
    /// `Edm.Binary`.
    case binary([UInt8])
    /// `Edm.Guid`.
    case guid(ODataGuid)
    /// `Edm.Date`.
    case date(ODataDate)
    /// `Edm.TimeOfDay`.
    case timeOfDay(ODataTimeOfDay)
    /// `Edm.DateTimeOffset`.
    case dateTimeOffset(ODataDateTimeOffset)
    /// `Edm.DateTime` of V2 and V3: an instant on an unstated clock.
    case dateTime(ODataDateTime)
    /// `Edm.Duration`, and `Edm.Time` of V2 and V3.
    case duration(ODataDuration)
    /// An enumeration value: its number. The members are in the model.
    case enumeration(Int64)
    /// A value of one of the geography and geometry types. Boxed as instances are.
    indirect case geo(GeoValue)
    /// A value of a complex type. Boxed, so that every other value stays within 24 bytes.
    indirect case complex(ODataEntity)
    /// An ordered collection.
    case collection([ODataValue])

    /// Whether there is no value.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

extension ODataValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// A double.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// A collection.
    public init(arrayLiteral elements: ODataValue...) { self = .collection(elements) }
}
