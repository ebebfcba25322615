import ODataModel

/// A geo literal of a URL: well-known text with its reference system (OData ABNF 4.01, section 7), and the way
/// to and from the GeoJSON text that ``/ODataModel/ODataValue/geo(_:)`` holds.
struct GeoLiteral {
    /// The kinds of shape, by the name that both notations share up to `Collection`.
    enum Kind: String, CaseIterable {
        case point = "Point"
        case lineString = "LineString"
        case polygon = "Polygon"
        case multiPoint = "MultiPoint"
        case multiLineString = "MultiLineString"
        case multiPolygon = "MultiPolygon"
        case collection = "GeometryCollection"

        /// How many levels of lists there are around a position.
        var depth: Int {
            switch self {
            case .point: 0
            case .lineString, .multiPoint: 1
            case .polygon, .multiLineString: 2
            case .multiPolygon: 3
            case .collection: 0
            }
        }
    }

    /// A position, or a list of positions, of lists and so on. Numbers keep the digits they were written with.
    indirect enum Coordinates {
        case position([String])
        case list([Coordinates])
    }

    indirect enum Shape {
        case coordinates(Kind, Coordinates)
        case collection([Shape])

        var kind: Kind {
            switch self {
            case .coordinates(let kind, _): kind
            case .collection: .collection
            }
        }
    }

    var isGeography: Bool
    var srid: Int
    var shape: Shape

    /// The primitive type that the syntax tells.
    var type: PrimitiveType {
        let name = shape.kind == .collection ? "Collection" : shape.kind.rawValue
        return PrimitiveType(rawValue: "Edm.\(isGeography ? "Geography" : "Geometry")\(name)")
            ?? (isGeography ? .geography : .geometry)
    }

    // MARK: Well-known text

    /// Reads `SRID=4326;Point(1 2)`. The grammar wants the reference system and no spaces after commas; many
    /// clients send it otherwise, so that the family's usual system is taken where none is given.
    init?(wellKnownText text: String, isGeography: Bool) {
        var scanner = GeoScanner(text)
        var srid = isGeography ? 4326 : 0
        if scanner.takeWord("SRID=") {
            guard let given = scanner.digits(), scanner.take(";") else { return nil }
            srid = given
        }
        guard let shape = scanner.shape(depth: 0), scanner.isAtEnd else { return nil }
        self.isGeography = isGeography
        self.srid = srid
        self.shape = shape
    }

    /// `SRID=4326;Point(1 2)`.
    var wellKnownText: String { "SRID=\(srid);\(Self.wellKnown(shape))" }

    private static func wellKnown(_ shape: Shape) -> String {
        switch shape {
        case .collection(let shapes): "GeometryCollection(\(shapes.map(wellKnown).joined(separator: ",")))"
        case .coordinates(.point, let position): "Point(\(wellKnown(position)))"
        case .coordinates(.multiPoint, .list(let positions)):
            "MultiPoint(\(positions.map { "(\(wellKnown($0)))" }.joined(separator: ",")))"
        case .coordinates(let kind, let coordinates): kind.rawValue + wellKnown(coordinates)
        }
    }

    private static func wellKnown(_ coordinates: Coordinates) -> String {
        switch coordinates {
        case .position(let numbers): numbers.joined(separator: " ")
        case .list(let members): "(\(members.map(wellKnown).joined(separator: ",")))"
        }
    }

    // MARK: GeoJSON

    /// The GeoJSON object, with the `crs` member that OData adds where the reference system is not the default
    /// of the family (OData JSON 4.01, 7.1).
    var geoJSON: String {
        let standard = isGeography ? 4326 : 0
        let crs =
            srid == standard ? "" : ",\"crs\":{\"type\":\"name\",\"properties\":{\"name\":\"EPSG:\(srid)\"}}"
        return String(Self.json(shape).dropLast()) + crs + "}"
    }

    private static func json(_ shape: Shape) -> String {
        switch shape {
        case .collection(let shapes):
            "{\"type\":\"GeometryCollection\",\"geometries\":[\(shapes.map(json).joined(separator: ","))]}"
        case .coordinates(let kind, let coordinates):
            "{\"type\":\"\(kind.rawValue)\",\"coordinates\":\(json(coordinates))}"
        }
    }

    private static func json(_ coordinates: Coordinates) -> String {
        switch coordinates {
        case .position(let numbers): "[\(numbers.joined(separator: ","))]"
        case .list(let members): "[\(members.map(json).joined(separator: ","))]"
        }
    }

    /// Reads a GeoJSON object.
    init?(geoJSON text: String, isGeography: Bool) {
        var scanner = GeoScanner(text)
        guard let object = scanner.object(depth: 0), scanner.isAtEnd, let shape = object.shape else { return nil }
        self.isGeography = isGeography
        self.shape = shape
        srid = object.srid ?? (isGeography ? 4326 : 0)
    }
}

/// Walks over well-known text and GeoJSON.
struct GeoScanner {
    private let bytes: [UInt8]
    private var position = 0
    private static let maxDepth = 16

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { position == bytes.count }

    private var current: UInt8 { position < bytes.count ? bytes[position] : 0 }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Steps over letters in any case.
    mutating func takeWord(_ word: String) -> Bool {
        let letters = Array(word.lowercased().utf8)
        guard position + letters.count <= bytes.count else { return false }
        for (index, letter) in letters.enumerated() {
            let byte = bytes[position + index]
            guard byte == letter || (byte.isLetter && byte | 0x20 == letter) else { return false }
        }
        position += letters.count
        return true
    }

    /// Up to five digits.
    mutating func digits() -> Int? {
        let start = position
        while current.isDigit { position += 1 }
        guard position > start, position - start <= 5 else { return nil }
        return Int(String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func number() -> String? {
        let start = position
        if current == UInt8(ascii: "-") || current == UInt8(ascii: "+") { position += 1 }
        let first = position
        while current.isDigit { position += 1 }
        guard position > first else { return nil }
        if current == UInt8(ascii: ".") {
            position += 1
            let from = position
            while current.isDigit { position += 1 }
            guard position > from else { return nil }
        }
        if current | 0x20 == UInt8(ascii: "e") {
            position += 1
            if current == UInt8(ascii: "-") || current == UInt8(ascii: "+") { position += 1 }
            let from = position
            while current.isDigit { position += 1 }
            guard position > from else { return nil }
        }
        // JSON knows no plus sign before a number.
        let from = bytes[start] == UInt8(ascii: "+") ? start + 1 : start
        return String(decoding: bytes[from..<position], as: UTF8.self)
    }

    // MARK: Well-known text

    mutating func shape(depth: Int) -> GeoLiteral.Shape? {
        guard depth < Self.maxDepth else { return nil }
        // Longer names first: Point is the end of none but MultiPoint must not be read as Point.
        for kind in GeoLiteral.Kind.allCases where takeWord(kind.rawValue) {
            if kind == .collection {
                guard take("(") else { return nil }
                var shapes: [GeoLiteral.Shape] = []
                repeat {
                    guard let next = shape(depth: depth + 1) else { return nil }
                    shapes.append(next)
                } while takeComma()
                return take(")") ? .collection(shapes) : nil
            }
            return data(of: kind).map { .coordinates(kind, $0) }
        }
        return nil
    }

    private mutating func data(of kind: GeoLiteral.Kind) -> GeoLiteral.Coordinates? {
        switch kind {
        case .point:
            guard take("("), let position = numbers(), take(")") else { return nil }
            return position
        case .multiPoint:
            return list(minimum: 0) { scanner in
                guard scanner.take("("), let position = scanner.numbers(), scanner.take(")") else { return nil }
                return position
            }
        case .lineString: return line(minimum: 2)
        case .polygon: return list(minimum: 1) { $0.line(minimum: 2) }
        case .multiLineString: return list(minimum: 0) { $0.line(minimum: 2) }
        case .multiPolygon: return list(minimum: 0) { $0.list(minimum: 1) { $0.line(minimum: 2) } }
        case .collection: return nil
        }
    }

    private mutating func takeComma() -> Bool {
        guard take(",") else { return false }
        while take(" ") {}
        return true
    }

    private mutating func line(minimum: Int) -> GeoLiteral.Coordinates? { list(minimum: minimum) { $0.numbers() } }

    private mutating func list(
        minimum: Int, of member: (inout GeoScanner) -> GeoLiteral.Coordinates?
    ) -> GeoLiteral.Coordinates? {
        guard take("(") else { return nil }
        var members: [GeoLiteral.Coordinates] = []
        if minimum == 0, take(")") { return .list([]) }
        repeat {
            guard let next = member(&self) else { return nil }
            members.append(next)
        } while takeComma()
        return take(")") && members.count >= minimum ? .list(members) : nil
    }

    private mutating func numbers() -> GeoLiteral.Coordinates? {
        var numbers: [String] = []
        repeat {
            guard let next = number() else { return nil }
            numbers.append(next)
        } while take(" ")
        return (2...4).contains(numbers.count) ? .position(numbers) : nil
    }

    // MARK: GeoJSON

    struct Object {
        var kind: GeoLiteral.Kind?
        var coordinates: GeoLiteral.Coordinates?
        var geometries: [GeoLiteral.Shape]?
        var srid: Int?

        var shape: GeoLiteral.Shape? {
            guard let kind else { return nil }
            if kind == .collection { return geometries.map { .collection($0) } }
            guard let coordinates, Self.depth(of: coordinates, is: kind.depth) else { return nil }
            return .coordinates(kind, coordinates)
        }

        private static func depth(of coordinates: GeoLiteral.Coordinates, is depth: Int) -> Bool {
            switch coordinates {
            case .position: depth == 0
            case .list(let members): depth > 0 && members.allSatisfy { Self.depth(of: $0, is: depth - 1) }
            }
        }
    }

    private mutating func skipSpace() { while [9, 10, 13, 32].contains(current) { position += 1 } }

    private mutating func takeToken(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard take(character) else { return false }
        skipSpace()
        return true
    }

    private mutating func plainString() -> String? {
        guard take("\"") else { return nil }
        let start = position
        while position < bytes.count, current != UInt8(ascii: "\"") {
            guard current != UInt8(ascii: "\\") else { return nil }
            position += 1
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        return takeToken("\"") ? text : nil
    }

    /// A GeoJSON object with the members that OData uses.
    mutating func object(depth: Int) -> Object? {
        guard depth < Self.maxDepth, takeToken("{") else { return nil }
        var object = Object()
        repeat {
            guard let name = plainString(), takeToken(":") else { return nil }
            switch name {
            case "type":
                guard let text = plainString(), let kind = GeoLiteral.Kind(rawValue: text) else { return nil }
                object.kind = kind
            case "coordinates":
                guard let coordinates = coordinates(depth: 0) else { return nil }
                object.coordinates = coordinates
            case "geometries":
                guard takeToken("[") else { return nil }
                var shapes: [GeoLiteral.Shape] = []
                if !takeToken("]") {
                    repeat {
                        guard let shape = self.object(depth: depth + 1)?.shape else { return nil }
                        shapes.append(shape)
                    } while takeToken(",")
                    guard takeToken("]") else { return nil }
                }
                object.geometries = shapes
            case "crs":
                guard let srid = referenceSystem() else { return nil }
                object.srid = srid
            default: return nil
            }
        } while takeToken(",")
        return takeToken("}") ? object : nil
    }

    private mutating func referenceSystem() -> Int? {
        var srid: Int?
        guard takeToken("{") else { return nil }
        repeat {
            guard let name = plainString(), takeToken(":") else { return nil }
            if name == "properties" {
                guard takeToken("{"), plainString() == "name", takeToken(":"), let text = plainString(),
                    text.hasPrefix("EPSG:"), let code = Int(text.dropFirst(5)), takeToken("}")
                else { return nil }
                srid = code
            } else {
                guard plainString() != nil else { return nil }
            }
        } while takeToken(",")
        return takeToken("}") ? srid : nil
    }

    private mutating func coordinates(depth: Int) -> GeoLiteral.Coordinates? {
        guard depth < 5, takeToken("[") else { return nil }
        if takeToken("]") { return .list([]) }
        if current == UInt8(ascii: "[") {
            var members: [GeoLiteral.Coordinates] = []
            repeat {
                guard let next = coordinates(depth: depth + 1) else { return nil }
                members.append(next)
            } while takeToken(",")
            return takeToken("]") ? .list(members) : nil
        }
        var numbers: [String] = []
        repeat {
            guard let next = number() else { return nil }
            numbers.append(next)
        } while takeToken(",")
        return takeToken("]") && (2...4).contains(numbers.count) ? .position(numbers) : nil
    }
}
