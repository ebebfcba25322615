import ODataModel
import TestModels
import Testing

@testable import ODataFormat

/// Reads a text in chunks and returns all elements.
func elements(
    _ bytes: [UInt8], chunk: Int, model: EntityDataModel, type: QualifiedName, strictness: Strictness = .lenient
) throws(PayloadError) -> [CollectionPayloadReader.Element] {
    var reader = CollectionPayloadReader(model: model, type: type, strictness: strictness)
    var result: [CollectionPayloadReader.Element] = []
    var offset = 0
    while offset < bytes.count {
        reader.append(bytes[offset..<min(offset + chunk, bytes.count)])
        offset += chunk
        while let element = try reader.next() { result.append(element) }
    }
    reader.finish()
    while let element = try reader.next() { result.append(element) }
    return result
}

@Suite("Collection payloads")
struct CollectionPayloadTests {
    private let model: EntityDataModel
    private let order = SampleService.order

    init() throws { model = try SampleService.model() }

    private let page = """
        {"@odata.context":"c","@odata.count":"3","value":[
          {"ID":1,"Tags":["]","}"],"ShipTo":{"City":"a\\"b"}}, {"ID":2} ,{"ID":3,"Items":[{"Line":1}]}
        ],"extra":{"x":[1,2]},"@odata.nextLink":"n"}
        """

    @Test("a page gives the same elements for any chunk size", arguments: [1, 2, 3, 7, 64, 10_000])
    func chunks(size: Int) throws {
        let all = try elements(Array(page.utf8), chunk: size, model: model, type: order)
        #expect(all.count == 4)
        let ids = all.prefix(3).map { element -> ODataValue? in
            if case .entity(let entity) = element { entity["ID"] } else { nil }
        }
        #expect(ids == [1, 2, 3])
        #expect(all.last == .finished(CollectionSummary(context: "c", count: 3, nextLink: "n")))
    }

    @Test(arguments: [1, 2, 3, 7, 64])
    func `numbers that JSON does not have cost a forgiving reader their value, and a strict one all`(size: Int) throws {
        let text = Array(
            #"{"value":[{"ID":1,"Placed":NaN,"ShipTo":{"Zip":INF}},{"ID":2,"Freight": -Infinity ,"Tags":[]}]}"#.utf8)
        let all = try elements(text, chunk: size, model: model, type: order, strictness: .forgiving)
        let lost = all.compactMap { element -> [String]? in
            if case .entity(let entity) = element { entity.control.unreadable.keys.sorted() } else { nil }
        }
        #expect(lost == [["Placed"], []])
        #expect(throws: PayloadError.self) { try elements(text, chunk: size, model: model, type: order) }
        let others = Array(#"{"value":[{"ID":1,"Freight":Nan}]}"#.utf8)
        let other = try elements(others, chunk: size, model: model, type: order, strictness: .forgiving).first
        guard case .entity(let entity)? = other else {
            Issue.record("no entity")
            return
        }
        #expect(entity["ID"] == 1 && entity.control.unreadable.keys.sorted() == ["Freight"])
    }

    @Test("elements are returned as soon as they are complete")
    func early() throws {
        var reader = CollectionPayloadReader(model: model, type: order)
        reader.append(Array(#"{"value":[{"ID":1},{"ID":"#.utf8))
        guard case .entity(let first) = try reader.next() else {
            Issue.record("no entity")
            return
        }
        #expect(first["ID"] == 1)
        #expect(try reader.next() == nil)
        reader.append(Array("2}]}".utf8))
        guard case .entity(let second) = try reader.next() else {
            Issue.record("no entity")
            return
        }
        #expect(second["ID"] == 2)
        #expect(try reader.next() == .finished(CollectionSummary()))
        #expect(try reader.next() == nil)
    }

    @Test("blanks instead of a missing colon are read only once in a collection", .timeLimit(.minutes(1)))
    func blanks() async throws {
        var reader = CollectionPayloadReader(model: model, type: order)
        reader.append(#"{"value":[{"ID":1}], "extra""#.utf8)
        guard case .entity? = try reader.next() else {
            Issue.record("no entity")
            return
        }
        for _ in 0..<300_000 {
            try Task.checkCancellation()
            reader.append([0x0A])
            #expect(try reader.next() == nil)
        }
        reader.append(":1}".utf8)
        #expect(try reader.next() == .finished(CollectionSummary()))
    }

    @Test("JSON 15: a delta is read in both spellings")
    func delta() throws {
        let text = """
            {"@odata.context":"$metadata#Orders/$delta","value":[
             {"ID":1},
             {"@removed":{"reason":"changed"},"@id":"Orders(2)"},
             {"@odata.context":"$metadata#Orders/$deletedEntity","id":"Orders(3)","reason":"deleted"},
             {"@context":"$metadata#Orders/$link","source":"Orders(1)","relationship":"Customer","target":"Customers('A')"},
             {"@odata.context":"$metadata#Orders/$deletedLink","source":"Orders(1)","relationship":"Items","target":"I"},
             {"@odata.context":"$metadata#Customers/$entity","Code":"A"}
            ],"@odata.deltaLink":"d"}
            """
        let all = try elements(Array(text.utf8), chunk: 16, model: model, type: order)
        #expect(all.count == 7)
        guard case .removed(let id, _, let reason) = all[1] else {
            Issue.record("\(all[1])")
            return
        }
        #expect(id == "Orders(2)" && reason == "changed")
        #expect(all[2] == .removed(id: "Orders(3)", entity: nil, reason: "deleted"))
        #expect(all[3] == .link(DeltaLink(source: "Orders(1)", relationship: "Customer", target: "Customers('A')")))
        #expect(all[4] == .deletedLink(DeltaLink(source: "Orders(1)", relationship: "Items", target: "I")))
        guard case .entity(let customer) = all[5] else { return }
        #expect(customer.shape.name.name == "Customer")
        #expect(all[6] == .finished(CollectionSummary(context: "$metadata#Orders/$delta", deltaLink: "d")))
    }

    @Test(
        "JSON 15: links and deleted entities are recognised by their context at any position", arguments: [false, true])
    func anyOrder(isStrict: Bool) throws {
        let text = """
            {"value":[
             {"id":"Orders(3)","reason":"deleted","@context":"#Orders/$deletedEntity"},
             {"source":"Orders(1)","@odata.context":"#Orders/$link","relationship":"Customer","target":"Customers('A')"},
             {"target":"I","relationship":"Items","source":"Orders(1)","@context":"#Orders/$deletedLink"},
             {"Code":"A","@context":"#Customers/$entity"},
             {"ID":1}
            ],"@context":"#Orders/$delta"}
            """
        for chunk in [7, 4096] {
            var reader = CollectionPayloadReader(
                model: model, type: order, strictness: isStrict ? .strict : .lenient)
            var all: [CollectionPayloadReader.Element] = []
            for start in stride(from: 0, to: text.utf8.count, by: chunk) {
                reader.append(Array(text.utf8.dropFirst(start).prefix(chunk)))
                while let element = try reader.next() { all.append(element) }
            }
            reader.finish()
            while let element = try reader.next() { all.append(element) }
            #expect(all.count == 6)
            #expect(all[0] == .removed(id: "Orders(3)", entity: nil, reason: "deleted"))
            let link = DeltaLink(source: "Orders(1)", relationship: "Customer", target: "Customers('A')")
            #expect(all[1] == .link(link))
            #expect(all[2] == .deletedLink(DeltaLink(source: "Orders(1)", relationship: "Items", target: "I")))
            guard case .entity(let customer) = all[3], case .entity(let last) = all[4] else {
                Issue.record("\(all)")
                return
            }
            #expect(customer.shape.name.name == "Customer" && customer["Code"] == "A")
            #expect(last["ID"] == 1)
        }
    }

    @Test(
        "JSON 21.2: an error within the stream is thrown",
        arguments: [
            #"{"error":{"code":"1","message":"m"}}"#, #"{"value":[{"ID":1}],"error":{"code":"1","message":"m"}}"#,
            #"{"value":[{"ID":1},{"error":{"code":"1","message":"m"}}]}"#,
        ])
    func inStreamError(text: String) {
        let error = #expect(throws: PayloadError.self) {
            try elements(Array(text.utf8), chunk: 5, model: model, type: order)
        }
        #expect(error == .service(ODataErrorPayload(code: "1", message: "m")))
    }

    @Test("a page that is cut anywhere is an error and never a shorter page")
    func prefixes() {
        let bytes = Array(page.utf8)
        for count in 0..<bytes.count {
            #expect(throws: PayloadError.self, "prefix of \(count)") {
                try elements(Array(bytes[..<count]), chunk: 32, model: model, type: order)
            }
        }
    }

    @Test("an error in a later chunk has its position in the whole text")
    func place() {
        let text = "{\"value\":[{\"ID\":1},\n{\"ID\":\"x\"}]}"
        let error = #expect(throws: PayloadError.self) {
            try elements(Array(text.utf8), chunk: 4, model: model, type: order)
        }
        guard case .malformed(let json) = error else { return }
        #expect(json.position == JSONPosition(offset: 26, line: 2, column: 7))
        #expect(json.path == "ID")
    }

    @Test("an element one byte too large is refused")
    func largest() throws {
        var reader = CollectionPayloadReader(model: model, type: order)
        reader.append(Array(#"{"value":["#.utf8))
        #expect(try reader.next() == nil)
        reader.append([UInt8](repeating: 0x20, count: CollectionPayloadReader.maxElementBytes))
        #expect(try reader.next() == nil)
        reader.append([0x20])
        #expect(throws: PayloadError.elementTooLarge(at: JSONPosition(offset: 10, line: 1, column: 11))) {
            try reader.next()
        }
    }

    @Test("a collection that is written in pieces reads back", arguments: [ODataVersion.v4, .v401])
    func writer(version: ODataVersion) throws {
        let shape = try #require(model.shape(order))
        let writer = EntityPayloadWriter(model: model, version: version)
        var pages = CollectionPayloadWriter(writer, type: order)
        var sent: [UInt8] = []
        pages.begin(context: "c", count: 2)
        pages.entity(ODataEntity(shape: shape, ["ID": 1]))
        pages.json.flush { sent += $0 }
        pages.removed(id: "Orders(2)", reason: "deleted", set: "Orders", etag: "1")
        let link = DeltaLink(source: "a", relationship: "Customer", target: "b")
        pages.link(link, isDeleted: true, set: "Orders")
        pages.end(deltaLink: "d")
        pages.json.flush { sent += $0 }
        let all = try elements(sent, chunk: 9, model: model, type: order)
        try #require(all.count == 4)
        guard case .removed("Orders(2)", let removed, "deleted") = all[1] else {
            Issue.record("\(all[1])")
            return
        }
        #expect(removed?.control.etag == (version < .v401 ? nil : "1"))
        #expect(all[2] == .deletedLink(link))
        #expect(all[3] == .finished(CollectionSummary(context: "c", count: 2, deltaLink: "d")))
    }

    @Test("JSON 21.2: an error that ends the stream is read by the client")
    func fail() throws {
        var pages = CollectionPayloadWriter(EntityPayloadWriter(model: model), type: order)
        pages.begin(context: nil)
        pages.fail(ODataErrorPayload(code: "9", message: "x"))
        let error = #expect(throws: PayloadError.self) {
            try elements(pages.json.bytes, chunk: 9, model: model, type: order)
        }
        #expect(error == .service(ODataErrorPayload(code: "9", message: "x")))
    }
}
