import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

/// Keys of rarely used types.
@Suite("Rule 11: unusual keys")
struct UnusualKeyTests {
    private func depot() async throws -> Depot {
        try await Depot { metadata in
            metadata.replacingOccurrences(
                of: "<EntityContainer Name=\"Container\">",
                with: """
                    <EnumType Name="Color"><Member Name="Red" Value="0"/><Member Name="Blue" Value="-5"/></EnumType>
                    <ComplexType Name="Place"><Property Name="Code" Type="Edm.String" Nullable="false"/></ComplexType>
                    <EntityType Name="Paint"><Key><PropertyRef Name="Color"/></Key>
                      <Property Name="Color" Type="Depot.Color" Nullable="false"/><Property Name="Text" Type="Edm.String"/>
                    </EntityType>
                    <EntityType Name="Mix"><Key><PropertyRef Name="Color"/><PropertyRef Name="No"/></Key>
                      <Property Name="Color" Type="Depot.Color" Nullable="false"/>
                      <Property Name="No" Type="Edm.Int32" Nullable="false"/><Property Name="Text" Type="Edm.String"/>
                    </EntityType>
                    <EntityType Name="Shelf"><Key><PropertyRef Name="Place/Code" Alias="code"/></Key>
                      <Property Name="Place" Type="Depot.Place" Nullable="false"/><Property Name="Text" Type="Edm.String"/>
                    </EntityType>
                    <EntityContainer Name="Container">
                    <EntitySet Name="Paints" EntityType="Depot.Paint"/><EntitySet Name="Mixes" EntityType="Depot.Mix"/>
                    <EntitySet Name="Shelves" EntityType="Depot.Shelf"/>
                    """)
        }
    }

    @Test("Entities with an enumeration key are changed and deleted by member names")
    func enumerations() async throws {
        let depot = try await depot()
        for color in [Int64(0), -5] {
            try await depot.service.create("Paints", ["Color": .enumeration(color), "Text": "old"])
            try await depot.service.create("Mixes", ["Color": .enumeration(color), "No": 1, "Text": "old"])
        }
        let store = try await depot.clone()
        try await store.change(.update, "Paints(Depot.Color'Blue')", "Paint", ["Text": "new"])
        try await store.change(.update, "Mixes(Color=Depot.Color'Blue',No=1)", "Mix", ["Text": "new"])
        try await store.delete("Paints(Depot.Color'Red')")
        let report = try await store.upload()
        #expect(report.failed.map(\.description) == [])
        #expect(try await depot.service.rows("Paints").map { $0["Text"] } == ["new"])
        #expect(try await depot.service.rows("Mixes?$orderby=Text desc").map { $0["Text"] } == ["old", "new"])
    }

    @Test("Entities with a key in a complex property can be read, and their changes are refused")
    func complex() async throws {
        let depot = try await depot()
        let model = depot.service.model
        let place = try #require(model.shape(QualifiedName("Depot", "Place")))
        try await depot.service.create(
            "Shelves", ["Place": .complex(ODataEntity(shape: place, ["Code": "a"])), "Text": "old"])
        let store = try await depot.clone()
        #expect(try await store.rows("Shelves").map { $0["Text"] } == ["old"])
        let new = ODataValue.complex(ODataEntity(shape: place, ["Code": "b"]))
        for work: @Sendable () async throws -> Void in [
            { try await store.change(.update, "Shelves(code='a')", "Shelf", ["Text": "new"]) },
            { try await store.change(.replace, "Shelves(code='a')", "Shelf", ["Text": "new"]) },
            { try await store.change(.create, "Shelves", "Shelf", ["Place": new]) },
            { try await store.delete("Shelves(code='a')") },
        ] {
            let error = await #expect(throws: ODataError.self) { try await work() }
            #expect(error?.status == 501, "\(String(describing: error))")
        }
        try await store.change(.update, "Headers(1)", "Header", ["Title": "new"])
        #expect(try await store.upload().failed.map(\.description) == [])
        #expect(try await store.rows("Shelves").map { $0["Text"] } == ["old"])
    }
}
