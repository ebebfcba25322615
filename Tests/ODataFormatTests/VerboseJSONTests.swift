import ODataModel
import Testing

@testable import ODataFormat

/// A V2 service with an example of everything that is specific to the formats of V2.
enum LegacyService {
    static let room = QualifiedName("Ref", "Room")
    static let metadata = """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
        <edmx:DataServices xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" m:DataServiceVersion="2.0">
        <Schema Namespace="Ref" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
          <EntityType Name="Room"><Key><PropertyRef Name="Id"/></Key>
            <Property Name="Id" Type="Edm.String" Nullable="false"/>
            <Property Name="Name" Type="Edm.String" m:FC_TargetPath="SyndicationTitle" m:FC_ContentKind="text" m:FC_KeepInContent="false"/>
            <Property Name="Seats" Type="Edm.Int64"/>
            <Property Name="Price" Type="Edm.Decimal" Precision="10" Scale="3"/>
            <Property Name="Area" Type="Edm.Double"/>
            <Property Name="Built" Type="Edm.DateTime"/>
            <Property Name="Seen" Type="Edm.DateTimeOffset"/>
            <Property Name="Opens" Type="Edm.Time"/>
            <Property Name="Plan" Type="Edm.Binary"/>
            <Property Name="Code" Type="Edm.Guid"/>
            <Property Name="Site" Type="Ref.Site"/>
            <NavigationProperty Name="Building" Relationship="Ref.BuildingRooms" FromRole="Rooms" ToRole="Building"/>
            <NavigationProperty Name="Desks" Relationship="Ref.RoomDesks" FromRole="Room" ToRole="Desks"/>
          </EntityType>
          <EntityType Name="Hall" BaseType="Ref.Room" m:HasStream="true"><Property Name="Stage" Type="Edm.Boolean"/></EntityType>
          <EntityType Name="Building"><Key><PropertyRef Name="Id"/></Key><Property Name="Id" Type="Edm.String" Nullable="false"/></EntityType>
          <EntityType Name="Desk"><Key><PropertyRef Name="No"/></Key><Property Name="No" Type="Edm.Int32" Nullable="false"/></EntityType>
          <ComplexType Name="Site"><Property Name="City" Type="Edm.String"/><Property Name="Spot" Type="Ref.Spot"/></ComplexType>
          <ComplexType Name="Spot"><Property Name="Row" Type="Edm.Int32"/></ComplexType>
          <Association Name="BuildingRooms"><End Type="Ref.Building" Multiplicity="0..1" Role="Building"/><End Type="Ref.Room" Multiplicity="*" Role="Rooms"/></Association>
          <Association Name="RoomDesks"><End Type="Ref.Room" Multiplicity="0..1" Role="Room"/><End Type="Ref.Desk" Multiplicity="*" Role="Desks"/></Association>
          <EntityContainer Name="C" m:IsDefaultEntityContainer="true">
            <EntitySet Name="Rooms" EntityType="Ref.Room"/><EntitySet Name="Buildings" EntityType="Ref.Building"/><EntitySet Name="Desks" EntityType="Ref.Desk"/>
            <AssociationSet Name="BR" Association="Ref.BuildingRooms"><End EntitySet="Buildings" Role="Building"/><End EntitySet="Rooms" Role="Rooms"/></AssociationSet>
            <AssociationSet Name="RD" Association="Ref.RoomDesks"><End EntitySet="Rooms" Role="Room"/><End EntitySet="Desks" Role="Desks"/></AssociationSet>
            <FunctionImport Name="Ping" m:HttpMethod="POST"/>
            <FunctionImport Name="SeatsOf" ReturnType="Edm.Int64" m:HttpMethod="GET">
              <Parameter Name="Id" Type="Edm.String" Mode="In"/><Parameter Name="Since" Type="Edm.DateTime" Mode="In"/>
              <Parameter Name="Limit" Type="Edm.Int64" Mode="In"/></FunctionImport>
            <FunctionImport Name="MainSite" ReturnType="Ref.Site" m:HttpMethod="GET"/>
            <FunctionImport Name="Names" ReturnType="Collection(Edm.String)" m:HttpMethod="GET"/>
            <FunctionImport Name="Sites" ReturnType="Collection(Ref.Site)" m:HttpMethod="GET"/>
            <FunctionImport Name="Best" ReturnType="Ref.Room" EntitySet="Rooms" m:HttpMethod="GET"/>
            <FunctionImport Name="Free" ReturnType="Collection(Ref.Room)" EntitySet="Rooms" m:HttpMethod="GET"/>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    static func model() throws -> EntityDataModel { try CSDLReader.read(xml: Array(metadata.utf8)) }
}

@Suite("Verbose JSON")
struct VerboseJSONTests {
    private let model: EntityDataModel
    private let room = LegacyService.room

    init() throws { model = try LegacyService.model() }

    private let full = #"""
        {"d":{"__metadata":{"id":"Rooms('1')","uri":"Rooms('1')","type":"Ref.Room","etag":"W/\"2\""},"Id":"1",
        "Name":null,"Seats":"9007199254740993","Price":"2.500","Area":"1.5E+02","Built":"\/Date(915148800123)\/",
        "Seen":"\/Date(915148800000+0060)\/","Opens":"PT8H30M","Plan":"+/8=","Code":"01234567-89ab-cdef-0123-456789abcdef",
        "Site":{"__metadata":{"type":"Ref.Site"},"City":"Rome","Spot":{"Row":3}},
        "Building":{"__deferred":{"uri":"Rooms('1')/Building"}},
        "Desks":{"__count":"7","results":[{"__metadata":{"uri":"Desks(1)"},"No":1}],"__next":"Desks?$skip=1"}}}
        """#

    private func read(_ text: String, _ strictness: Strictness = .strict) throws(PayloadError) -> ODataEntity {
        try VerboseEntityReader(model: model, strictness: strictness).read(Array(text.utf8), type: room).entity
    }

    private func written(_ entity: ODataEntity, _ writer: VerboseEntityWriter? = nil) -> String {
        var json = JSONWriter()
        (writer ?? VerboseEntityWriter(model: model)).writeBody(entity, to: &json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    @Test("values of every type and control information are read")
    func entry() throws {
        let entity = try read(full)
        #expect(entity.control.id == "Rooms('1')" && entity.control.etag == "W/\"2\"")
        #expect(entity["Seats"] == 9_007_199_254_740_993)
        #expect(entity["Price"] == .decimal(try #require(ODataDecimal("2.5"))))
        #expect(entity["Area"] == .double(150))
        #expect(entity["Built"] == .dateTime(try #require(ODataDateTime("1999-01-01T00:00:00.123"))))
        #expect(entity["Seen"] == .dateTimeOffset(try #require(ODataDateTimeOffset("1999-01-01T01:00:00+01:00"))))
        #expect(entity["Plan"] == .binary([0xFB, 0xFF]))
        #expect(entity["Name"] == .null)
        guard case .complex(let site)? = entity["Site"], case .complex(let spot)? = site["Spot"] else {
            Issue.record("no site")
            return
        }
        #expect(spot["Row"] == 3)
        #expect(entity.control.annotations["Building@odata.navigationLink"] == "Rooms('1')/Building")
        guard case .many(let desks, 7, "Desks?$skip=1")? = entity.related["Desks"] else {
            Issue.record("no desks")
            return
        }
        #expect(desks.map { $0["No"] } == [1])
    }

    @Test("verbose JSON that is read and written again means the same", arguments: [ODataVersion.v2, .v3])
    func roundTrip(version: ODataVersion) throws {
        let entity = try read(full)
        let text = written(entity, VerboseEntityWriter(model: model, version: version))
        let again = try read(text)
        #expect(again == entity)
        #expect(again.control.annotations == entity.control.annotations && again.control.etag == entity.control.etag)
        #expect(text.contains(#""Seats":"9007199254740993""#) && text.contains(#""Plan":"+/8=""#))
        #expect(text.contains(#""Built":"\/Date(915148800123)\/""#) == (version == .v2))
        #expect(text.contains(#""Seen":"\/Date(915148800000+0060)\/""#) == (version == .v2))
    }

    @Test("an instant finer than a millisecond keeps its precision")
    func fine() throws {
        let text = #"{"Id":"1","Built":"1999-01-01T00:00:00.1234567"}"#
        let entity = try read(text)
        #expect(try read(written(entity)) == entity)
    }

    @Test("requests contain only derived types, references and inline entries as metadata")
    func request() throws {
        var hall = ODataEntity(
            shape: try #require(model.shape(QualifiedName("Ref", "Hall"))), ["Id": "1", "Stage": true])
        hall.control.type = hall.shape.name
        hall.control.etag = "x"
        hall.related["Building"] = .references(["Buildings('1')"])
        hall.related["Desks"] = .many([
            ODataEntity(shape: try #require(model.shape(QualifiedName("Ref", "Desk"))), ["No": 1])
        ])
        let writer = VerboseEntityWriter(model: model, isResponse: false)
        let text = written(hall, writer)
        #expect(
            text
                == #"{"__metadata":{"type":"Ref.Hall"},"Id":"1","Stage":true,"Building":{"__metadata":{"uri":"Buildings('1')"}},"Desks":{"results":[{"No":1}]}}"#
        )
        let again = try read(text)
        #expect(again == hall && again.related["Building"] == .references(["Buildings('1')"]))
        let bare = VerboseEntityWriter(model: model, isResponse: false, includesRelated: false)
        #expect(written(hall, bare) == #"{"__metadata":{"type":"Ref.Hall"},"Id":"1","Stage":true}"#)
    }

    @Test("a service reads a link in a new entity as a reference")
    func binding() throws {
        let text = #"{"Id":"1","Building":{"__deferred":{"uri":"Buildings('7')"}}}"#
        #expect(try read(text, .strict).related["Building"] == .references(["Buildings('7')"]))
        #expect(try read(text, .lenient).control.annotations["Building@odata.navigationLink"] == "Buildings('7')")
    }

    @Test("the type may stand behind the other members")
    func lateType() throws {
        let entity = try read(#"{"d":{"Stage":true,"Id":"1","__metadata":{"type":"Ref.Hall","media_src":"m"}}}"#)
        #expect(entity.shape.name.name == "Hall" && entity["Stage"] == true && entity.control.mediaReadLink == "m")
    }

    @Test(
        "a feed is read in all its forms, for any chunk size",
        arguments: [
            #"{"d":[{"Id":"1"},{"Id":"2"}]}"#, #"{"d":{"results":[{"Id":"1"},{"Id":"2"}]}}"#,
            #"{"results":[{"Id":"1"},{"Id":"2"}]}"#,
        ])
    func feed(text: String) throws {
        for size in [1, 7, 1000] {
            var reader = CollectionPayloadReader(model: model, type: room, dialect: .verbose)
            var ids: [ODataValue?] = []
            var rest = Array(text.utf8)[...]
            while true {
                while let element = try reader.next() {
                    if case .entity(let entity) = element { ids.append(entity["Id"]) }
                }
                if rest.isEmpty { break }
                reader.append(rest.prefix(size))
                rest = rest.dropFirst(size)
                if rest.isEmpty { reader.finish() }
            }
            #expect(ids == ["1", "2"])
        }
    }

    @Test("a feed gives count, next link, delta link and removed entries")
    func summary() throws {
        var writer = VerboseCollectionWriter(VerboseEntityWriter(model: model))
        writer.begin(count: 2)
        writer.entity(try read(full))
        writer.removed(id: "Rooms('3')", set: "Rooms")
        writer.end(nextLink: "N", deltaLink: "D")
        var reader = CollectionPayloadReader(model: model, type: room, dialect: .verbose)
        reader.append(writer.json.bytes)
        reader.finish()
        var elements: [CollectionPayloadReader.Element] = []
        while let element = try reader.next() { elements.append(element) }
        #expect(
            elements == [
                .entity(try read(full)), .removed(id: "Rooms('3')", entity: nil, reason: "changed"),
                .finished(CollectionSummary(count: 2, nextLink: "N", deltaLink: "D")),
            ])
    }

    @Test("a feed that ends with an error is not complete")
    func inStream() throws {
        var writer = VerboseCollectionWriter(VerboseEntityWriter(model: model))
        writer.begin()
        writer.fail(ODataErrorPayload(code: "7", message: "Gone"))
        var reader = CollectionPayloadReader(model: model, type: room, dialect: .verbose)
        reader.append(writer.json.bytes)
        reader.finish()
        let error = #expect(throws: PayloadError.self) { while try reader.next() != nil {} }
        #expect(error == .service(ODataErrorPayload(code: "7", message: "Gone", language: "en")))
    }

    @Test("properties and operation results of every kind are read")
    func values() throws {
        func value(_ text: String, _ type: TypeReference) throws -> ODataValue {
            try ValuePayload(verboseJSON: Array(text.utf8), type: type, model: model).value
        }
        #expect(try value(#"{"d":{"SeatsOf":"12"}}"#, .primitive(.int64)) == 12)
        #expect(try value(#"{"d":{"Name":null}}"#, .primitive(.string)) == .null)
        #expect(try value(#"{"d":5}"#, .primitive(.int32)) == 5)
        #expect(try value(#"{"d":{"results":["a","b"]}}"#, .collection(.primitive(.string))) == ["a", "b"])
        #expect(try value(#"{"d":{"Names":["a"]}}"#, .collection(.primitive(.string))) == ["a"])
        #expect(try value(#"{"d":["a"]}"#, .collection(.primitive(.string))) == ["a"])
        let site = QualifiedName("Ref", "Site")
        for text in [
            #"{"d":{"MainSite":{"__metadata":{"type":"Ref.Site"},"City":"Rome"}}}"#,
            #"{"d":{"__metadata":{"type":"Ref.Site"},"City":"Rome"}}"#, #"{"d":{"City":"Rome"}}"#,
        ] {
            guard case .complex(let entity) = try value(text, .complex(site)) else {
                Issue.record("no site")
                continue
            }
            #expect(entity["City"] == "Rome")
        }
        guard
            case .collection(let sites) = try value(
                #"{"d":{"results":[{"City":"A"},{"City":"B"}]}}"#, .collection(.complex(site)))
        else {
            Issue.record("no sites")
            return
        }
        #expect(sites.count == 2)
    }

    @Test("links are read in all their forms")
    func links() throws {
        func ids(_ text: String) throws -> ReferencePayload { try ReferencePayload(json: Array(text.utf8)) }
        #expect(try ids(#"{"d":{"uri":"A"}}"#) == ReferencePayload(ids: ["A"], isCollection: false))
        #expect(try ids(#"{"uri":"A"}"#).ids == ["A"])
        #expect(try ids(#"{"d":[{"uri":"A"}]}"#) == ReferencePayload(ids: ["A"], isCollection: true))
        #expect(
            try ids(#"{"d":{"__count":"2","results":[{"uri":"A"},{"uri":"B"}],"__next":"N"}}"#)
                == ReferencePayload(ids: ["A", "B"], isCollection: true, count: 2, nextLink: "N"))
        #expect(try ids(##"{"@odata.context":"$metadata#$ref","@odata.id":"A"}"##).context == "$metadata#$ref")
        #expect(throws: PayloadError.self) { try ids(#"{"d":{}}"#) }
        #expect(throws: PayloadError.self) { try ids(#"{"value":[{}]}"#) }
    }

    @Test("an entry with a repeated name is refused with its place")
    func duplicate() {
        let error = #expect(throws: PayloadError.self) { try read(#"{"d":{"Id":"1","Id":"2"}}"#, .lenient) }
        guard case .malformed(let json)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(json.reason == .duplicateMember("Id") && json.position.offset >= 15)
    }

    @Test("details of an error are read from the inner error")
    func gatewayError() throws {
        let error = try ODataErrorPayload(
            json: Array(
                #"{"error":{"code":"ZX/001","message":{"lang":"en","value":"No"},"innererror":{"transactionid":"1","errordetails":[{"code":"A","message":"a","propertyref":"Room/Id","severity":"error"},{"code":"B","message":"b","propertyref":"","target":""}]}}}"#
                    .utf8))
        #expect(error.message == "No" && error.language == "en")
        #expect(error.details == [.init(code: "A", message: "a", target: "Room/Id"), .init(code: "B", message: "b")])
        var json = JSONWriter()
        error.write(to: &json, dialect: .verbose)
        #expect(try ODataErrorPayload(json: json.bytes) == error)
    }

    @Test("a percent sign without two hexadecimal digits stands for itself", arguments: ["a%+Ab", "a%-1", "a%4", "%"])
    func percentSigns(url: String) throws {
        let document = try ServiceDocument(verboseJSON: Array(#"{"d":{"EntitySets":["\#(url)"]}}"#.utf8))
        #expect(document.entries.map(\.name) == [url])
    }

    @Test("the service document lists the sets")
    func serviceDocument() throws {
        let text = #"{"d":{"EntitySets":["Rooms","%3AOdd"]}}"#
        let document = try ServiceDocument(verboseJSON: Array(text.utf8))
        #expect(document.entries.map(\.name) == ["Rooms", ":Odd"] && document.entries[1].url == "%3AOdd")
        var json = JSONWriter()
        document.writeVerbose(to: &json)
        #expect(String(decoding: json.bytes, as: UTF8.self) == text)
    }
}
