import ODataModel
import ODataQuery
import Testing

@Suite("Geometry")
struct GeoShapeTests {
    /// Returns a shape. Reference system 0 is a plane, 4326 the earth.
    private func shape(_ text: String, srid: Int = 4326) throws -> GeoShape {
        GeoShape(try GeoValue(wellKnownText: "SRID=\(srid);\(text)", family: srid == 0 ? .geometry : .geography))
    }

    private func point(_ x: Double, _ y: Double, srid: Int = 4326) throws -> GeoShape {
        try shape("Point(\(x) \(y))", srid: srid)
    }

    @Test("Distances follow the WGS 84 ellipsoid")
    func distance() throws {
        // One degree along the equator and along the meridian, and the published length of a known geodesic.
        #expect(abs(try #require(try point(0, 0).distance(to: point(1, 0))) - 111_319.490_793) < 0.001)
        #expect(abs(try #require(try point(0, 0).distance(to: point(0, 1))) - 110_574.388_558) < 0.001)
        let (flinders, buninyong) = (
            try point(144.424_867_888_9, -37.951_033_416_7), try point(143.926_495_527_8, -37.652_821_138_9)
        )
        #expect(abs(try #require(flinders.distance(to: buninyong)) - 54_972.271) < 0.001)
        #expect(try point(7, 8).distance(to: point(7, 8)) == 0)
        // The formula does not converge here, so the distance is that on the sphere.
        let antipodes = try #require(try point(0, 0).distance(to: point(179.9, 0.1)))
        #expect(antipodes > 19_900_000 && antipodes < 20_050_000)
        #expect(abs(try #require(try point(179.5, 0).distance(to: point(-179.5, 0))) - 111_319.490_793) < 0.001)
    }

    @Test("Distances without a geodetic system are Euclidean, and the two kinds do not mix")
    func planar() throws {
        #expect(try point(0, 0, srid: 0).distance(to: point(3, 4, srid: 0)) == 5)
        #expect(try point(0, 0, srid: 0).distance(to: point(3, 4)) == nil)
    }

    @Test("The length of a line is the sum of its parts")
    func length() throws {
        let line = try shape("LineString(0 0,1 0,2 0)")
        #expect(abs(try #require(line.length) - 2 * 111_319.490_793) < 0.001)
        #expect(try point(0, 0).length == nil)
    }

    @Test("A point within the ring and outside of holes is in the polygon, edges included", arguments: [4326, 0])
    func polygon(srid: Int) throws {
        let polygon = try shape("Polygon((0 0,10 0,10 10,0 10,0 0),(4 4,4 6,6 6,6 4,4 4))", srid: srid)
        for (x, y, isInside) in [
            (1.0, 1.0, true), (5, 5, false), (5, 3, true), (11, 5, false), (-1, 5, false), (5, -1, false), (0, 5, true),
            (10, 10, true), (0, 0, true), (5, 0, true), (185, -5, false), (-175, 5, false),
        ] {
            #expect(try point(x, y, srid: srid).intersects(polygon) == isInside, "\(x) \(y)")
        }
    }

    @Test("A polygon may cross the date line and contain a pole")
    func dateLine() throws {
        let line = try shape("Polygon((170 -10,-170 -10,-170 10,170 10,170 -10))")
        #expect(try point(180, 0).intersects(line) && point(-175, 5).intersects(line))
        #expect(try !point(0, 0).intersects(line) && !point(160, 0).intersects(line))
        let pole = try shape("Polygon((0 60,90 60,180 60,-90 60,0 60))")
        #expect(
            try point(45, 85).intersects(pole) && !point(45, 20).intersects(pole) && !point(45, -85).intersects(pole))
    }
}

@Suite("The words of a text")
struct TextSearchTests {
    @Test("Words are sequences of letters and digits, compared in lower case")
    func words() {
        #expect(TextSearch.words(of: "Rote-Grütze 08/15, ÉTÉ") == ["rote", "grütze", "08", "15", "été"])
        #expect(
            TextSearch.matches(.word("08/15"), in: ["x 08 15 y"]) && !TextSearch.matches(.word("15/08"), in: ["08 15"]))
        #expect(TextSearch.matches(.and(.word("a"), .word("b")), in: ["a", "b"]))
        #expect(!TextSearch.matches(.phrase("a b"), in: ["a", "b"]) && !TextSearch.matches(.word("-"), in: ["-"]))
    }
}
