import Foundation
import ODataModel
import Testing

/// Entities as an app keeps them in its own files.
@Suite struct EntityCodableTests {
    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="N">
        <EnumType Name="Color"><Member Name="Red" Value="1"/></EnumType>
        <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/>
        <Property Name="Codes" Type="Collection(Edm.Int64)"/></ComplexType>
        <EntityType Name="T" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int64" Nullable="false"/><Property Name="Boolean" Type="Edm.Boolean"/>
        <Property Name="Single" Type="Edm.Single"/><Property Name="Double" Type="Edm.Double"/>
        <Property Name="Decimal" Type="Edm.Decimal" Scale="variable"/><Property Name="String" Type="Edm.String"/>
        <Property Name="Binary" Type="Edm.Binary"/><Property Name="Guid" Type="Edm.Guid"/>
        <Property Name="Date" Type="Edm.Date"/><Property Name="Time" Type="Edm.TimeOfDay"/>
        <Property Name="Instant" Type="Edm.DateTimeOffset"/><Property Name="Duration" Type="Edm.Duration"/>
        <Property Name="Color" Type="N.Color"/><Property Name="Address" Type="N.Address"/>
        <Property Name="Addresses" Type="Collection(N.Address)"/>
        <Property Name="Decimals" Type="Collection(Edm.Decimal)"/>
        <Property Name="Place" Type="Edm.GeographyPoint"/>
        <NavigationProperty Name="Parent" Type="N.T"/><NavigationProperty Name="Children" Type="Collection(N.T)"/>
        </EntityType><EntityContainer Name="C"><EntitySet Name="Ts" EntityType="N.T"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private func model() throws -> EntityDataModel { try CSDLReader.read(xml: Array(Self.metadata.utf8)) }

    private func copy(_ entity: Entity, _ model: EntityDataModel) throws -> Entity {
        let decoder = JSONDecoder()
        decoder.userInfo[.entityDataModel] = model
        return try decoder.decode(Entity.self, from: try JSONEncoder().encode(entity))
    }

    @Test func `an entity comes back as it went, every type of value`() throws {
        let model = try model()
        let shape = try #require(model.shape(ofSet: "Ts"))
        let address = Entity(
            shape: try #require(model.shape(QualifiedName("N", "Address"))), ["City": "Graz", "Codes": [1, 2]])
        var entity = Entity(
            shape: shape,
            [
                "ID": .integer(.max), "Boolean": true, "Single": .single(1.5), "Double": .double(.infinity),
                "Decimal": .decimal(try #require(ODataDecimal("12345678901234567890.123"))), "String": "ä\u{0}\"",
                "Binary": .binary([0, 255]),
                "Guid": .guid(try #require(ODataGuid("01234567-89ab-cdef-0123-456789abcdef"))),
                "Date": .date(try #require(ODataDate("2020-02-29"))),
                "Time": .timeOfDay(try #require(ODataTimeOfDay("07:30:00.5"))),
                "Instant": .dateTimeOffset(try #require(ODataDateTimeOffset("2020-02-29T00:00:00+02:00"))),
                "Duration": .duration(try #require(ODataDuration("P1DT2H"))), "Color": .enumeration(1),
                "Address": .complex(address), "Addresses": [.complex(address), .null],
                "Decimals": [.decimal(try #require(ODataDecimal("0.1")))],
                "Place": .geo(
                    try GeoValue(geoJSON: "{\"type\":\"Point\",\"coordinates\":[15.4,47.1]}", family: .geography)),
                "Extra": .guid(try #require(ODataGuid("01234567-89ab-cdef-0123-456789abcdef"))), "More": ["a", 1],
            ])
        entity.control.id = "Ts(1)"
        entity.control.etag = "W/\"1\""
        entity.related["Parent"] = .one(Entity(shape: shape, ["ID": 2]))
        entity.related["Children"] = .many([Entity(shape: shape, ["ID": 3])], count: 7, nextLink: "x")
        let read = try copy(entity, model)
        #expect(read == entity)
        #expect(read.control.id == "Ts(1)" && read.control.etag == "W/\"1\"")
        #expect(read.changedProperties.isEmpty)
        #expect(try copy(Entity(shape: shape, ["ID": 1, "String": .null]), model)["String"] == .null)
        #expect(try copy(Entity(shape: shape, ["ID": 1]), model)["String"] == nil, "not loaded is not null")
    }

    @Test func `what is wrong is a DecodingError`() throws {
        let model = try model()
        let decoder = JSONDecoder()
        let text = "{\"@odata.type\":\"#N.T\",\"ID\":1}"
        #expect(throws: DecodingError.self, "no model") { try decoder.decode(Entity.self, from: Data(text.utf8)) }
        decoder.userInfo[.entityDataModel] = model
        #expect(try decoder.decode(Entity.self, from: Data(text.utf8))["ID"] == 1)
        for wrong in [
            "{\"ID\":1}", "{\"@odata.type\":\"#N.Unknown\"}", "{\"@odata.type\":\"#N.T\",\"ID\":\"x\"}",
            "{\"@odata.type\":\"#N.T\",\"Guid\":\"x\"}", "{\"@odata.type\":\"#N.T\",\"Addresses\":[1]}",
            "{\"@odata.type\":\"#N.T\",\"Decimals\":[true]}", "{\"@odata.type\":\"#N.T\",\"Place\":\"x\"}", "[]",
        ] {
            #expect(throws: DecodingError.self, "\(wrong)") { try decoder.decode(Entity.self, from: Data(wrong.utf8)) }
        }
    }
}
