import ODataModel

/// Geographic and geometric values in GML, as used in Atom payloads (OData Atom Format 4.0, 7.1; OGC 06-103r4, GML
/// simple features).
enum GeographyMarkup {
    // MARK: Reading

    /// Reads the geometry in an element.
    static func read(_ element: XMLFragment, _ type: PrimitiveType) throws(XMLPayloadError) -> ODataValue {
        guard let markup = element.elements.first(where: { $0.namespace == AtomNames.gml }) else {
            // Some services write the text form in Atom payloads.
            if let value = try? ODataValue(lexical: element.trimmedText, type: type) { return value }
            throw element.error(.unexpected("no geometry"), expected: "an element of GML")
        }
        let family = type.geoFamily ?? .geography
        let value = GeoValue(family, try shape(markup, family, depth: 0), srid: try srid(markup))
        guard value.isOf(type) else { throw markup.error(.invalidValue(markup.name), expected: type.rawValue) }
        return .geo(value)
    }

    /// Returns the reference system; `nil` if none is stated.
    private static func srid(_ markup: XMLFragment) throws(XMLPayloadError) -> Int? {
        let name = markup.attribute("srsName", AtomNames.gml) ?? markup.attribute("srsName") ?? ""
        guard let number = name.split(whereSeparator: { $0 == "/" || $0 == ":" }).last.flatMap({ Int($0) }) else {
            return nil
        }
        guard (0...GeoValue.maxSRID).contains(number) else {
            throw markup.error(.invalidValue(String(name.prefix(80))), expected: "an EPSG code")
        }
        return number
    }

    private static func shape(
        _ markup: XMLFragment, _ family: GeoValue.Family, depth: Int
    ) throws(XMLPayloadError) -> GeoValue.Shape {
        guard depth < GeoValue.maxDepth else {
            throw markup.error(
                .unexpected(markup.name), expected: "at most \(GeoValue.maxDepth) nested collections")
        }
        switch markup.name {
        case "Point": return .point(try point(markup, family))
        case "LineString":
            let line = try positions(markup, family)
            guard line.count != 1 else {
                throw markup.error(.unexpected("one position"), expected: "two positions or more")
            }
            return .lineString(line)
        case "Polygon": return .polygon(try rings(markup, family))
        case "MultiPoint":
            var points: [GeoValue.Position] = []
            for member in try members(markup, "pointMember", kind: "Point") {
                guard let point = try point(member, family) else {
                    throw member.error(.unexpected("no position"), expected: "a position")
                }
                points.append(point)
            }
            return .multiPoint(points)
        case "MultiCurve":
            var lines: [[GeoValue.Position]] = []
            for member in try members(markup, "curveMember", kind: "LineString") {
                lines.append(try positions(member, family))
            }
            return .multiLineString(lines)
        case "MultiSurface":
            var surfaces: [[[GeoValue.Position]]] = []
            for member in try members(markup, "surfaceMember", kind: "Polygon") {
                surfaces.append(try rings(member, family))
            }
            return .multiPolygon(surfaces)
        case "MultiGeometry":
            var shapes: [GeoValue.Shape] = []
            for member in try members(markup, "geometryMember", kind: nil) {
                shapes.append(try shape(member, family, depth: depth + 1))
            }
            return .collection(shapes)
        default: throw markup.error(.unexpected(markup.name), expected: "a geometry of GML simple features")
        }
    }

    /// Returns the members in elements that contain one member each, or all members.
    private static func members(
        _ markup: XMLFragment, _ name: String, kind: String?
    ) throws(XMLPayloadError) -> [XMLFragment] {
        var result: [XMLFragment] = []
        for holder in markup.elements where holder.name == name || holder.name == name + "s" {
            for member in holder.elements {
                if let kind, member.name != kind { throw member.error(.unexpected(member.name), expected: kind) }
                result.append(member)
            }
        }
        return result
    }

    private static func point(
        _ markup: XMLFragment, _ family: GeoValue.Family
    ) throws(XMLPayloadError) -> GeoValue.Position? {
        let positions = try positions(markup, family)
        guard positions.count <= 1 else {
            throw markup.error(.unexpected("\(positions.count) positions"), expected: "one position")
        }
        return positions.first
    }

    private static func rings(
        _ markup: XMLFragment, _ family: GeoValue.Family
    ) throws(XMLPayloadError) -> [[GeoValue.Position]] {
        var rings: [[GeoValue.Position]] = []
        for boundary in markup.elements where boundary.name == "exterior" || boundary.name == "interior" {
            for ring in boundary.elements where ring.name == "LinearRing" {
                rings.append(try positions(ring, family))
            }
        }
        return rings
    }

    /// Reads the positions in `pos` and `posList` elements.
    ///
    /// A `pos` element contains one position of two to four numbers. In a `posList` element, the attribute
    /// `srsDimension` states how many numbers make a position, by default two.
    private static func positions(
        _ markup: XMLFragment, _ family: GeoValue.Family
    ) throws(XMLPayloadError) -> [GeoValue.Position] {
        var result: [GeoValue.Position] = []
        for element in markup.elements where element.name == "pos" || element.name == "posList" {
            var numbers: [Double] = []
            for word in element.text.split(whereSeparator: { $0.isWhitespace }) {
                guard let value = Double(word), value.isFinite else {
                    throw element.error(.invalidValue(String(word.prefix(40))), expected: "a number")
                }
                numbers.append(value)
            }
            if numbers.isEmpty { continue }
            let dimension =
                element.name == "pos" ? numbers.count : element.attribute("srsDimension").flatMap { Int($0) } ?? 2
            guard (2...4).contains(dimension), numbers.count % dimension == 0 else {
                throw element.error(
                    .unexpected("\(numbers.count) numbers"), expected: "two to four numbers for each position")
            }
            for start in stride(from: 0, to: numbers.count, by: dimension) {
                result.append(position(numbers[start..<(start + dimension)], family))
            }
        }
        return result
    }

    /// Creates a position; geographic values in GML have the latitude before the longitude.
    private static func position(_ numbers: ArraySlice<Double>, _ family: GeoValue.Family) -> GeoValue.Position {
        let start = numbers.startIndex
        let (first, second) = (numbers[start], numbers[start + 1])
        return GeoValue.Position(
            x: family == .geography ? second : first, y: family == .geography ? first : second,
            z: numbers.count > 2 ? numbers[start + 2] : nil, m: numbers.count > 3 ? numbers[start + 3] : nil)
    }

    // MARK: Writing

    /// Returns the GML element of a value.
    static func markup(_ value: GeoValue) -> String {
        markup(
            value.shape, value.family, reference: " gml:srsName=\"http://www.opengis.net/def/crs/EPSG/0/\(value.srid)\""
        )
    }

    private static func markup(_ shape: GeoValue.Shape, _ family: GeoValue.Family, reference: String) -> String {
        switch shape {
        case .point(let position): point(position, family, reference: reference)
        case .lineString(let line): self.line("LineString", line, family: family, reference: reference)
        case .polygon(let rings): polygon(rings, family, reference: reference)
        case .multiPoint(let points):
            collection(
                "MultiPoint", "pointMembers", reference: reference,
                members: points.map { point($0, family, reference: "") })
        case .multiLineString(let lines):
            collection(
                "MultiCurve", "curveMembers", reference: reference,
                members: lines.map { line("LineString", $0, family: family, reference: "") })
        case .multiPolygon(let surfaces):
            collection(
                "MultiSurface", "surfaceMembers", reference: reference,
                members: surfaces.map { polygon($0, family, reference: "") })
        case .collection(let shapes):
            collection(
                "MultiGeometry", "geometryMembers", reference: reference,
                members: shapes.map { markup($0, family, reference: "") })
        }
    }

    private static func collection(
        _ name: String, _ holder: String, reference: String, members: [String]
    ) -> String {
        element(name, reference, content: element(holder, "", content: members.joined()))
    }

    private static func point(
        _ position: GeoValue.Position?, _ family: GeoValue.Family, reference: String
    ) -> String {
        element("Point", reference, content: element("pos", "", content: position.map { text($0, family) } ?? ""))
    }

    private static func line(
        _ name: String, _ line: [GeoValue.Position], family: GeoValue.Family, reference: String
    ) -> String {
        element(name, reference, content: line.map { element("pos", "", content: text($0, family)) }.joined())
    }

    private static func polygon(
        _ rings: [[GeoValue.Position]], _ family: GeoValue.Family, reference: String
    ) -> String {
        let boundaries = rings.enumerated().map { index, ring in
            element(
                index == 0 ? "exterior" : "interior", "",
                content: line("LinearRing", ring, family: family, reference: ""))
        }
        return element("Polygon", reference, content: boundaries.joined())
    }

    private static func text(_ position: GeoValue.Position, _ family: GeoValue.Family) -> String {
        let plane = family == .geography ? [position.y, position.x] : [position.x, position.y]
        let numbers = plane + [position.z, position.m].compactMap { $0 }
        return numbers.map { ODataValue.double($0).lexicalText ?? "" }.joined(separator: " ")
    }

    private static func element(_ name: String, _ attributes: String, content: String) -> String {
        "<gml:\(name)\(attributes)>\(content)</gml:\(name)>"
    }
}
