import ODataModel
import TestModels
import Testing

@testable import ODataFormat

@Suite("A row that cannot be read costs that row (rule 40)")
struct UnreadableRowTests {
    private static let good = #"{"ID":2,"Name":"good"}"#

    /// A sink that records entities.
    private struct Log: CollectionSink {
        var entities: [ODataEntity] = []
        var summary: CollectionSummary?

        mutating func row(_ row: borrowing JSONRow) throws {
            var entity = try row.entity(as: row.shape)
            entity.control.etag = nil
            entities.append(entity)
        }

        mutating func element(_ element: CollectionPayloadReader.Element) throws {
            switch element {
            case .entity(let entity): entities.append(entity)
            case .finished(let found): summary = found
            default: break
            }
        }
    }

    private func read(_ bytes: [UInt8], chunk: Int, _ strictness: Strictness = .forgiving) throws -> Log {
        var log = Log()
        var reader = CollectionPayloadReader(
            model: try SampleService.model(), type: SampleService.order, strictness: strictness)
        for start in stride(from: 0, to: bytes.count, by: chunk) {
            reader.append(bytes[start..<min(start + chunk, bytes.count)])
            try reader.read(into: &log)
        }
        reader.finish()
        try reader.read(into: &log)
        return log
    }

    static let rows = [
        "null", "[]", #"[1,{"ID":3}]"#, "5", #""x""#, "true",
        #"{"ID":1,"Freight":0x10}"#, #"{"ID":1,"Freight":1,}"#, "{'ID':1}", #"{"ID":1,"Q":\#(nested(101))}"#,
        #"{"ID":1 "Freight":2}"#,
    ]

    private static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    @Test("It has no key, and the other rows arrive, in chunks of any size", arguments: rows, [1, 7, 1_000])
    func row(_ row: String, chunk: Int) throws {
        let body = #"{"value":[\#(row),\#(Self.good),\#(row)],"@odata.count":3}"#
        let log = try read(Array(body.utf8), chunk: chunk)
        #expect(log.entities.map { $0["ID"] } == [nil, 2, nil])
        for lost in [log.entities.first, log.entities.last] {
            #expect(lost?.control.unreadable.keys.sorted() == ["ID"])
            #expect(lost?.control.unreadable["ID"]?.text == String(row.prefix(UnreadableValue.maxLength)))
        }
        #expect(log.summary?.count == 3)
        if chunk == 1 { #expect(throws: PayloadError.self) { try read(Array(body.utf8), chunk: 7, .lenient) } }
    }

    static let values = [
        #""a\ud800b""#, #""a\qb""#, #""a\u00zz""#, "\"a\u{1}b\"", "\"line\nbreak\"", "True", "None", "undefined", "+5",
        "05",
        ".5", "nope",
    ]

    @Test("A value that is no valid JSON costs that value, in chunks of any size", arguments: values, [1, 5, 1_000])
    func value(_ value: String, chunk: Int) throws {
        let body = #"{"value":[{"ID":1,"Freight":\#(value),"Tags":["x"]},\#(Self.good)]}"#
        let log = try read(Array(body.utf8), chunk: chunk)
        #expect(log.entities.map { $0["ID"] } == [1, 2])
        #expect(log.entities.first?["Tags"] == .collection(["x"]))
        #expect(log.entities.first?.control.unreadable.keys.sorted() == ["Freight"])
    }

    @Test("A text that is not UTF-8 costs that value", arguments: [[0xFF], [0xE9], [0xC0, 0xAF], [0xED, 0xA0, 0x80]])
    func encoding(_ bytes: [UInt8]) throws {
        let body = Array(#"{"value":[{"ID":1,"Freight":""#.utf8) + bytes + Array("\"},\(Self.good)]}".utf8)
        for chunk in [1, 1_000] {
            let log = try read(body, chunk: chunk)
            #expect(log.entities.map { $0["ID"] } == [1, 2])
            #expect(log.entities.first?.control.unreadable.keys.sorted() == ["Freight"])
        }
    }

    @Test("A member that appears twice costs its value, unless both values are equal")
    func twice() throws {
        func entities(_ row: String) throws -> [ODataEntity] {
            try read(Array(#"{"value":[\#(row),\#(Self.good)]}"#.utf8), chunk: 1_000).entities
        }
        for row in [#"{"ID":1,"Freight":1,"Freight":2}"#, #"{"ID":1,"Freight":1,"Freight":2,"Freight":2}"#] {
            let found = try entities(row)
            #expect(found.map { $0["ID"] } == [1, 2] && found.first?["Freight"] == nil)
            #expect(found.first?.control.unreadable.keys.sorted() == ["Freight"])
        }
        #expect(try entities(#"{"ID":1,"ID":3}"#).map { $0["ID"] } == [nil, 2])
        let equal = try entities(#"{"ID":1,"Freight":1,"Freight":1.0}"#)
        #expect(equal.first?["Freight"] == .decimal(ODataDecimal(1)) && equal.first?.control.unreadable.isEmpty == true)
    }

    @Test("Links and types of another kind are passed over, and the values count")
    func control() throws {
        for member in [#""@odata.type":5"#, #""@odata.editLink":7"#, #""@odata.etag":{}"#, #""@odata.id":[]"#] {
            let log = try read(Array(#"{"value":[{\#(member),"ID":1},\#(Self.good)]}"#.utf8), chunk: 1_000)
            #expect(log.entities.map { $0["ID"] } == [1, 2])
        }
        for member in [
            #""@odata.context":5"#, #""@odata.count":"many""#, #""@odata.count":null"#, #""@odata.deltaLink":5"#,
        ] {
            let log = try read(Array(#"{\#(member),"value":[\#(Self.good)]}"#.utf8), chunk: 3)
            #expect(log.entities.count == 1 && log.summary != nil && log.summary?.deltaLink == nil)
        }
        // The rest of the collection would be missing.
        for member in [#""@odata.nextLink":5"#, #""@odata.nextLink":{}"#] {
            #expect(throws: PayloadError.self) {
                try read(Array(#"{\#(member),"value":[\#(Self.good)]}"#.utf8), chunk: 1_000)
            }
        }
    }

    @Test("Related entities of another form cost the relation")
    func related() throws {
        for value in ["5", #""x""#, "[5]"] {
            let log = try read(Array(#"{"value":[{"ID":1,"Items":\#(value)},\#(Self.good)]}"#.utf8), chunk: 1_000)
            #expect(log.entities.map { $0["ID"] } == [1, 2])
            #expect(log.entities.first?.control.unreadable.keys.sorted() == ["Items"])
        }
        let log = try read(Array(#"{"value":[{"ID":1,"Items":[null]},\#(Self.good)]}"#.utf8), chunk: 1_000)
        #expect(log.entities.first?.related["Items"] == .many([]))
        #expect(log.entities.first?.control.unreadable.isEmpty == true)
    }

    @Test("An Atom entry that cannot be read costs that entry, and a link without a relation costs nothing")
    func atom() throws {
        func entry(_ properties: String, _ more: String = "") -> String {
            "<entry><id>Orders(1)</id>\(more)<content><m:properties>\(properties)</m:properties></content></entry>"
        }
        func read(_ strictness: Strictness) throws -> [ODataEntity] {
            let body = """
                <feed xmlns="http://www.w3.org/2005/Atom" xmlns:d="http://docs.oasis-open.org/odata/ns/data" \
                xmlns:m="http://docs.oasis-open.org/odata/ns/metadata">\
                \(entry("<d:ID>1</d:ID><d:ID>3</d:ID>"))\(entry("<d:ID>2</d:ID>", "<link href='x'/>"))</feed>
                """
            var reader = AtomFeedReader(
                model: try SampleService.model(), type: SampleService.order, strictness: strictness)
            try reader.append(Array(body.utf8))
            try reader.finish()
            var entities: [ODataEntity] = []
            while let element = try reader.next() {
                if case .entity(let entity) = element { entities.append(entity) }
            }
            return entities
        }
        let found = try read(.forgiving)
        #expect(found.map { $0["ID"] } == [nil, 2])
        #expect(found.first?.control.unreadable["ID"]?.text == "Orders(1)")
        #expect(throws: PayloadError.self) { try read(.lenient) }
    }

    @Test("A text that goes on with blanks after its end is given up")
    func endless() throws {
        var log = Log()
        var reader = CollectionPayloadReader(model: try SampleService.model(), type: SampleService.order)
        reader.append(Array(#"{"value":[\#(Self.good)]}"#.utf8))
        try reader.read(into: &log)
        #expect(log.summary != nil)
        let blanks = [UInt8](repeating: 0x20, count: CollectionPayloadReader.maxBlanks / 4)
        for _ in 0..<4 {
            reader.append(blanks)
            try reader.read(into: &log)
        }
        #expect(throws: PayloadError.self) {
            for _ in 0..<4 {
                reader.append(blanks)
                try reader.read(into: &log)
            }
        }
    }

    @Test("A text that ends within a row, and a removal that cannot be read, are errors")
    func errors() throws {
        for body in [
            #"{"value":[{"ID":1,"Fre"#, #"{"value":[{"ID":1,"Freight":"\ud8"#,
            #"{"value":[{"@removed":{},"ID":1 "ID":2}]}"#,
            #"{"value":[{"ID":1}{"ID":2}]}"#,
        ] {
            #expect(throws: PayloadError.self) { try read(Array(body.utf8), chunk: 1_000) }
        }
    }
}
