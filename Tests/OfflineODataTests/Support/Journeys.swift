import Foundation
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import OfflineOData

/// A service like TripPin: people with friends (other people) and contained trips. Plan items are of derived
/// types with further relations; one person is a singleton. Only the home airport has a foreign key.
final class Journeys: Sendable {
    let service: StoreService
    let wire: Wire
    let directory: URL

    init() async throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
        let definition = ServiceDefinition(model: try CSDLReader.read(xml: Array(Self.metadata.utf8)))
        service = try await StoreService.open(definition, at: .memory)
        wire = Wire(LoopbackTransport(ODataHandler(provider: service)))
        for (code, name) in [("AA", "American"), ("LH", "Lufthansa")] {
            try await service.create("Airlines", ["Code": .string(code), "Name": .string(name)])
        }
        for code in ["FRA", "SFO"] { try await service.create("Airports", ["Code": .string(code)]) }
        for (id, name) in [(1, "beach"), (2, "tower")] {
            try await service.create("Photos", ["ID": .integer(Int64(id)), "Name": .string(name)])
        }
        for name in ["ann", "bob", "cid"] {
            let home: ODataValue = name == "cid" ? .null : .string(name == "ann" ? "FRA" : "SFO")
            try await service.create("People", ["Name": .string(name), "Home": home])
        }
        try await service.link("People('ann')/Friends", to: "People('bob')")
        try await service.link("People('bob')/Friends", to: "People('cid')")
        try await relate("People('ann')/Photo", to: "Photos(1)")
        try await add("Trip", ["ID": 1, "Title": "West"], to: "People('ann')/Trips")
        try await add("Flight", ["ID": 1, "Seat": "1A"], to: "People('ann')/Trips(1)/PlanItems")
        try await add("Event", ["ID": 2, "Place": "Pier"], to: "People('ann')/Trips(1)/PlanItems")
        try await relate("People('ann')/Trips(1)/PlanItems(1)/J.Flight/Airline", to: "Airlines('LH')")
        try await service.link("People('ann')/Trips(1)/Photos", to: "Photos(2)")
        try await service.seed(json: Array(#"{"Me": {"Name": "eve"}}"#.utf8))
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// Sets the single-valued navigation property.
    private func relate(_ navigation: String, to target: String) async throws {
        _ = try await service.execute(
            ODataRequest(.replace, try ODataURL(parsing: navigation + "/$ref"), body: .reference(target)))
    }

    private func add(_ type: String, _ properties: [String: ODataValue], to url: String) async throws {
        try await service.add(type, properties, to: url)
    }

    static let root = "http://journeys.test/"

    func client() throws -> ODataClient {
        let session = try HTTPSession(wire, serviceRoot: Self.root, configuration: .init(retry: .none))
        return try ODataClient(serviceRoot: Self.root, transport: session)
    }

    /// Creates a downloaded store.
    ///
    /// - Parameter queries: the queries by name; if empty, those of the whole service.
    func clone(_ queries: [String: String] = [:]) async throws -> OfflineODataProvider {
        let client = try client()
        let wanted =
            try queries.isEmpty
            ? await ServiceSurvey.take(of: client).parts.map(\.query)
            : queries.sorted { $0.key < $1.key }.map { try DefiningQuery($0.key, $0.value) }
        let store = try await OfflineODataProvider.create(
            at: directory.appendingPathComponent(UUID().uuidString).path, protection: .unencrypted,
            serviceRoot: Self.root, remote: client, queries: wanted)
        try await store.download()
        return store
    }

    static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="J" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EntityType Name="Person">
            <Key><PropertyRef Name="Name"/></Key>
            <Property Name="Name" Type="Edm.String" Nullable="false"/>
            <Property Name="Home" Type="Edm.String"/>
            <NavigationProperty Name="Friends" Type="Collection(J.Person)"/>
            <NavigationProperty Name="Trips" Type="Collection(J.Trip)" ContainsTarget="true"/>
            <NavigationProperty Name="Photo" Type="J.Photo"/>
            <NavigationProperty Name="HomeAirport" Type="J.Airport">
              <ReferentialConstraint Property="Home" ReferencedProperty="Code"/>
            </NavigationProperty>
          </EntityType>
          <EntityType Name="Trip">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Title" Type="Edm.String"/>
            <NavigationProperty Name="Photos" Type="Collection(J.Photo)"/>
            <NavigationProperty Name="PlanItems" Type="Collection(J.PlanItem)" ContainsTarget="true"/>
          </EntityType>
          <EntityType Name="PlanItem">
            <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
          </EntityType>
          <EntityType Name="Flight" BaseType="J.PlanItem">
            <Property Name="Seat" Type="Edm.String"/><NavigationProperty Name="Airline" Type="J.Airline"/>
          </EntityType>
          <EntityType Name="Event" BaseType="J.PlanItem"><Property Name="Place" Type="Edm.String"/></EntityType>
          <EntityType Name="Airline">
            <Key><PropertyRef Name="Code"/></Key>
            <Property Name="Code" Type="Edm.String" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
          </EntityType>
          <EntityType Name="Airport">
            <Key><PropertyRef Name="Code"/></Key><Property Name="Code" Type="Edm.String" Nullable="false"/>
          </EntityType>
          <EntityType Name="Photo">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int64" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
          </EntityType>
          <EntityContainer Name="C">
            <EntitySet Name="People" EntityType="J.Person">
              <NavigationPropertyBinding Path="Friends" Target="People"/>
              <NavigationPropertyBinding Path="Photo" Target="Photos"/>
              <NavigationPropertyBinding Path="HomeAirport" Target="Airports"/>
              <NavigationPropertyBinding Path="Trips/Photos" Target="Photos"/>
              <NavigationPropertyBinding Path="Trips/PlanItems/J.Flight/Airline" Target="Airlines"/>
            </EntitySet>
            <EntitySet Name="Airlines" EntityType="J.Airline"/>
            <EntitySet Name="Airports" EntityType="J.Airport"/>
            <EntitySet Name="Photos" EntityType="J.Photo"/>
            <Singleton Name="Me" Type="J.Person"><NavigationPropertyBinding Path="Friends" Target="People"/></Singleton>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
}

extension ODataProvider {
    /// Creates an entity of a type in the namespace `J` in a contained collection.
    func add(_ type: String, _ properties: [String: ODataValue], to url: String) async throws {
        let model = try await model
        guard let shape = model.shape(QualifiedName("J", type)) else { throw ODataError.notFound(type) }
        _ = try await execute(
            ODataRequest(.create, try ODataURL(parsing: url), body: .entity(ODataEntity(shape: shape, properties))))
    }
}
