extension GeoValue {
    /// Reads a GeoJSON object (OData JSON Format 4.01, 7.1; RFC 7946).
    ///
    /// Members may be in any order. `crs` contains an EPSG code by name or as a URN, as in OData; without `crs`,
    /// the family's default reference system applies. Other members, such as `bbox`, are ignored.
    /// - Throws: ``JSONError`` with the position and the expected content.
    public init(geoJSON text: String, family: Family) throws(JSONError) {
        self = try JSONScanner.scan(Array(text.utf8)) { (scanner) throws(JSONError) -> GeoValue in
            let value = try GeoValue(geoJSON: &scanner, family: family)
            try scanner.expectEnd()
            return value
        }
    }

    /// Reads the next value as a GeoJSON object.
    public init(geoJSON scanner: inout JSONScanner, family: Family) throws(JSONError) {
        var srid: Int?
        let shape = try GeoValue.Shape(geoJSON: &scanner, srid: &srid, depth: 0)
        self.init(family, shape, srid: srid)
    }

    /// The GeoJSON object, with `crs` if the reference system differs from the family's default.
    public var geoJSON: String {
        var writer = JSONWriter()
        writer.geo(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension JSONWriter {
    /// Writes a geo value as a GeoJSON object.
    public mutating func geo(_ value: GeoValue) {
        write(value.shape, srid: value.srid == value.family.defaultSRID ? nil : value.srid)
    }

    private mutating func write(_ shape: GeoValue.Shape, srid: Int?) {
        beginObject()
        key("type")
        string(shape.name)
        if case .collection(let shapes) = shape {
            key("geometries")
            array(shapes) { $0.write($1, srid: nil) }
        } else {
            key("coordinates")
            switch shape {
            case .point(let position): if let position { write(position) } else { array([]) { $0.double($1) } }
            case .lineString(let line), .multiPoint(let line): write(line)
            case .polygon(let lines), .multiLineString(let lines): array(lines) { $0.write($1) }
            case .multiPolygon(let polygons): array(polygons) { $0.array($1) { $0.write($1) } }
            case .collection: break
            }
        }
        if let srid {
            key("crs")
            beginObject()
            key("type")
            string("name")
            key("properties")
            beginObject()
            key("name")
            string("EPSG:\(srid)")
            endObject()
            endObject()
        }
        endObject()
    }

    private mutating func write(_ line: [GeoValue.Position]) { array(line) { $0.write($1) } }

    private mutating func write(_ position: GeoValue.Position) { array(position.numbers) { $0.double($1) } }

    private mutating func array<Member>(_ members: [Member], _ write: (inout JSONWriter, Member) -> Void) {
        beginArray()
        for member in members { write(&self, member) }
        endArray()
    }
}

extension GeoValue.Shape {
    fileprivate init(geoJSON scanner: inout JSONScanner, srid: inout Int?, depth: Int) throws(JSONError) {
        guard depth < GeoValue.maxDepth else {
            throw scanner.error(.tooDeep, expected: "at most \(GeoValue.maxDepth) nested collections")
        }
        let start = scanner.offset
        var name: String?
        var coordinates: Coordinates?
        var shapes: [GeoValue.Shape]?
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            if key == "type" {
                name = try scanner.readString()
            } else if key == "coordinates" {
                coordinates = try Coordinates(&scanner, depth: 0)
            } else if key == "geometries" {
                var members: [GeoValue.Shape] = []
                var ignored: Int?
                try scanner.beginArray()
                while try scanner.nextElement() {
                    members.append(try GeoValue.Shape(geoJSON: &scanner, srid: &ignored, depth: depth + 1))
                }
                shapes = members
            } else if key == "crs", try scanner.peekKind() == .object {
                srid = try Self.srid(&scanner)
            } else {
                try scanner.skipValue()
            }
        }
        guard let shape = Self.shape(name, coordinates, shapes: shapes) else {
            throw scanner.error(
                .invalidValue(name ?? "no type"), at: start,
                expected: "a GeoJSON type with the coordinates or geometries that belong to it")
        }
        self = shape
    }

    private static func shape(_ name: String?, _ coordinates: Coordinates?, shapes: [GeoValue.Shape]?) -> GeoValue
        .Shape?
    {
        if name == "GeometryCollection" { return shapes.map { .collection($0) } }
        guard let coordinates else { return nil }
        switch name {
        case "Point":
            if case .list(let members) = coordinates { return members.isEmpty ? .point(nil) : nil }
            return coordinates.position.map { .point($0) }
        case "LineString": return coordinates.line.flatMap { $0.count == 1 ? nil : .lineString($0) }
        case "Polygon": return coordinates.lines.map { .polygon($0) }
        case "MultiPoint": return coordinates.line.map { .multiPoint($0) }
        case "MultiLineString": return coordinates.lines.map { .multiLineString($0) }
        case "MultiPolygon": return coordinates.list { $0.lines }.map { .multiPolygon($0) }
        default: return nil
        }
    }

    /// Reads the EPSG code from `{"type":"name","properties":{"name":"EPSG:4326"}}`.
    private static func srid(_ scanner: inout JSONScanner) throws(JSONError) -> Int? {
        var srid: Int?
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            guard key == "properties", try scanner.peekKind() == .object else {
                try scanner.skipValue()
                continue
            }
            try scanner.beginObject()
            while let key = try scanner.nextKey() {
                guard key == "name" else {
                    try scanner.skipValue()
                    continue
                }
                let start = scanner.offset
                let name = try scanner.readString()
                guard let code = GeoValue.srid(ofSystem: name) else {
                    throw scanner.error(.invalidValue(String(name.prefix(80))), at: start, expected: "an EPSG code")
                }
                srid = code
            }
        }
        return srid
    }

    /// Numbers, or nested lists of numbers, read before the type of the shape is known.
    private enum Coordinates {
        case numbers([Double])
        case list([Coordinates])

        init(_ scanner: inout JSONScanner, depth: Int) throws(JSONError) {
            guard depth < 5 else { throw scanner.error(.tooDeep, expected: "at most four levels of coordinates") }
            var numbers: [Double] = []
            var members: [Coordinates] = []
            try scanner.beginArray()
            while try scanner.nextElement() {
                if members.isEmpty, try scanner.peekKind() == .number {
                    guard numbers.count < 4 else { throw scanner.unexpected("at most four coordinates") }
                    numbers.append(try scanner.readDouble())
                } else {
                    guard numbers.isEmpty else { throw scanner.unexpected("a number") }
                    members.append(try Coordinates(&scanner, depth: depth + 1))
                }
            }
            self = numbers.isEmpty ? .list(members) : .numbers(numbers)
        }

        var position: GeoValue.Position? {
            if case .numbers(let numbers) = self { GeoValue.Position(numbers) } else { nil }
        }

        var line: [GeoValue.Position]? { list { $0.position } }
        var lines: [[GeoValue.Position]]? { list { $0.line } }

        /// Converts every member of a list; returns `nil` if a conversion fails.
        func list<Member>(_ member: (Coordinates) -> Member?) -> [Member]? {
            guard case .list(let members) = self else { return nil }
            var result: [Member] = []
            for coordinates in members {
                guard let next = member(coordinates) else { return nil }
                result.append(next)
            }
            return result
        }
    }
}

extension GeoValue {
    /// Returns the EPSG code in the name of a reference system: `EPSG:4326`, a URN or URL that ends with the code,
    /// or `CRS84`. `CRS84` is 4326 with the order of coordinates of GeoJSON.
    public static func srid(ofSystem name: String) -> Int? {
        if name.hasSuffix("CRS84") { return 4326 }
        guard name.contains("EPSG") || name.contains("epsg"),
            let digits = name.split(whereSeparator: { $0 == ":" || $0 == "/" || $0 == "#" }).last,
            let code = Int(digits), (0...maxSRID).contains(code)
        else { return nil }
        return code
    }
}
