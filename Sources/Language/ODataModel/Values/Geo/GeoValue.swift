import ErrorCodes

/// A value of any of the sixteen geography and geometry types: a shape in a spatial reference system
/// (OData CSDL 4.01, 3.3; OGC 06-103r4 *Simple Features*).
///
/// ```swift
/// let berlin = GeoValue(.geography, .point(.init(x: 13.4, y: 52.5)))
/// berlin.wellKnownText  // SRID=4326;Point(13.4 52.5)
/// ```
public struct GeoValue: Hashable, Sendable {
    /// Round or flat earth.
    public enum Family: Hashable, Sendable {
        /// On the round earth; EPSG 4326 where nothing else is said. `x` is the longitude, `y` the latitude.
        case geography
        /// On a plane; reference system 0 where nothing else is said.
        case geometry

        /// The reference system that goes without saying (OData CSDL 4.01, 7.2.6 *SRID*).
        public var defaultSRID: Int { self == .geography ? 4326 : 0 }
    }

    /// How deep collections of shapes may be nested.
    public static let maxDepth = 16
    /// The greatest number of a reference system: five digits (OData ABNF, `sridLiteral`).
    public static let maxSRID = 99_999

    /// Round or flat earth.
    public var family: Family
    /// The number of the spatial reference system (EPSG).
    public var srid: Int
    /// The shape.
    public var shape: Shape

    /// Makes a value.
    ///
    /// - Parameters:
    ///   - family: round or flat earth.
    ///   - shape: the shape.
    ///   - srid: the reference system; `nil` is the family's default.
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

    /// Whether the value may stand where `type` is declared: its own type or the family's abstract one.
    public func isOf(_ type: PrimitiveType) -> Bool {
        type == self.type || type == (family == .geography ? .geography : .geometry)
    }
}

extension GeoValue {
    /// The shape of a geo value.
    public enum Shape: Hashable, Sendable {
        /// A position; `nil` for the empty point.
        case point(Position?)
        /// A line through two or more positions, or none.
        case lineString([Position])
        /// A surface: its outer ring and the rings of its holes, each closed.
        case polygon([[Position]])
        /// Several positions.
        case multiPoint([Position])
        /// Several lines.
        case multiLineString([[Position]])
        /// Several surfaces.
        case multiPolygon([[[Position]]])
        /// Shapes of any kinds.
        case collection([Shape])

        /// The name in GeoJSON and well-known text.
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

    /// A position: two to four coordinates.
    public struct Position: Hashable, Sendable {
        /// The longitude in degrees, or the first coordinate on a plane.
        public var x: Double
        /// The latitude in degrees, or the second coordinate on a plane.
        public var y: Double
        /// The height.
        public var z: Double?
        /// A measure; a position that has one has a height too.
        public var m: Double?

        /// Makes a position.
        public init(x: Double, y: Double, z: Double? = nil, m: Double? = nil) {
            self.x = x
            self.y = y
            self.z = z
            self.m = m
        }

        /// Makes a position from two to four finite numbers; `nil` for fewer, more or others.
        init?(_ numbers: [Double]) {
            guard (2...4).contains(numbers.count), numbers.allSatisfy(\.isFinite) else { return nil }
            self.init(
                x: numbers[0], y: numbers[1], z: numbers.count > 2 ? numbers[2] : nil,
                m: numbers.count > 3 ? numbers[3] : nil)
        }

        /// The coordinates in order.
        var numbers: [Double] { [x, y] + (z.map { [$0] + (m.map { [$0] } ?? []) } ?? m.map { [0, $0] } ?? []) }
    }
}

extension PrimitiveType {
    /// Round or flat earth, for the geo types; `nil` for others.
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

/// The shortest text of a coordinate that reads back the same, whole numbers without a point.
func geoText(_ number: Double) -> String {
    let text = number.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}

/// Text that is no geo value.
public struct GeoError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The byte of the text where the mistake is, from 0; the end where it ends too early.
    public var offset: Int
    /// What should have stood there.
    public var expected: String

    /// What was expected and where.
    public var description: String { "Geo value, byte \(offset): expected \(expected)." }
}

extension GeoError: CodedError {
    /// `value.malformed-geo`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "value.malformed-geo") }
    /// The text is no place.
    public var failureKind: FailureKind { .request }
}
