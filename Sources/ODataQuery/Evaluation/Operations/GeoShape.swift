import Foundation
import ODataModel

/// The geometry behind the geo functions (OData URL Conventions 4.01, 5.1.1.11), on the shape of a value.
///
/// - Geography (reference system 4326 and other systems of longitude and latitude): lengths and distances are metres
///   along the geodesic of the WGS 84 ellipsoid by Vincenty's inverse formula, exact to less than a millimetre; near
///   antipodes, where that does not converge, along the great circle of the mean sphere. Edges of polygons are great
///   circles; a polygon is the smaller of the two parts of the sphere that its ring divides, so that it must fit a
///   hemisphere.
/// - Geometry (reference system 0 and all others): lengths and distances are Euclid's, in the units of the system.
///
/// Points on the edge of a polygon belong to it, those within its holes do not. Elevations are not looked at.
public struct GeoShape: Hashable, Sendable {
    /// A position: longitude and latitude, or x and y.
    public struct Position: Hashable, Sendable {
        /// Longitude in degrees, or x.
        public var x: Double
        /// Latitude in degrees, or y.
        public var y: Double
    }

    /// What the shape is made of.
    indirect enum Content: Hashable {
        case points([Position])
        case lines([[Position]])
        /// Each polygon is its outer ring and then its holes.
        case polygons([[[Position]]])
        case collection([Content])
    }

    /// Whether positions are longitudes and latitudes.
    public let isGeography: Bool
    let content: Content

    /// The geometry of a value; an empty point is no points.
    public init(_ value: GeoValue) {
        isGeography = value.family == .geography
        content = Self.content(value.shape)
    }

    private static func content(_ shape: GeoValue.Shape) -> Content {
        switch shape {
        case .point(let position): .points(position.map { [Self.position($0)] } ?? [])
        case .multiPoint(let positions): .points(line(positions))
        case .lineString(let positions): .lines([line(positions)])
        case .multiLineString(let lines): .lines(lines.map(line))
        case .polygon(let rings): .polygons([rings.map(line)])
        case .multiPolygon(let polygons): .polygons(polygons.map { $0.map(line) })
        case .collection(let shapes): .collection(shapes.map(content))
        }
    }

    private static func line(_ positions: [GeoValue.Position]) -> [Position] { positions.map(position) }

    private static func position(_ position: GeoValue.Position) -> Position { Position(x: position.x, y: position.y) }

    // MARK: Functions

    /// The length of all lines (`geo.length`); `nil` for shapes that are no lines.
    public var length: Double? {
        guard case .lines(let lines) = content else { return nil }
        return lines.reduce(0) { sum, line in
            zip(line, line.dropFirst()).reduce(sum) { $0 + distance($1.0, $1.1) }
        }
    }

    /// The least distance between the points of two shapes (`geo.distance`); `nil` for shapes that are no points, or
    /// when one is geography and the other is not.
    public func distance(to other: GeoShape) -> Double? {
        guard isGeography == other.isGeography, case .points(let own) = content,
            case .points(let others) = other.content
        else { return nil }
        return own.lazy.flatMap { point in others.lazy.map { distance(point, $0) } }.min()
    }

    /// Whether a point of this shape lies in a polygon of another (`geo.intersects`).
    public func intersects(_ other: GeoShape) -> Bool {
        guard isGeography == other.isGeography, case .points(let points) = content,
            case .polygons(let polygons) = other.content
        else { return false }
        return points.contains { point in polygons.contains { contains(point, in: $0) } }
    }

    private func distance(_ a: Position, _ b: Position) -> Double {
        isGeography ? Geodesy.distance(a, b) : hypot(a.x - b.x, a.y - b.y)
    }

    private func contains(_ point: Position, in polygon: [[Position]]) -> Bool {
        guard let outer = polygon.first else { return false }
        switch side(of: point, outer) {
        case .outside: return false
        case .edge: return true
        case .inside: return !polygon.dropFirst().contains { side(of: point, $0) == .inside }
        }
    }

    /// Where a point is as seen from a ring.
    enum Side { case inside, outside, edge }

    private func side(of point: Position, _ ring: [Position]) -> Side {
        isGeography ? Geodesy.side(of: point, ring) : Self.planarSide(of: point, ring)
    }

    /// Counts the edges that a ray to the right of the point crosses.
    private static func planarSide(of point: Position, _ ring: [Position]) -> Side {
        var isInside = false
        for (a, b) in zip(ring, ring.dropFirst() + ring.prefix(1)) {
            let cross = (b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x)
            if cross == 0, point.x >= min(a.x, b.x), point.x <= max(a.x, b.x), point.y >= min(a.y, b.y),
                point.y <= max(a.y, b.y)
            {
                return .edge
            }
            if (a.y > point.y) != (b.y > point.y), (cross > 0) == (b.y > a.y) { isInside.toggle() }
        }
        return isInside ? .inside : .outside
    }
}

/// Geometry on the earth.
enum Geodesy {
    /// The half axes of the WGS 84 ellipsoid in metres.
    private static let (equatorial, flattening) = (6_378_137.0, 1 / 298.257_223_563)
    /// The mean radius in metres.
    private static let meanRadius = 6_371_008.771_4
    /// How near to an edge a point counts as on it, as the sine of the angle: less than a centimetre.
    private static let edgeTolerance = 1e-9

    /// The length of the geodesic in metres.
    static func distance(_ a: GeoShape.Position, _ b: GeoShape.Position) -> Double {
        if a == b { return 0 }
        return vincenty(a, b) ?? greatCircle(a, b)
    }

    private static func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }

    /// The haversine formula on the mean sphere.
    private static func greatCircle(_ a: GeoShape.Position, _ b: GeoShape.Position) -> Double {
        let latitude = sin(radians(b.y - a.y) / 2)
        let longitude = sin(radians(b.x - a.x) / 2)
        let h = latitude * latitude + cos(radians(a.y)) * cos(radians(b.y)) * longitude * longitude
        return 2 * meanRadius * asin(min(1, h.squareRoot()))
    }

    /// Vincenty's inverse formula (Survey Review XXII, 176, 1975); `nil` when it does not converge.
    private static func vincenty(_ a: GeoShape.Position, _ b: GeoShape.Position) -> Double? {
        let polar = equatorial * (1 - flattening)
        let difference = radians(b.x - a.x)
        let (u1, u2) = (atan((1 - flattening) * tan(radians(a.y))), atan((1 - flattening) * tan(radians(b.y))))
        let (sinU1, cosU1, sinU2, cosU2) = (sin(u1), cos(u1), sin(u2), cos(u2))
        var lambda = difference
        for _ in 0..<100 {
            let (sinLambda, cosLambda) = (sin(lambda), cos(lambda))
            let first = cosU2 * sinLambda
            let second = cosU1 * sinU2 - sinU1 * cosU2 * cosLambda
            let sinSigma = (first * first + second * second).squareRoot()
            if sinSigma == 0 { return 0 }
            let cosSigma = sinU1 * sinU2 + cosU1 * cosU2 * cosLambda
            let sigma = atan2(sinSigma, cosSigma)
            let sinAlpha = cosU1 * cosU2 * sinLambda / sinSigma
            let cosSquaredAlpha = 1 - sinAlpha * sinAlpha
            // Along the equator there is no vertex.
            let cosMiddle = cosSquaredAlpha == 0 ? 0 : cosSigma - 2 * sinU1 * sinU2 / cosSquaredAlpha
            let c = flattening / 16 * cosSquaredAlpha * (4 + flattening * (4 - 3 * cosSquaredAlpha))
            let previous = lambda
            lambda =
                difference + (1 - c) * flattening * sinAlpha
                * (sigma + c * sinSigma * (cosMiddle + c * cosSigma * (-1 + 2 * cosMiddle * cosMiddle)))
            guard lambda.magnitude <= 2 * .pi else { return nil }
            guard (lambda - previous).magnitude < 1e-12 else { continue }
            let square = cosSquaredAlpha * (equatorial * equatorial - polar * polar) / (polar * polar)
            let large = 1 + square / 16384 * (4096 + square * (-768 + square * (320 - 175 * square)))
            let small = square / 1024 * (256 + square * (-128 + square * (74 - 47 * square)))
            let middle = -1 + 2 * cosMiddle * cosMiddle
            let correction =
                small * sinSigma
                * (cosMiddle + small / 4
                    * (cosSigma * middle - small / 6 * cosMiddle * (-3 + 4 * sinSigma * sinSigma)
                        * (-3 + 4 * cosMiddle * cosMiddle)))
            return polar * large * (sigma - correction)
        }
        return nil
    }

    // MARK: Polygons

    private typealias Vector = SIMD3<Double>

    private static func vector(_ position: GeoShape.Position) -> Vector {
        let (longitude, latitude) = (radians(position.x), radians(position.y))
        return Vector(cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude))
    }

    private static func cross(_ a: Vector, _ b: Vector) -> Vector {
        Vector(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
    }

    private static func dot(_ a: Vector, _ b: Vector) -> Double { (a * b).sum() }

    /// How often the ring winds around the point, by the angles under which the point sees its edges. The antipode of
    /// the point is wound around as well; a point on the far side of the ring's centre is therefore outside.
    static func side(of point: GeoShape.Position, _ ring: [GeoShape.Position]) -> GeoShape.Side {
        let p = vector(point)
        let vertices = ring.map(vector)
        var angle = 0.0
        var centre = Vector()
        for (a, b) in zip(vertices, vertices.dropFirst() + vertices.prefix(1)) {
            centre += a
            let normal = cross(a, b)
            let size = dot(normal, normal).squareRoot()
            if size < 1e-15 {
                if dot(cross(p, a), cross(p, a)).squareRoot() < edgeTolerance, dot(p, a) > 0 { return .edge }
                continue
            }
            if (dot(normal, p) / size).magnitude < edgeTolerance, dot(cross(a, p), normal) >= -edgeTolerance,
                dot(cross(p, b), normal) >= -edgeTolerance, dot(p, a + b) > 0
            {
                return .edge
            }
            let (toA, toB) = (a - dot(a, p) * p, b - dot(b, p) * p)
            angle += atan2(dot(p, cross(toA, toB)), dot(toA, toB))
        }
        return angle.magnitude > .pi && dot(p, centre) > 0 ? .inside : .outside
    }
}
