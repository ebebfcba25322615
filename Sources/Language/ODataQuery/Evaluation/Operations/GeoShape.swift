import Foundation
import ODataModel

/// The geometry of a value, on which the geo functions are computed (OData URL Conventions 4.01, 5.1.1.11).
///
/// - Geography (reference system 4326 and other systems of longitude and latitude): lengths and distances are in
///   metres along the geodesic of the WGS 84 ellipsoid. Vincenty's inverse formula is exact to less than a
///   millimetre. If it does not converge, near antipodes, the great circle of the mean sphere is used. The edges of
///   polygons are great circles. A polygon is the smaller part of the sphere inside its ring, so it must fit a
///   hemisphere.
/// - Geometry (reference system 0 and all others): lengths and distances are Euclidean, in the units of the system.
///
/// Points on the edge of a polygon belong to it, points within its holes do not. Elevations are ignored.
public struct GeoShape: Hashable, Sendable {
    /// A position: longitude and latitude, or x and y.
    public struct Position: Hashable, Sendable {
        /// Longitude in degrees, or x.
        public var x: Double
        /// Latitude in degrees, or y.
        public var y: Double
    }

    /// The elements of the shape.
    indirect enum Content: Hashable {
        case points([Position])
        case lines([[Position]])
        /// Each polygon consists of its outer ring followed by its holes.
        case polygons([[[Position]]])
        case collection([Content])
    }

    /// Whether positions are longitudes and latitudes.
    public let isGeography: Bool
    let content: Content

    /// Creates the geometry of a value; an empty point has no positions.
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

    /// The length of all lines (`geo.length`); `nil` for other shapes.
    public var length: Double? {
        guard case .lines(let lines) = content else { return nil }
        return lines.reduce(0) { sum, line in
            zip(line, line.dropFirst()).reduce(sum) { $0 + distance($1.0, $1.1) }
        }
    }

    /// Returns the least distance between the points of two shapes (`geo.distance`).
    ///
    /// The result is `nil` for shapes other than points, or if only one of the two is geography.
    public func distance(to other: GeoShape) -> Double? {
        guard isGeography == other.isGeography, case .points(let own) = content,
            case .points(let others) = other.content
        else { return nil }
        return own.lazy.flatMap { point in others.lazy.map { distance(point, $0) } }.min()
    }

    /// Returns whether a point of this shape lies in a polygon of another (`geo.intersects`).
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

    /// The position of a point relative to a ring.
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
