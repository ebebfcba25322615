/// A value of any type of OData.
///
/// Integers of all widths share one case; the declared type (``Property/type``) distinguishes them. Values are
/// compared by content.
///
/// A value takes 24 bytes, and needs additional memory only for long strings, bytes, collections, instances and
/// shapes. There is no `nil` literal for null, because the expression `isKnown ? value : nil` would then silently
/// produce null instead of an absent value.
///
/// ```swift
/// order["Freight"] = .decimal(ODataDecimal(12))
/// order["ShipCity"] = "Bern"  // literals of strings, integers, booleans, doubles and arrays
/// order["ShippedDate"] = .null
/// if case .string(let city)? = order["ShipCity"] { print(city) }
/// ```
public enum ODataValue: Hashable, Sendable {
    /// The null value.
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
    /// `Edm.DateTime` of V2 and V3: a date and time without a time zone.
    case dateTime(ODataDateTime)
    /// `Edm.Duration`, and `Edm.Time` of V2 and V3.
    case duration(ODataDuration)
    /// The number of an enumeration value; the model contains the members.
    case enumeration(Int64)
    /// A value of a geography or geometry type. The value is boxed, like complex values.
    indirect case geo(GeoValue)
    /// A value of a complex type. The value is boxed to keep all other values within 24 bytes.
    indirect case complex(ODataEntity)
    /// An ordered collection.
    case collection([ODataValue])

    /// Whether the value is null.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

extension ODataValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// Creates a double.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a collection.
    public init(arrayLiteral elements: ODataValue...) { self = .collection(elements) }
}
