extension GeoValue {
    /// Parses well-known text with its reference system, such as `SRID=4326;Point(13.4 52.5)` (OData ABNF, section
    /// 7, `fullPointLiteral` and related rules; OGC 06-103r4, 7).
    ///
    /// The grammar requires the reference system and allows spaces only between coordinates. Because other writers
    /// deviate, the reference system may be absent, spaces may occur anywhere, and case is ignored. Empty shapes
    /// are `EMPTY` or have empty parentheses.
    /// - Throws: ``GeoError`` with the byte offset and the expected content.
    public init(wellKnownText text: String, family: Family) throws(GeoError) {
        var parser = WellKnownTextParser(text)
        var srid: Int?
        parser.skipSpaces()
        if parser.takeWord("SRID") {
            srid = try parser.srid()
            parser.skipSpaces()
        }
        let shape = try parser.shape(depth: 0)
        parser.skipSpaces()
        guard parser.isAtEnd else { throw parser.error("the end of the text") }
        self.init(family, shape, srid: srid)
    }

    /// The well-known text with its reference system, as used in URLs.
    public var wellKnownText: String { "SRID=\(srid);\(shape.wellKnownText)" }
}

extension GeoValue.Shape {
    /// The well-known text without a reference system.
    public var wellKnownText: String {
        switch self {
        case .point(nil), .lineString([]), .polygon([]), .multiPoint([]), .multiLineString([]), .multiPolygon([]),
            .collection([]):
            "\(name) EMPTY"
        case .point(let position?): "Point(\(Self.text(position)))"
        case .lineString(let line): "LineString\(Self.text(line))"
        case .polygon(let rings): "Polygon\(Self.text(rings))"
        case .multiPoint(let points): "MultiPoint(\(points.map { "(\(Self.text($0)))" }.joined(separator: ",")))"
        case .multiLineString(let lines): "MultiLineString\(Self.text(lines))"
        case .multiPolygon(let polygons): "MultiPolygon(\(polygons.map(Self.text).joined(separator: ",")))"
        case .collection(let shapes):
            "GeometryCollection(\(shapes.map(\.wellKnownText).joined(separator: ",")))"
        }
    }

    private static func text(_ position: GeoValue.Position) -> String {
        position.numbers.map(geoText).joined(separator: " ")
    }

    private static func text(_ line: [GeoValue.Position]) -> String { "(\(line.map(text).joined(separator: ",")))" }

    private static func text(_ lines: [[GeoValue.Position]]) -> String { "(\(lines.map(text).joined(separator: ",")))" }
}

/// A parser of well-known text.
private struct WellKnownTextParser {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { position == bytes.count }

    func error(_ expected: String) -> GeoError { GeoError(offset: position, expected: expected) }

    mutating func skipSpaces() { while position < bytes.count, bytes[position] == 0x20 { position += 1 } }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpaces()
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(GeoError) {
        guard take(character) else { throw error("'\(character)'") }
    }

    /// Consumes a word in any case, unless another letter follows.
    mutating func takeWord(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard position + count <= bytes.count else { return false }
        for index in 0..<count where bytes[position + index] | 0x20 != word.utf8Start[index] | 0x20 { return false }
        if position + count < bytes.count, (97...122).contains(bytes[position + count] | 0x20) { return false }
        position += count
        return true
    }

    /// Parses `=4326;`.
    mutating func srid() throws(GeoError) -> Int {
        try expect("=")
        let start = position
        var number = 0
        while position < bytes.count, (48...57).contains(bytes[position]), position - start < 5 {
            number = number * 10 + Int(bytes[position] - 48)
            position += 1
        }
        guard position > start else { throw error("the number of a reference system") }
        try expect(";")
        return number
    }

    mutating func shape(depth: Int) throws(GeoError) -> GeoValue.Shape {
        guard depth < GeoValue.maxDepth else { throw error("at most \(GeoValue.maxDepth) nested collections") }
        skipSpaces()
        if takeWord("Point") {
            if try isEmpty() { return .point(nil) }
            return .point(try point())
        }
        if takeWord("LineString") { return .lineString(try isEmpty() ? [] : try line()) }
        if takeWord("Polygon") { return .polygon(try isEmpty() ? [] : try lines()) }
        if takeWord("MultiPoint") { return .multiPoint(try isEmpty() ? [] : try points()) }
        if takeWord("MultiLineString") { return .multiLineString(try isEmpty() ? [] : try lines()) }
        if takeWord("MultiPolygon") {
            if try isEmpty() { return .multiPolygon([]) }
            return .multiPolygon(try list { (parser) throws(GeoError) in try parser.lines() })
        }
        if takeWord("GeometryCollection") || takeWord("Collection") {
            if try isEmpty() { return .collection([]) }
            return .collection(try list { (parser) throws(GeoError) in try parser.shape(depth: depth + 1) })
        }
        throw error("Point, LineString, Polygon, MultiPoint, MultiLineString, MultiPolygon or GeometryCollection")
    }

    /// Consumes the mark of dimensions, which some writers append to the name, and returns whether `EMPTY` or `()`
    /// follows.
    private mutating func isEmpty() throws(GeoError) -> Bool {
        skipSpaces()
        // A list of coordinates has no position for a measure without a height.
        if takeWord("M") { throw error("'Z' or 'ZM'") }
        if takeWord("ZM") || takeWord("Z") { skipSpaces() }
        if takeWord("EMPTY") { return true }
        let start = position
        if take("("), take(")") { return true }
        position = start
        return false
    }

    private mutating func list<Member>(
        _ member: (inout WellKnownTextParser) throws(GeoError) -> Member
    ) throws(GeoError) -> [Member] {
        try expect("(")
        var members: [Member] = []
        repeat { members.append(try member(&self)) } while take(",")
        try expect(")")
        return members
    }

    private mutating func point() throws(GeoError) -> GeoValue.Position {
        try expect("(")
        let position = try coordinates()
        try expect(")")
        return position
    }

    /// Parses points, each in its own parentheses, or without parentheses as in older writers.
    private mutating func points() throws(GeoError) -> [GeoValue.Position] {
        try list { (parser) throws(GeoError) in
            parser.skipSpaces()
            let isBare = parser.position < parser.bytes.count && parser.bytes[parser.position] != UInt8(ascii: "(")
            return isBare ? try parser.coordinates() : try parser.point()
        }
    }

    private mutating func line() throws(GeoError) -> [GeoValue.Position] {
        let start = position
        let line = try list { (parser) throws(GeoError) in try parser.coordinates() }
        guard line.count >= 2 else { throw GeoError(offset: start, expected: "two or more positions") }
        return line
    }

    private mutating func lines() throws(GeoError) -> [[GeoValue.Position]] {
        try list { (parser) throws(GeoError) in try parser.line() }
    }

    private mutating func coordinates() throws(GeoError) -> GeoValue.Position {
        skipSpaces()
        let start = position
        var numbers: [Double] = []
        repeat {
            numbers.append(try number())
            skipSpaces()
        } while position < bytes.count && bytes[position] != UInt8(ascii: ",") && bytes[position] != UInt8(ascii: ")")
            && numbers.count < 5
        guard let result = GeoValue.Position(numbers) else {
            throw GeoError(offset: start, expected: "two to four numbers in the range of binary64")
        }
        return result
    }

    private mutating func number() throws(GeoError) -> Double {
        var index = position
        // A leading plus is allowed here (OData ABNF, `doubleValue`), although not in JSON.
        if index < bytes.count, bytes[index] == UInt8(ascii: "+") { index += 1 }
        let number = bytes.withUnsafeBufferPointer { JSONScanner.number(in: $0, at: &index)?.double }
        guard let number else { throw error("a number in the range of binary64") }
        position = index
        return number
    }
}
