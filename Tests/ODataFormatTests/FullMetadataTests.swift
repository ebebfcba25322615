import ODataModel
import TestModels
import Testing

@testable import ODataFormat

@Suite("Full metadata")
struct FullMetadataTests {
    private static let name = QualifiedName("Lib", "Book")

    private func model() throws -> EntityDataModel {
        try CSDLReader.read(
            xml: Array(
                """
                <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01"><edmx:DataServices>
                <Schema Namespace="Lib" xmlns="http://docs.oasis-open.org/odata/ns/edm">
                  <EntityType Name="Item" Abstract="true"><Key><PropertyRef Name="ID"/></Key>
                    <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
                  <EntityType Name="Book" BaseType="Lib.Item" HasStream="true">
                    <Property Name="Cover" Type="Edm.Stream"/>
                    <Property Name="Extra" Type="Edm.Untyped"/>
                    <NavigationProperty Name="Authors" Type="Collection(Lib.Item)"/></EntityType>
                  <Action Name="Burn" IsBound="true"><Parameter Name="item" Type="Lib.Item"/></Action>
                  <Function Name="Pages" IsBound="true"><Parameter Name="book" Type="Lib.Book"/>
                    <Parameter Name="from" Type="Edm.Int32"/><ReturnType Type="Edm.Int32"/></Function>
                  <Action Name="BurnAll" IsBound="true"><Parameter Name="items" Type="Collection(Lib.Item)"/></Action>
                  <EntityContainer Name="C"><EntitySet Name="Books" EntityType="Lib.Book"/></EntityContainer>
                </Schema></edmx:DataServices></edmx:Edmx>
                """.utf8))
    }

    private func book(_ model: EntityDataModel) throws -> ODataEntity {
        var book = ODataEntity(shape: try #require(model.shape(Self.name)), ["ID": 1])
        book.control.id = "Books(1)"
        return book
    }

    private func written(_ entity: ODataEntity, _ model: EntityDataModel, _ version: ODataVersion) -> String {
        var json = JSONWriter()
        EntityPayloadWriter(model: model, metadata: .full, version: version)
            .write(entity, declared: Self.name, to: &json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    @Test("JSON 4.6.8 to 4.6.14: types, links, streams, actions and functions of an entity")
    func everything() throws {
        let model = try model()
        #expect(
            written(try book(model), model, .v401) == """
                {"@type":"#Lib.Book","@id":"Books(1)","@editLink":"Books(1)","@mediaReadLink":"Books(1)/$value",\
                "@mediaEditLink":"Books(1)/$value",\
                "#Lib.Burn":{"title":"Burn","target":"Books(1)/Lib.Burn"},\
                "#Lib.Pages":{"title":"Pages","target":"Books(1)/Lib.Pages(from=@from)"},\
                "ID@type":"#Int32","ID":1,"Cover@mediaReadLink":"Books(1)/Cover","Cover@mediaEditLink":"Books(1)/Cover",\
                "Authors@navigationLink":"Books(1)/Authors","Authors@associationLink":"Books(1)/Authors/$ref"}
                """)
    }

    @Test("its control information reads back and is written once")
    func roundTrip() throws {
        let model = try model()
        let text = written(try book(model), model, .v4)
        let read = try EntityPayloadReader(model: model, strictness: .strict).read(Array(text.utf8), type: Self.name)
        let again = written(read.entity, model, .v4)
        #expect(again.utf8.count == text.utf8.count)
        #expect(
            try EntityPayloadReader(model: model).read(Array(again.utf8), type: Self.name).entity.control
                == read.entity.control)
        #expect(
            read.entity.advertisedOperations == [
                AdvertisedOperation(name: "Lib.Burn", title: "Burn", target: "Books(1)/Lib.Burn"),
                AdvertisedOperation(name: "Lib.Pages", title: "Pages", target: "Books(1)/Lib.Pages(from=@from)"),
            ])
    }

    @Test("links and annotations of properties without a value are kept")
    func withoutValues() throws {
        let model = try model()
        let text = ##"{"ID":1,"Cover@odata.mediaContentType":"image/png","Gone@Core.Note":"x"}"##
        let entity = try EntityPayloadReader(model: model).read(Array(text.utf8), type: Self.name).entity
        var json = JSONWriter()
        EntityPayloadWriter(model: model, version: .v4).write(entity, declared: Self.name, to: &json)
        #expect(String(decoding: json.bytes, as: UTF8.self) == text)
    }

    @Test("JSON 4.6.3: the type of an untyped value may stand before or after it")
    func untyped() throws {
        let model = try model()
        let day = ODataValue.date(try #require(ODataDate("2026-11-21")))
        let reader = EntityPayloadReader(model: model)
        let declared = try reader.read(
            Array(##"{"ID":1,"Extra@type":"#Date","Extra":"2026-11-21"}"##.utf8), type: Self.name)
        #expect(declared.entity["Extra"] == day)
        let open = QualifiedName("Shop", "RushOrder")
        let shop = EntityPayloadReader(model: try SampleService.model())
        let late = try shop.read(Array(##"{"X":"2026-11-21","X@odata.type":"#Date"}"##.utf8), type: open)
        #expect(late.entity["X"] == day)
        let list = try shop.read(Array(##"{"X":["2026-11-21"],"X@type":"#Collection(Date)"}"##.utf8), type: open)
        #expect(list.entity["X"] == .collection([day]))
        #expect(throws: PayloadError.self) {
            try shop.read(Array(##"{"X":"no day","X@odata.type":"#Date"}"##.utf8), type: open)
        }
    }
}

@Suite("Removed entities")
struct RemovedEntityTests {
    @Test("JSON 15.3: removed entities are written in the form of each version", arguments: [ODataVersion.v4, .v401])
    func removed(version: ODataVersion) throws {
        let model = try SampleService.model()
        var entity = ODataEntity(shape: try #require(model.shape(SampleService.order)))
        entity.control.id = "Orders(1)"
        entity.control.removedReason = "deleted"
        var writer = CollectionPayloadWriter(
            EntityPayloadWriter(model: model, version: version), type: SampleService.order)
        writer.begin(context: "http://h/$metadata#Orders/$delta")
        writer.entity(entity)
        writer.end()
        let text = String(decoding: writer.json.bytes, as: UTF8.self)
        #expect(text.contains("$metadata#Orders/$deletedEntity") == (version == .v4))
        #expect(text.contains("@removed") == (version == .v401))
        var reader = CollectionPayloadReader(model: model, type: SampleService.order)
        reader.append(writer.json.bytes)
        reader.finish()
        guard case .removed("Orders(1)", _, "deleted")? = try reader.next() else {
            Issue.record("\(text)")
            return
        }
    }

    @Test("JSON 12: annotations on a collection are kept")
    func annotations() throws {
        let model = try SampleService.model()
        var reader = CollectionPayloadReader(model: model, type: SampleService.order)
        reader.append(#"{"@Core.Note":"x","value":[],"@odata.Some.Term":[1]}"#.utf8)
        reader.finish()
        guard case .finished(let summary)? = try reader.next() else {
            Issue.record("not finished")
            return
        }
        #expect(summary.annotations == ["Core.Note": "x", "Some.Term": [1]])
    }
}

@Suite("V3's light JSON")
struct LightJSONTests {
    @Test("an entry with control information of both kinds is read and written")
    func entry() throws {
        let model = try SampleService.model()
        let text = """
            {"odata.metadata":"M#Orders/@Element","odata.type":"Shop.RushOrder","odata.id":"Orders(1)",\
            "odata.etag":"W/\\"1\\"","odata.editLink":"Orders(1)","ID":"9007199254740993","Freight":"2.5",\
            "Due@odata.type":"Edm.DateTime","Due":"2026-11-21T00:00:00",\
            "Customer@odata.navigationLinkUrl":"Orders(1)/Customer"}
            """
        let reader = EntityPayloadReader(model: model, strictness: .strict)
        let payload = try reader.read(Array(text.utf8), type: SampleService.order)
        #expect(payload.context == "M#Orders/@Element")
        #expect(payload.entity.control.etag == "W/\"1\"")
        #expect(payload.entity["ID"] == 9_007_199_254_740_993)
        #expect(payload.entity["Due"] == .dateTime(try #require(ODataDateTime("2026-11-21T00:00:00"))))
        var json = JSONWriter()
        EntityPayloadWriter(model: model, version: .v3)
            .write(payload.entity, declared: SampleService.order, context: payload.context, to: &json)
        #expect(String(decoding: json.bytes, as: UTF8.self) == text)
    }

    @Test("a feed gives count and next link, and an error ends it")
    func feed() throws {
        let model = try SampleService.model()
        var reader = CollectionPayloadReader(model: model, type: SampleService.order)
        reader.append(#"{"odata.metadata":"M","odata.count":"5","value":[{"ID":"1"}],"odata.nextLink":"N"}"#.utf8)
        reader.finish()
        var elements: [CollectionPayloadReader.Element] = []
        while let element = try reader.next() { elements.append(element) }
        #expect(elements.last == .finished(CollectionSummary(context: "M", count: 5, nextLink: "N")))
        reader = CollectionPayloadReader(model: model, type: SampleService.order)
        reader.append(#"{"odata.error":{"code":"7","message":{"lang":"de","value":"Nein"}}}"#.utf8)
        reader.finish()
        #expect(throws: PayloadError.service(ODataErrorPayload(code: "7", message: "Nein", language: "de"))) {
            _ = try reader.next()
            _ = try reader.next()
            _ = try reader.next()
        }
    }
}
