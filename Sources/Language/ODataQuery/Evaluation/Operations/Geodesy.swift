import Foundation

/// Geometry on the earth's surface.
enum Geodesy {
    /// The equatorial radius in metres and the flattening of the WGS 84 ellipsoid.
    private static let (equatorial, flattening) = (6_378_137.0, 1 / 298.257_223_563)
    /// The mean radius in metres.
    private static let meanRadius = 6_371_008.771_4
    /// The distance at which a point counts as on an edge, as the sine of the angle: less than a centimetre.
    private static let edgeTolerance = 1e-9

    /// Returns the length of the geodesic in metres.
    static func distance(_ a: GeoShape.Position, _ b: GeoShape.Position) -> Double {
        if a == b { return 0 }
        return vincenty(a, b) ?? greatCircle(a, b)
    }

    private static func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }

    /// Returns the distance by the haversine formula on the mean sphere.
    private static func greatCircle(_ a: GeoShape.Position, _ b: GeoShape.Position) -> Double {
        let latitude = sin(radians(b.y - a.y) / 2)
        let longitude = sin(radians(b.x - a.x) / 2)
        let h = latitude * latitude + cos(radians(a.y)) * cos(radians(b.y)) * longitude * longitude
        return 2 * meanRadius * asin(min(1, h.squareRoot()))
    }

    /// Returns the distance by Vincenty's inverse formula (Survey Review XXII, 176, 1975); `nil` if it does not
    /// converge.
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
            // A geodesic along the equator has no vertex.
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

    /// Returns the side of a ring on which a point lies, by the winding number of the angles between the vertices.
    ///
    /// The ring also winds around the antipode of an inner point. A point on the far side of the ring's centre is
    /// therefore outside.
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
