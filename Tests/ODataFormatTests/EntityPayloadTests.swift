import ODataModel
import TestModels
import Testing

@testable import ODataFormat

@Suite("Entity payloads")
struct EntityPayloadTests {
    private let model: EntityDataModel
    private let order = SampleService.order

    init() throws { model = try SampleService.model() }

    private func read(_ text: String, _ strictness: Strictness = .lenient) throws(PayloadError) -> ODataEntity {
        try EntityPayloadReader(model: model, strictness: strictness).read(Array(text.utf8), type: order).entity
    }

    private func written(
        _ entity: ODataEntity, _ metadata: MetadataLevel = .minimal, _ version: ODataVersion = .v401,
        ieee: Bool = false,
        context: String? = nil
    ) -> String {
        var json = JSONWriter()
        EntityPayloadWriter(model: model, metadata: metadata, version: version, isIEEE754Compatible: ieee)
            .write(entity, declared: order, context: context, to: &json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    @Test("a combining mark behind the @ of an annotation does not make it a property")
    func combiningMark() throws {
        let entity = try read("{\"ID\":1,\"ID@\u{301}a.Term\":2,\"@\u{301}a.Term\":3}", .strict)
        #expect(entity.control.annotations == ["ID@\u{301}a.Term": 2, "\u{301}a.Term": 3])
        #expect(written(entity).contains("\"ID@\u{301}a.Term\":2"))
    }

    @Test("JSON 4.6: control information in both spellings", arguments: ["@odata.", "@"])
    func control(prefix: String) throws {
        let entity = try read(
            """
            {"\(prefix)context":"$metadata#Orders/$entity","\(prefix)id":"Orders(1)","\(prefix)etag":"W/\\"1\\"",
             "\(prefix)editLink":"E","\(prefix)mediaContentType":"image/png","ID":1,"Freight":2.50}
            """)
        #expect(entity.control.id == "Orders(1)")
        #expect(entity.control.etag == "W/\"1\"")
        #expect(entity.control.editLink == "E")
        #expect(entity.control.mediaContentType == "image/png")
        #expect(entity["ID"] == 1)
        #expect(entity["Freight"] == .decimal(try #require(ODataDecimal("2.5"))))
        #expect(entity["Tags"] == nil)
    }

    @Test("JSON 8.3: expanded entities with counts and next links, before or after them")
    func expanded() throws {
        let entity = try read(
            """
            {"ID":1,"Customer":{"Code":"A","Name":null},"Items@odata.count":5,"Items":[{"Line":1},{"Line":2}],
             "Items@odata.nextLink":"Orders(1)/Items?$skip=2"}
            """)
        guard case .one(let customer) = entity.related["Customer"] else {
            Issue.record("no customer")
            return
        }
        #expect(customer["Code"] == "A")
        #expect(customer["Name"] == .null)
        guard case .many(let items, let count, let nextLink) = entity.related["Items"] else {
            Issue.record("no items")
            return
        }
        #expect(items.map { $0["Line"] } == [1, 2])
        #expect(count == 5)
        #expect(nextLink == "Orders(1)/Items?$skip=2")
        #expect(try read(#"{"Customer":null}"#).related["Customer"] == RelatedEntities.none)
    }

    @Test("JSON 8.5: references to bind to", arguments: ["Customer@odata.bind", "Customer@bind"])
    func bind(name: String) throws {
        #expect(try read("{\"\(name)\":\"Customers('A')\"}").related["Customer"] == .references(["Customers('A')"]))
        #expect(try read(#"{"Items@odata.bind":["a","b"]}"#).related["Items"] == .references(["a", "b"]))
    }

    @Test("JSON 4.6.3: a derived type is accepted at any position")
    func derived() throws {
        for text in [
            ##"{"@odata.type":"#Shop.RushOrder","ID":1,"Hours":3,"Note":"x"}"##,
            ##"{"ID":1,"Hours":3,"Note":"x","@type":"#Shop.RushOrder"}"##,
        ] {
            let entity = try read(text, .strict)
            #expect(entity.shape.name == QualifiedName("Shop", "RushOrder"))
            #expect(entity["Hours"] == 3)
            #expect(entity.dynamicProperties["Note"] == "x")
        }
    }

    @Test("JSON 7: dynamic properties have their stated type")
    func dynamic() throws {
        let entity = try read(
            """
            {"@type":"#Shop.RushOrder","When@odata.type":"#Date","When":"2026-11-21","N@type":"#Collection(Int64)","N":["1",2],
             "P@odata.type":"#GeographyPoint","P":{"type":"Point","coordinates":[1,2]},"Deep":{"a":[1.5]}}
            """)
        #expect(entity["When"] == .date(try #require(ODataDate("2026-11-21"))))
        #expect(entity["N"] == [1, 2])
        #expect(entity["P"] == .geo(GeoValue(.geography, .point(.init(x: 1, y: 2)))))
    }

    @Test("an undeclared property is ignored by clients and refused by services, with its path")
    func strictness() throws {
        let text = "{\"ID\":1,\n \"Items\":[{\"Line\":1},{\"Price\":2}]}"
        #expect(try read(text)["ID"] == 1)
        let error = #expect(throws: PayloadError.self) { try read(text, .strict) }
        guard case .malformed(let json) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(json.path == "Items/1/Price")
        #expect(json.reason == .unknownProperty("Price"))
        #expect(json.position.line == 2)
        #expect(throws: PayloadError.self) { try read(#"{"ID":1,"ID":2}"#, .strict) }
    }

    @Test("a value of the wrong type names its path")
    func mistyped() {
        let error = #expect(throws: PayloadError.self) { try read(#"{"ShipTo":{"City":5}}"#) }
        guard case .malformed(let json) = error else { return }
        #expect(json.path == "ShipTo/City")
        #expect(json.expected == "a string")
    }

    @Test("JSON 21: an error object in place of the entity is thrown")
    func serviceError() {
        let error = #expect(throws: PayloadError.self) { try read(#"{"error":{"code":"E1","message":"no"}}"#) }
        #expect(error == .service(ODataErrorPayload(code: "E1", message: "no")))
    }

    @Test("every prefix of a payload gives a typed error")
    func prefixes() {
        let text = Array(
            ##"{"@odata.type":"#Shop.RushOrder","ID":1,"ShipTo":{"City":"é"},"Items@odata.count":2,"Items":[{"Line":1}],"X":[1,"a"]}"##
                .utf8)
        for count in 0..<text.count {
            #expect(throws: PayloadError.self) {
                try EntityPayloadReader(model: model).read(Array(text[..<count]), type: order)
            }
        }
    }

    @Test("JSON 8.4: nested deltas")
    func nestedDelta() throws {
        let text = #"{"ID":1,"Items@delta":[{"Line":1},{"@removed":{"reason":"deleted"},"@id":"Items(2)"}]}"#
        let entity = try read(text)
        guard case .many(let items, _, _) = entity.related["Items"] else { return }
        #expect(items[1].control.removedReason == "deleted")
        #expect(written(entity) == text)
    }

    @Test("JSON 3.1: the metadata level determines the written control information")
    func levels() throws {
        var entity = try read(##"{"@type":"#Shop.RushOrder","@id":"Orders(1)","@etag":"x","ID":1,"Freight":2}"##)
        entity["When"] = .date(try #require(ODataDate("2026-11-21")))
        #expect(
            written(entity, context: "c")
                == ##"{"@context":"c","@type":"#Shop.RushOrder","@id":"Orders(1)","@etag":"x","ID":1,"Freight":2,"When@type":"#Date","When":"2026-11-21"}"##
        )
        #expect(written(entity, .none, context: "c") == #"{"ID":1,"Freight":2,"When":"2026-11-21"}"#)
        #expect(
            written(entity, .full, .v4)
                == ##"{"@odata.type":"#Shop.RushOrder","@odata.id":"Orders(1)","@odata.etag":"x","@odata.editLink":"Orders(1)","ID@odata.type":"#Int64","ID":1,"Freight@odata.type":"#Decimal","Freight":2,"When@odata.type":"#Date","When":"2026-11-21","Customer@odata.navigationLink":"Orders(1)/Customer","Customer@odata.associationLink":"Orders(1)/Customer/$ref","Items@odata.navigationLink":"Orders(1)/Items","Items@odata.associationLink":"Orders(1)/Items/$ref"}"##
        )
        #expect(written(entity, .none, ieee: true) == #"{"ID":"1","Freight":"2","When":"2026-11-21"}"#)
    }

    @Test(
        "a written entity reads back the same, in both versions",
        arguments: [
            #"{"ID":1,"Freight":2.50,"ShipTo":{"City":"x"},"Tags":["a","b"],"Placed":"2026-11-21T10:00:00Z"}"#,
            ##"{"@type":"#Shop.RushOrder","@id":"Orders(1)","@Core.Note":"n","ID":1,"Freight@Core.Note":true,"Freight":1}"##,
            #"{"ID":1,"Customer":{"Code":"A"},"Items@count":5,"Items":[{"Line":1}],"Items@nextLink":"n"}"#,
        ])
    func roundTrip(text: String) throws {
        let entity = try read(text)
        #expect(written(entity) == text)
        let again = try read(written(entity, .minimal, .v4))
        #expect(again == entity)
        #expect(again.control == entity.control)
    }

    @Test("JSON 8.5: references are written in the form of each version")
    func writeReferences() throws {
        let entity = try read(#"{"Customer@bind":"Customers('A')","Items@bind":["i"]}"#)
        #expect(written(entity, .minimal, .v4) == #"{"Customer@odata.bind":"Customers('A')","Items@odata.bind":["i"]}"#)
        #expect(written(entity) == #"{"Customer":{"@id":"Customers('A')"},"Items":[{"@id":"i"}]}"#)
    }
}

@Suite("Other payloads")
struct OtherPayloadTests {
    private let model: EntityDataModel

    init() throws { model = try SampleService.model() }

    @Test("JSON 21: the error object reads and writes")
    func error() throws {
        let text =
            #"{"error":{"code":"1","message":"m","target":"t","details":[{"code":"2","message":"d","target":"u"}],"innererror":{"a":[1]}}}"#
        let error = try ODataErrorPayload(json: Array(text.utf8))
        #expect(error.details.first?.target == "u")
        #expect(error.innerError == #"{"a":[1]}"#)
        var json = JSONWriter()
        error.write(to: &json)
        #expect(String(decoding: json.bytes, as: UTF8.self) == text)
    }

    @Test("V2's error message object is read")
    func errorV2() throws {
        let text = #"{"error":{"code":"X/1","message":{"lang":"en","value":"no"},"innererror":null}}"#
        #expect(try ODataErrorPayload(json: Array(text.utf8)).message == "no")
    }

    @Test("JSON 11: individual values are read and written")
    func values() throws {
        let text = #"{"@context":"c","value":[1,2],"@nextLink":"n"}"#
        let type = TypeReference.collection(.primitive(.int32))
        let payload = try ValuePayload(json: Array(text.utf8), type: type, model: model)
        #expect(payload.value == [1, 2])
        #expect(payload.nextLink == "n")
        var json = JSONWriter()
        payload.write(type: type, using: EntityPayloadWriter(model: model), to: &json)
        #expect(String(decoding: json.bytes, as: UTF8.self) == text)
        #expect(throws: PayloadError.self) {
            try ValuePayload(json: Array(#"{"@context":"c"}"#.utf8), type: type, model: model)
        }
        let city = try ValuePayload(
            json: Array(#"{"@context":"c","City":"x"}"#.utf8), type: .complex(QualifiedName("Shop", "Address")),
            model: model)
        guard case .complex(let address) = city.value else { return }
        #expect(address["City"] == "x")
    }

    @Test("JSON 5: the service document of a model reads back")
    func serviceDocument() throws {
        let document = ServiceDocument(model: model, context: "$metadata")
        #expect(document.entries.map(\.name) == ["Orders", "Customers", "Me"])
        var json = JSONWriter()
        document.write(to: &json)
        #expect(try ServiceDocument(json: json.bytes) == document)
    }
}
