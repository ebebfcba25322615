import ErrorCodes

/// A value of any of the sixteen geography and geometry types: a shape in a spatial reference system (OData CSDL
/// 4.01, 3.3; OGC 06-103r4 *Simple Features*).
///
/// ```swift
/// let berlin = GeoValue(.geography, .point(.init(x: 13.4, y: 52.5)))
/// print(berlin.wellKnownText)  // SRID=4326;Point(13.4 52.5)
/// ```
public struct GeoValue: Hashable, Sendable {
    /// The families of geo types.
    public enum Family: Hashable, Sendable {
        /// Values on the round earth, by default in EPSG 4326. `x` is the longitude, and `y` is the latitude.
        case geography
        /// Values on a plane, by default in reference system 0.
        case geometry

        /// The default reference system (OData CSDL 4.01, 7.2.6 *SRID*).
        public var defaultSRID: Int { self == .geography ? 4326 : 0 }
    }

    /// The maximum nesting depth of collections of shapes.
    public static let maxDepth = 16
    /// The maximum number of a reference system: five digits (OData ABNF, `sridLiteral`).
    public static let maxSRID = 99_999

    /// The family, for the round earth or a plane.
    public var family: Family
    /// The number of the spatial reference system (EPSG).
    public var srid: Int
    /// The shape, with coordinates in the reference system.
    public var shape: Shape

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - family: the family, for the round earth or a plane.
    ///   - shape: the shape.
    ///   - srid: the reference system; `nil` for the family's default.
    public init(_ family: Family, _ shape: Shape, srid: Int? = nil) {
        self.family = family
        self.shape = shape
        self.srid = srid ?? family.defaultSRID
    }

    /// The primitive type of the value.
    public var type: PrimitiveType {
        switch (family, shape) {
        case (.geography, .point): .geographyPoint
        case (.geography, .lineString): .geographyLineString
        case (.geography, .polygon): .geographyPolygon
        case (.geography, .multiPoint): .geographyMultiPoint
        case (.geography, .multiLineString): .geographyMultiLineString
        case (.geography, .multiPolygon): .geographyMultiPolygon
        case (.geography, .collection): .geographyCollection
        case (.geometry, .point): .geometryPoint
        case (.geometry, .lineString): .geometryLineString
        case (.geometry, .polygon): .geometryPolygon
        case (.geometry, .multiPoint): .geometryMultiPoint
        case (.geometry, .multiLineString): .geometryMultiLineString
        case (.geometry, .multiPolygon): .geometryMultiPolygon
        case (.geometry, .collection): .geometryCollection
        }
    }

    /// Returns whether the value is valid for `type`: its own type or the family's abstract type.
    public func isOf(_ type: PrimitiveType) -> Bool {
        type == self.type || type == (family == .geography ? .geography : .geometry)
    }
}

extension GeoValue {
    /// The shape of a geo value.
    public enum Shape: Hashable, Sendable {
        /// A position; `nil` for an empty point.
        case point(Position?)
        /// A line through two or more positions; empty for an empty line.
        case lineString([Position])
        /// A surface: its outer ring and the rings of its holes, all closed.
        case polygon([[Position]])
        /// Several positions.
        case multiPoint([Position])
        /// Several lines.
        case multiLineString([[Position]])
        /// Several surfaces.
        case multiPolygon([[[Position]]])
        /// Several shapes of any kind.
        case collection([Shape])

        /// The name of the shape in GeoJSON and well-known text.
        public var name: String {
            switch self {
            case .point: "Point"
            case .lineString: "LineString"
            case .polygon: "Polygon"
            case .multiPoint: "MultiPoint"
            case .multiLineString: "MultiLineString"
            case .multiPolygon: "MultiPolygon"
            case .collection: "GeometryCollection"
            }
        }
    }

    /// A position with two to four coordinates.
    public struct Position: Hashable, Sendable {
        /// The longitude in degrees, or the first coordinate on a plane.
        public var x: Double
        /// The latitude in degrees, or the second coordinate on a plane.
        public var y: Double
        /// The height.
        public var z: Double? { didSet { addHeight() } }
        /// A measure; a position that has one has a height too.
        public var m: Double? { didSet { addHeight() } }

        /// Makes a position.
        ///
        /// - Parameter z: the height; 0 if there is a measure and no height.
        public init(x: Double, y: Double, z: Double? = nil, m: Double? = nil) {
            self.x = x
            self.y = y
            self.z = z ?? (m == nil ? nil : 0)
            self.m = m
        }

        /// Formats write a measure only behind a height.
        private mutating func addHeight() {
            if m != nil, z == nil { z = 0 }
        }

        /// Makes a position from two to four finite numbers; `nil` for fewer, more or others.
        init?(_ numbers: [Double]) {
            guard (2...4).contains(numbers.count), numbers.allSatisfy(\.isFinite) else { return nil }
            self.init(
                x: numbers[0], y: numbers[1], z: numbers.count > 2 ? numbers[2] : nil,
                m: numbers.count > 3 ? numbers[3] : nil)
        }

        /// The coordinates in order.
        var numbers: [Double] { [x, y] + [z, m].compactMap { $0 } }
    }
}

extension PrimitiveType {
    /// The family of a geo type; `nil` for other types.
    public var geoFamily: GeoValue.Family? {
        switch self {
        case .geography, .geographyPoint, .geographyLineString, .geographyPolygon, .geographyMultiPoint,
            .geographyMultiLineString, .geographyMultiPolygon, .geographyCollection:
            .geography
        case .geometry, .geometryPoint, .geometryLineString, .geometryPolygon, .geometryMultiPoint,
            .geometryMultiLineString, .geometryMultiPolygon, .geometryCollection:
            .geometry
        default: nil
        }
    }
}

/// Returns the shortest text of a coordinate that reads back the same, without a decimal point for integers.
func geoText(_ number: Double) -> String {
    let text = number.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}

/// An error in the text of a geo value.
public struct GeoError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The byte offset of the error, counted from 0.
    public var offset: Int
    /// A description of the expected content.
    public var expected: String

    /// A message with the position and the expected content.
    public var description: String { "Geo value, byte \(offset): expected \(expected)." }
}

extension GeoError: CodedError {
    /// `value.malformed-geo`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "value.malformed-geo") }
    /// The text is no place.
    public var failureKind: FailureKind { .request }
}
