/// The primitive types of OData, including `Edm.DateTime` and `Edm.Time` of V2 (OData CSDL 4.01, 3.3 *Primitive
/// Types*).
public enum PrimitiveType: String, Hashable, Sendable, CaseIterable {
    /// A byte string.
    case binary = "Edm.Binary"
    /// True or false.
    case boolean = "Edm.Boolean"
    /// An unsigned 8-bit integer.
    case byte = "Edm.Byte"
    /// A date without a time zone.
    case date = "Edm.Date"
    /// A date and time without an offset (V2 and V3 only).
    case dateTime = "Edm.DateTime"
    /// A date and time with an offset from UTC in minutes.
    case dateTimeOffset = "Edm.DateTimeOffset"
    /// An exact decimal number.
    case decimal = "Edm.Decimal"
    /// An IEEE 754 binary64 number.
    case double = "Edm.Double"
    /// A signed duration in days, hours, minutes and seconds.
    case duration = "Edm.Duration"
    /// A 128-bit identifier.
    case guid = "Edm.Guid"
    /// A signed 16-bit integer.
    case int16 = "Edm.Int16"
    /// A signed 32-bit integer.
    case int32 = "Edm.Int32"
    /// A signed 64-bit integer.
    case int64 = "Edm.Int64"
    /// A signed 8-bit integer.
    case sbyte = "Edm.SByte"
    /// An IEEE 754 binary32 number.
    case single = "Edm.Single"
    /// A stream of bytes with a media type.
    case stream = "Edm.Stream"
    /// A sequence of characters.
    case string = "Edm.String"
    /// A duration within a day (V2 and V3 only).
    case time = "Edm.Time"
    /// A time of day, 00:00 to 23:59:59.999999999999.
    case timeOfDay = "Edm.TimeOfDay"
    /// Any round-earth value.
    case geography = "Edm.Geography"
    /// A round-earth point.
    case geographyPoint = "Edm.GeographyPoint"
    /// A round-earth line.
    case geographyLineString = "Edm.GeographyLineString"
    /// A round-earth polygon.
    case geographyPolygon = "Edm.GeographyPolygon"
    /// Several round-earth points.
    case geographyMultiPoint = "Edm.GeographyMultiPoint"
    /// Several round-earth lines.
    case geographyMultiLineString = "Edm.GeographyMultiLineString"
    /// Several round-earth polygons.
    case geographyMultiPolygon = "Edm.GeographyMultiPolygon"
    /// Several round-earth shapes of any kind.
    case geographyCollection = "Edm.GeographyCollection"
    /// Any flat-earth value.
    case geometry = "Edm.Geometry"
    /// A flat-earth point.
    case geometryPoint = "Edm.GeometryPoint"
    /// A flat-earth line.
    case geometryLineString = "Edm.GeometryLineString"
    /// A flat-earth polygon.
    case geometryPolygon = "Edm.GeometryPolygon"
    /// Several flat-earth points.
    case geometryMultiPoint = "Edm.GeometryMultiPoint"
    /// Several flat-earth lines.
    case geometryMultiLineString = "Edm.GeometryMultiLineString"
    /// Several flat-earth polygons.
    case geometryMultiPolygon = "Edm.GeometryMultiPolygon"
    /// Several flat-earth shapes of any kind.
    case geometryCollection = "Edm.GeometryCollection"

    /// Whether values are integers.
    public var isInteger: Bool {
        switch self {
        case .byte, .sbyte, .int16, .int32, .int64: true
        default: false
        }
    }

    /// Whether values can be used in arithmetic.
    public var isNumeric: Bool {
        switch self {
        case .decimal, .double, .single: true
        default: isInteger
        }
    }

    /// Whether finite values are numbers in JSON, regardless of `IEEE754Compatible` (OData JSON Format 4.01, 7.1).
    var isJSONNumber: Bool {
        switch self {
        case .byte, .sbyte, .int16, .int32, .single, .double: true
        default: false
        }
    }

    /// Whether values are geographic or geometric.
    public var isGeo: Bool { geoFamily != nil }

    /// The range of an integer type; `nil` for other types.
    public var integerRange: ClosedRange<Int64>? {
        switch self {
        case .byte: 0...255
        case .sbyte: -128...127
        case .int16: Int64(Int16.min)...Int64(Int16.max)
        case .int32: Int64(Int32.min)...Int64(Int32.max)
        case .int64: Int64.min...Int64.max
        default: nil
        }
    }
}
