import ODataModel
import Testing

@Suite("Geo values")
struct GeoValueTests {
    /// A value of each shape, as well-known text and as GeoJSON.
    static let samples: [(String, String, String)] = [
        ("Point", "SRID=4326;Point(142.1 64.1)", #"{"type":"Point","coordinates":[142.1,64.1]}"#),
        ("Point", "SRID=4326;Point(1 2 3 4)", #"{"type":"Point","coordinates":[1,2,3,4]}"#),
        ("Point", "SRID=4326;Point EMPTY", #"{"type":"Point","coordinates":[]}"#),
        (
            "LineString", "SRID=4326;LineString(142.1 64.1,3.14 2.78)",
            #"{"type":"LineString","coordinates":[[142.1,64.1],[3.14,2.78]]}"#
        ),
        (
            "Polygon", "SRID=4326;Polygon((0 0,4 0,4 4,0 0),(1 1,2 1,2 2,1 1))",
            #"{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[0,0]],[[1,1],[2,1],[2,2],[1,1]]]}"#
        ),
        (
            "MultiPoint", "SRID=4326;MultiPoint((1 2),(3 4))",
            #"{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}"#
        ),
        (
            "MultiLineString", "SRID=4326;MultiLineString((1 2,3 4),(5 6,7 8))",
            #"{"type":"MultiLineString","coordinates":[[[1,2],[3,4]],[[5,6],[7,8]]]}"#
        ),
        (
            "MultiPolygon", "SRID=4326;MultiPolygon(((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5)))",
            #"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]],[[[5,5],[6,5],[6,6],[5,5]]]]}"#
        ),
        (
            "Collection", "SRID=4326;GeometryCollection(Point(1 2),GeometryCollection EMPTY)",
            #"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},{"type":"GeometryCollection","geometries":[]}]}"#
        ),
    ]

    @Test("A position with a measure also has a height")
    func measureWithoutHeight() throws {
        var position = GeoValue.Position(x: 1, y: 2, m: 4)
        #expect(position == GeoValue.Position(x: 1, y: 2, z: 0, m: 4))
        position.z = nil
        #expect(position.z == 0)
        var other = GeoValue.Position(x: 1, y: 2)
        other.m = 4
        #expect(other == position)
        let value = GeoValue(.geography, .point(position))
        #expect(try GeoValue(geoJSON: #"{"type":"Point","coordinates":[1,2,0,4]}"#, family: .geography) == value)
    }

    @Test("Every shape of both families is read and written as well-known text and GeoJSON", arguments: samples)
    func roundTrip(name: String, text: String, json: String) throws {
        for (family, prefix) in [(GeoValue.Family.geography, "Geography"), (.geometry, "Geometry")] {
            let value = try GeoValue(geoJSON: json, family: family)
            #expect(value.type.rawValue == "Edm.\(prefix)\(name)")
            #expect(value.geoJSON == json)
            let known = family == .geography ? text : text.replacing("SRID=4326", with: "SRID=0")
            #expect(value.wellKnownText == known)
            #expect(try GeoValue(wellKnownText: known, family: family) == value)
            #expect(value.isOf(family == .geography ? .geography : .geometry))
            #expect(!value.isOf(family == .geography ? .geometry : .geography))
            #expect(try ODataValue(lexical: known, type: value.type) == .geo(value))
            #expect(try ODataValue(lexical: json, type: value.type) == .geo(value))
        }
    }

    @Test(
        "Well-known text is read in the forms of other writers",
        arguments: [
            "POINT(1 2)", "point (1 2)", "SRID=4326; Point( 1 2 )", "Point(+1 2.0)", " Point(1e0 20e-1)",
        ])
    func lenient(_ text: String) throws {
        #expect(
            try GeoValue(wellKnownText: text, family: .geography) == GeoValue(.geography, .point(.init(x: 1, y: 2))))
    }

    @Test("Points without parentheses, dimension marks and empty shapes are read")
    func dialects() throws {
        func shape(_ text: String) throws -> GeoValue.Shape {
            try GeoValue(wellKnownText: text, family: .geometry).shape
        }
        #expect(try shape("MultiPoint(1 2, 3 4)") == .multiPoint([.init(x: 1, y: 2), .init(x: 3, y: 4)]))
        #expect(try shape("POINT Z (1 2 3)") == .point(.init(x: 1, y: 2, z: 3)))
        #expect(try shape("POINT ZM (1 2 3 4)") == .point(.init(x: 1, y: 2, z: 3, m: 4)))
        #expect(try shape("MultiLineString()") == .multiLineString([]))
    }

    @Test(
        "Invalid well-known text is refused with its position",
        arguments: [
            ("", 0), ("Pint(1 2)", 0), ("Point(1)", 6), ("Point(1 2", 9), ("Point(1 x)", 8), ("Point(1 2 3 4 5)", 6),
            ("Point(1 1e999)", 8), ("LineString(1 2)", 10), ("Point(1 2)x", 10), ("SRID=;Point(1 2)", 5),
            ("SRID=123456;Point(1 2)", 10), ("POINT M (1 2 3)", 7), ("Pointy(1 2)", 0),
        ])
    func refused(text: String, offset: Int) {
        let error = #expect(throws: GeoError.self) { try GeoValue(wellKnownText: text, family: .geography) }
        #expect(error?.offset == offset)
    }

    @Test(
        "GeoJSON without a geo value is refused",
        arguments: [
            #"{}"#, #"{"type":"Point"}"#, #"{"type":"Point","coordinates":[1]}"#,
            #"{"type":"Dot","coordinates":[1,2]}"#,
            #"{"type":"Point","coordinates":[[1,2]]}"#, #"{"type":"Point","coordinates":[1,2,3,4,5]}"#,
            #"{"type":"Polygon","coordinates":[[1,2],[3,4]]}"#, #"{"type":"Point","coordinates":[1,[2]]}"#,
            #"{"type":"Point","coordinates":[1,2],"crs":{"type":"name","properties":{"name":"WGS"}}}"#,
            #"{"type":"Point","coordinates":[1e999,2]}"#, #"{"type":"LineString","coordinates":[[1,2]]}"#,
        ])
    func refusedGeoJSON(_ json: String) {
        #expect(throws: JSONError.self) { try GeoValue(geoJSON: json, family: .geography) }
    }

    @Test(
        "The reference system is kept in every spelling",
        arguments: ["EPSG:3857", "urn:ogc:def:crs:EPSG::3857", "http://www.opengis.net/def/crs/EPSG/0/3857"])
    func reference(_ name: String) throws {
        let json =
            #"{"crs":{"properties":{"name":"\#(name)"},"type":"name"},"bbox":[1],"coordinates":[1,2],"type":"Point"}"#
        let value = try GeoValue(geoJSON: json, family: .geography)
        #expect(value.srid == 3857)
        #expect(try GeoValue(geoJSON: value.geoJSON, family: .geography) == value)
        #expect(value.wellKnownText == "SRID=3857;Point(1 2)")
    }

    @Test("Collections nest up to the limit")
    func depth() throws {
        func text(_ depth: Int) -> String {
            String(repeating: "GeometryCollection(", count: depth) + "Point(1 2)" + String(repeating: ")", count: depth)
        }
        let deepest = try GeoValue(wellKnownText: text(GeoValue.maxDepth - 1), family: .geometry)
        #expect(try GeoValue(geoJSON: deepest.geoJSON, family: .geometry) == deepest)
        #expect(throws: GeoError.self) { try GeoValue(wellKnownText: text(GeoValue.maxDepth), family: .geometry) }
        let deeper = GeoValue(.geometry, .collection([deepest.shape]))
        #expect(throws: JSONError.self) { try GeoValue(geoJSON: deeper.geoJSON, family: .geometry) }
    }

    @Test("A shape must have the declared or the abstract type")
    func declared() throws {
        let model = try EntityDataModel(schemas: [])
        let json = Array(#"{"type":"Point","coordinates":[1,2]}"#.utf8)
        #expect(try ODataValue(json: json, type: .primitive(.geometry), model: model).isNull == false)
        #expect(throws: JSONError.self) {
            try ODataValue(json: json, type: .primitive(.geometryPolygon), model: model)
        }
    }

    @Test("Truncated or changed text gives a typed error or a value")
    func damaged() {
        for (_, text, json) in Self.samples {
            for count in 0..<text.utf8.count {
                _ = try? GeoValue(
                    wellKnownText: String(decoding: text.utf8.prefix(count), as: UTF8.self), family: .geometry)
            }
            for index in json.utf8.indices {
                #expect(throws: JSONError.self) { try GeoValue(geoJSON: String(json[..<index]), family: .geometry) }
            }
        }
    }
}
