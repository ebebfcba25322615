import ODataModel

/// Geographic and geometric values in GML, as Atom payloads have them (OData Atom Format 4.0, 7.1; OGC 06-103r4,
/// GML simple features).
enum GeographyMarkup {
    /// The kinds of value with the elements that hold their parts.
    private static let containers: [(gml: String, json: String, list: String, member: String)] = [
        ("MultiPoint", "MultiPoint", "pointMembers", "pointMember"),
        ("MultiCurve", "MultiLineString", "curveMembers", "curveMember"),
        ("MultiSurface", "MultiPolygon", "surfaceMembers", "surfaceMember"),
        ("MultiGeometry", "GeometryCollection", "geometryMembers", "geometryMember"),
    ]

    // MARK: Reading

    /// Reads the geometry in an element.
    static func read(_ element: XMLFragment, _ type: PrimitiveType) throws(XMLPayloadError) -> ODataValue {
        guard let shape = element.elements.first(where: { $0.namespace == AtomNames.gml }) else {
            // Some services write the text form here too.
            if let value = try? ODataValue(lexical: element.trimmedText, type: type) { return value }
            throw element.error(.unexpected("no geometry"), expected: "an element of GML")
        }
        var json = JSONWriter()
        let isGeography = type.rawValue.hasPrefix("Edm.Geography")
        try write(shape, isGeography, srid(shape, isGeography), to: &json)
        let value = try? JSONScanner.scan(json.bytes) { (scanner) throws(JSONError) in
            try scanner.readPrimitive(type)
        }
        guard let value else { throw shape.error(.invalidValue(shape.name), expected: type.rawValue) }
        return value
    }

    /// The reference system, where it is not the usual one.
    private static func srid(_ shape: XMLFragment, _ isGeography: Bool) -> Int? {
        let name = shape.attribute("srsName", AtomNames.gml) ?? shape.attribute("srsName") ?? ""
        guard let srid = name.split(whereSeparator: { $0 == "/" || $0 == ":" }).last.flatMap({ Int($0) }) else {
            return nil
        }
        return srid == (isGeography ? 4326 : 0) ? nil : srid
    }

    private static func write(
        _ shape: XMLFragment, _ isGeography: Bool, _ srid: Int?, to json: inout JSONWriter
    ) throws(XMLPayloadError) {
        json.beginObject()
        json.key("type")
        switch shape.name {
        case "Point", "LineString", "Polygon":
            json.string(shape.name)
            json.key("coordinates")
            try writeCoordinates(shape, isGeography, to: &json)
        default:
            guard let container = containers.first(where: { $0.gml == shape.name }) else {
                throw shape.error(.unexpected(shape.name), expected: "a geometry of GML simple features")
            }
            json.string(container.json)
            json.key(container.json == "GeometryCollection" ? "geometries" : "coordinates")
            json.beginArray()
            for list in shape.elements where list.name == container.list || list.name == container.member {
                for member in list.elements {
                    if container.json == "GeometryCollection" {
                        try write(member, isGeography, nil, to: &json)
                    } else {
                        try writeCoordinates(member, isGeography, to: &json)
                    }
                }
            }
            json.endArray()
        }
        if let srid {
            json.key("crs")
            json.raw(#"{"type":"name","properties":{"name":"EPSG:\#(srid)"}}"#.utf8)
        }
        json.endObject()
    }

    private static func writeCoordinates(
        _ shape: XMLFragment, _ isGeography: Bool, to json: inout JSONWriter
    ) throws(XMLPayloadError) {
        switch shape.name {
        case "Point":
            let positions = try positions(shape)
            guard positions.count <= 1 else {
                throw shape.error(.unexpected("\(positions.count) positions"), expected: "one position")
            }
            guard let position = positions.first else {
                json.raw("[]".utf8)
                return
            }
            write(position, isGeography, to: &json)
        case "LineString", "LinearRing":
            json.beginArray()
            for position in try positions(shape) { write(position, isGeography, to: &json) }
            json.endArray()
        case "Polygon":
            json.beginArray()
            for boundary in shape.elements where boundary.name == "exterior" || boundary.name == "interior" {
                for ring in boundary.elements where ring.name == "LinearRing" {
                    try writeCoordinates(ring, isGeography, to: &json)
                }
            }
            json.endArray()
        default: throw shape.error(.unexpected(shape.name), expected: "a point, line or polygon")
        }
    }

    /// The positions in `pos` and `posList` elements, each of two to four numbers.
    private static func positions(_ shape: XMLFragment) throws(XMLPayloadError) -> [[Double]] {
        var result: [[Double]] = []
        for element in shape.elements where element.name == "pos" || element.name == "posList" {
            var numbers: [Double] = []
            for word in element.text.split(whereSeparator: { $0.isWhitespace }) {
                guard let value = Double(word), value.isFinite else {
                    throw element.error(.invalidValue(String(word.prefix(40))), expected: "a number")
                }
                numbers.append(value)
            }
            if element.name == "pos" {
                if numbers.isEmpty { continue }
                guard (2...4).contains(numbers.count) else {
                    throw element.error(.unexpected("\(numbers.count) numbers"), expected: "two to four numbers")
                }
                result.append(numbers)
            } else {
                guard numbers.count % 2 == 0 else {
                    throw element.error(.unexpected("\(numbers.count) numbers"), expected: "pairs of numbers")
                }
                for index in stride(from: 0, to: numbers.count, by: 2) {
                    result.append(Array(numbers[index..<(index + 2)]))
                }
            }
        }
        return result
    }

    /// GML has latitude before longitude on the earth, GeoJSON after it.
    private static func write(_ position: [Double], _ isGeography: Bool, to json: inout JSONWriter) {
        var numbers = position
        if isGeography { numbers.swapAt(0, 1) }
        json.beginArray()
        for number in numbers { json.double(number) }
        json.endArray()
    }

    // MARK: Writing

    /// Writes a value as an element of GML; `nil` when it is no geometry.
    static func markup(_ value: ODataValue, _ type: TypeReference?, model: EntityDataModel) -> String? {
        var json = JSONWriter()
        json.value(value, type: type, model: model)
        guard
            let tree = try? JSONScanner.scan(
                json.bytes,
                { (scanner) throws(JSONError) in
                    try ODataValue(json: &scanner, type: .untyped("Edm.Untyped"), model: model)
                }), case .complex(let geometry) = tree
        else { return nil }
        let isGeography = !(type?.primitive?.rawValue.hasPrefix("Edm.Geometry") ?? false)
        var srid = isGeography ? 4326 : 0
        if case .complex(let crs)? = geometry["crs"], case .complex(let properties)? = crs["properties"],
            case .string(let name)? = properties["name"],
            let number = name.split(separator: ":").last.flatMap({ Int($0) })
        {
            srid = number
        }
        let reference = " gml:srsName=\"http://www.opengis.net/def/crs/EPSG/0/\(srid)\""
        return markup(geometry, isGeography, reference)
    }

    private static func markup(_ geometry: Entity, _ isGeography: Bool, _ reference: String) -> String? {
        guard case .string(let kind)? = geometry["type"] else { return nil }
        if kind == "GeometryCollection" {
            guard case .collection(let members)? = geometry["geometries"] else { return nil }
            let parts = members.compactMap { member -> String? in
                guard case .complex(let part) = member else { return nil }
                return markup(part, isGeography, "")
            }
            guard parts.count == members.count else { return nil }
            return element("MultiGeometry", reference, element("geometryMembers", "", parts.joined()))
        }
        guard let coordinates = geometry["coordinates"] else { return nil }
        if let container = containers.first(where: { $0.json == kind }), case .collection(let members) = coordinates {
            let part = String(kind.dropFirst(5))
            let parts = members.compactMap { markup(part, $0, isGeography, "") }
            guard parts.count == members.count else { return nil }
            return element(container.gml, reference, element(container.list, "", parts.joined()))
        }
        return markup(kind, coordinates, isGeography, reference)
    }

    private static func markup(
        _ kind: String, _ coordinates: ODataValue, _ isGeography: Bool, _ reference: String
    ) -> String? {
        guard case .collection(let members) = coordinates else { return nil }
        switch kind {
        case "Point":
            if members.isEmpty { return element("Point", reference, element("pos", "", "")) }
            return position(coordinates, isGeography).map { element("Point", reference, element("pos", "", $0)) }
        case "LineString", "LinearRing":
            let positions = members.compactMap { position($0, isGeography) }
            guard positions.count == members.count else { return nil }
            return element(kind, reference, positions.map { element("pos", "", $0) }.joined())
        case "Polygon":
            let rings = members.compactMap { markup("LinearRing", $0, isGeography, "") }
            guard rings.count == members.count else { return nil }
            let boundaries = rings.enumerated().map {
                element($0.offset == 0 ? "exterior" : "interior", "", $0.element)
            }
            return element("Polygon", reference, boundaries.joined())
        default: return nil
        }
    }

    private static func position(_ value: ODataValue, _ isGeography: Bool) -> String? {
        guard case .collection(let members) = value, members.count >= 2 else { return nil }
        var numbers = members.compactMap(\.lexicalText)
        guard numbers.count == members.count else { return nil }
        if isGeography { numbers.swapAt(0, 1) }
        return numbers.joined(separator: " ")
    }

    private static func element(_ name: String, _ attributes: String, _ content: String) -> String {
        "<gml:\(name)\(attributes)>\(content)</gml:\(name)>"
    }
}
