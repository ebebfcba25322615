import ODataModel
import TestModels
import Testing

@testable import ODataFormat

/// An order type as an app would declare it.
struct TypedOrder: EntityRepresentable, Equatable {
    static let typeName = SampleService.order

    var id: Int64
    var freight: ODataDecimal?
    var tags: [String]?
    var placed: ODataDateTimeOffset?

    init(row: borrowing some PropertyReader) throws {
        id = try row.read("ID")
        freight = try row.read("Freight")
        tags = try row.read("Tags")
        placed = try row.read("Placed")
    }

    func write(to row: inout some PropertyWriter) throws {
        try row.write("ID", id)
        try row.write("Freight", freight)
        try row.write("Tags", tags)
        try row.write("Placed", placed)
    }
}

@Suite("Collections as rows")
struct CollectionRowTests {
    /// A sink that records everything it receives.
    private struct Log: CollectionSink {
        var orders: [TypedOrder] = []
        var etags: [String] = []
        var others: [CollectionPayloadReader.Element] = []

        mutating func row(_ row: borrowing JSONRow) throws {
            orders.append(try TypedOrder(row: row))
            if let etag = try row.text(of: "@odata.etag", or: "@etag") { etags.append(etag) }
        }

        mutating func element(_ element: CollectionPayloadReader.Element) throws { others.append(element) }
    }

    private let model: EntityDataModel

    init() throws { model = try SampleService.model() }

    private func read(_ text: String, chunk: Int, strictness: Strictness = .lenient) throws -> Log {
        var log = Log()
        var reader = CollectionPayloadReader(model: model, type: SampleService.order, strictness: strictness)
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: chunk) {
            reader.append(bytes[start..<min(start + chunk, bytes.count)])
            try reader.read(into: &log)
        }
        reader.finish()
        try reader.read(into: &log)
        return log
    }

    private let page = """
        {"@odata.context":"c","value":[
          {"@odata.etag":"W/\\"1\\"","ID":1,"Freight":1.50,"Tags":["a\\u0062",""],"Placed":"2026-11-21T10:00:00Z"},
          {"Placed":null,"Tags":null,"Freight":"99999999999999999999999999999999999999","ID":"9223372036854775807"},
          {"ID":3,"Freight":null,"Tags":[],"Placed":null,"Unknown":{"a":[1]},"Items@odata.navigationLink":"x"},
          {"@odata.type":"#Shop.Order","ID":4,"Freight":0,"Tags":[],"Placed":null},
          {"@odata.type":"#Shop.RushOrder","ID":5,"Hours":2},
          {"ID":6,"Items":[{"Line":1}]},
          {"@removed":{"reason":"deleted"},"ID":7},
          {"ID":8,"Freight":-1e3,"Tags":["x"],"Placed":null}
        ],"@odata.nextLink":"n"}
        """

    @Test(
        "plain entities become rows and other entities become values, for any chunk size",
        arguments: [1, 2, 5, 33, 4096])
    func chunks(size: Int) throws {
        let log = try read(page, chunk: size)
        #expect(log.orders.map(\.id) == [1, .max, 3, 4, 8])
        #expect(
            log.orders.map { $0.freight?.description } == [
                "1.50", String(repeating: "9", count: 38), nil, "0", "-1000",
            ])
        #expect(log.orders.map(\.tags) == [["ab", ""], nil, [], [], ["x"]])
        #expect(log.orders[0].placed?.description == "2026-11-21T10:00:00Z")
        #expect(log.etags == ["W/\"1\""])
        guard log.others.count == 4, case .entity(let rush) = log.others[0], case .entity(let expanded) = log.others[1],
            case .removed(_, _, let reason) = log.others[2]
        else {
            Issue.record("found \(log.others)")
            return
        }
        #expect(rush.shape.name.name == "RushOrder")
        #expect(expanded.related["Items"] != nil)
        #expect(reason == "deleted")
        #expect(log.others[3] == .finished(CollectionSummary(context: "c", nextLink: "n")))
    }

    @Test("JSON 4.7: a row keeps its annotations, also as an entity")
    func annotations() throws {
        struct Annotated: CollectionSink {
            var entities: [ODataEntity] = []
            var messages: ODataValue?
            var missing: ODataValue?
            var etag: ODataValue?
            mutating func row(_ row: borrowing JSONRow) throws {
                entities.append(try row.entity(as: row.shape))
                messages = try row.annotation("@Org.OData.Core.V1.Messages")
                missing = try row.annotation("@Org.OData.Core.V1.Other")
                etag = try row.annotation("@etag")
            }
            mutating func element(_ element: CollectionPayloadReader.Element) throws {}
        }
        let text = """
            {"value":[{"@odata.type":"#Shop.Order","@odata.id":"Orders(1)","@odata.etag":"W/\\"1\\"","@odata.editLink":"E","ID":1,
            "Freight@Org.OData.Core.V1.Computed":true,"Freight":2,"@Org.OData.Core.V1.Messages":[{"code":"1","message":"m"}],
            "@x.y#q":null,"Items@odata.navigationLink":"I","#Shop.Approve":{"title":"t","target":"u"},"@odata.own":5,"Unknown":1}]}
            """
        var sink = Annotated()
        var reader = CollectionPayloadReader(model: model, type: SampleService.order)
        reader.append(text.utf8)
        reader.finish()
        var whole = reader
        try reader.read(into: &sink)
        guard case .entity(var expected)? = try whole.next(), let entity = sink.entities.first else {
            Issue.record("no entity")
            return
        }
        expected.control.type = nil
        #expect(entity == expected && entity.control == expected.control)
        #expect(entity.control.etag == "W/\"1\"" && entity.control.annotations.count == 6)
        guard case .collection(let messages)? = sink.messages, case .complex(let message)? = messages.first else {
            Issue.record("no messages")
            return
        }
        #expect(message["code"] == "1" && sink.missing == nil && sink.etag == "W/\"1\"")
    }

    @Test("rows and entities contain the same values")
    func sameAsEntities() throws {
        let entities = try elements(Array(page.utf8), chunk: 4096, model: model, type: SampleService.order)
        let typed = try entities.compactMap { element -> TypedOrder? in
            guard case .entity(let entity) = element, entity.shape.name == SampleService.order,
                entity.related.isEmpty
            else { return nil }
            return try TypedOrder(row: entity)
        }
        #expect(try read(page, chunk: 64).orders == typed)
    }

    @Test("a page that is cut anywhere is an error")
    func cut() {
        for count in 0..<page.utf8.count {
            #expect(throws: PayloadError.self) {
                try read(String(decoding: page.utf8.prefix(count), as: UTF8.self), chunk: 16)
            }
        }
    }

    @Test("a repeated property is refused with its place")
    func twice() {
        let error = #expect(throws: PayloadError.self) { try read(#"{"value":[{"ID":1,"ID":2}]}"#, chunk: 64) }
        guard case .malformed(let json) = error else {
            Issue.record("found \(String(describing: error))")
            return
        }
        #expect(json.reason == .duplicateMember("ID"))
    }

    @Test("a value of another type is refused with place and property")
    func wrongValue() {
        let error = #expect(throws: EntityError.self) {
            try read("{\"value\":[\n{\"ID\":1,\"Freight\":\"x\",\"Tags\":[],\"Placed\":null}]}", chunk: 64)
        }
        guard case .malformed(let json) = error else {
            Issue.record("found \(String(describing: error))")
            return
        }
        #expect(json.path == "Freight")
        #expect(json.position.line == 2)
    }

    @Test("an undeclared property is ignored by clients and refused by services")
    func strictness() throws {
        let text = #"{"value":[{"ID":1,"Freight":null,"Tags":[],"Placed":null,"Nope":1}]}"#
        #expect(try read(text, chunk: 64).orders.count == 1)
        #expect(throws: PayloadError.self) { try read(text, chunk: 64, strictness: .strict) }
    }

    @Test("an error within the stream is thrown")
    func serviceError() {
        let error = #expect(throws: PayloadError.self) {
            try read(
                #"{"value":[{"ID":1,"Freight":null,"Tags":[],"Placed":null}],"error":{"code":"x","message":"m"}}"#,
                chunk: 8)
        }
        guard case .service(let payload) = error else {
            Issue.record("found \(String(describing: error))")
            return
        }
        #expect(payload.code == "x")
    }

    @Test("an entity with a derived type behind a complex property is returned as an entity")
    func statedBeside() throws {
        struct Sink: CollectionSink {
            var rows = 0
            var entities: [ODataEntity] = []

            mutating func row(_ row: borrowing JSONRow) throws { rows += 1 }

            mutating func element(_ element: CollectionPayloadReader.Element) throws {
                if case .entity(let entity) = element { entities.append(entity) }
            }
        }
        let model = try CSDLReader.read(
            xml: Array(
                """
                <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
                <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
                  <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
                    <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="To" Type="S.Address"/></EntityType>
                  <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/></ComplexType>
                  <ComplexType Name="Flat" BaseType="S.Address"><Property Name="Floor" Type="Edm.Int32"/></ComplexType>
                </Schema></edmx:DataServices></edmx:Edmx>
                """.utf8))
        let text = ##"""
            {"value":[{"ID":1,"To@odata.type":"#S.Address","To":{"City":"x"}},
             {"ID":2,"To@odata.type":"#S.Flat","To":{"City":"x","Floor":3}}]}
            """##
        var reader = CollectionPayloadReader(model: model, type: QualifiedName("S", "Order"))
        reader.append(Array(text.utf8))
        reader.finish()
        var sink = Sink()
        try reader.read(into: &sink)
        #expect(sink.rows == 1)
        guard case .complex(let flat)? = sink.entities.first?["To"] else {
            Issue.record("no complex value")
            return
        }
        #expect(flat["Floor"] == 3)
    }

    @Test("a released row has no loaded values")
    func forgotten() throws {
        let shape = try #require(model.shape(SampleService.order))
        let row = JSONRow(shape: shape, model: model)
        try JSONScanner.scan(Array(#"{"ID":1}"#.utf8)) { (scanner) throws(JSONError) in try row.read(&scanner) }
        row.forget()
        #expect(throws: EntityError.notLoaded(property: "ID", type: SampleService.order)) { try row.value(of: "ID") }
        #expect(throws: EntityError.unknownProperty("X", type: SampleService.order)) { try row.value(of: "X") }
    }

    @Test("typed values are written as they are read", arguments: [false, true])
    func writing(isIEEE754Compatible: Bool) throws {
        let shape = try #require(model.shape(SampleService.order))
        let orders = try read(page, chunk: 4096).orders
        var rows = JSONRowWriter(shape: shape, model: model, isIEEE754Compatible: isIEEE754Compatible)
        rows.json.beginObject()
        rows.json.key("value")
        rows.json.beginArray()
        for order in orders { try rows.write(order) }
        rows.json.endArray()
        rows.json.endObject()
        let text = String(decoding: rows.json.bytes, as: UTF8.self)
        #expect(text.contains(isIEEE754Compatible ? #""ID":"1""# : #""ID":1,"#))
        #expect(try read(text, chunk: 4096).orders == orders)
    }
}
