import Foundation
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import OfflineOData
import Testing

/// A real service with keys that contain other keys. Headers have generated keys, items have the key of their
/// header, and schedules refer only to their item. Letters (a derived type) and slips (contained in boxes)
/// refer to headers.
final class Depot: Sendable {
    let service: StoreService
    let wire: Wire
    private let directory: URL

    /// - Parameter alteration: a closure that changes the metadata of the service.
    init(_ alteration: (String) -> String = { $0 }) async throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
        // Entities arrive in any order, even before those to which they refer.
        var options = StoreService.Options()
        options.requiresPrincipals = false
        service = try await StoreService.open(
            ServiceDefinition(model: try CSDLReader.read(xml: Array(alteration(Self.metadata).utf8))), at: .memory,
            options: options)
        wire = Wire(LoopbackTransport(ODataHandler(provider: service)))
        // The existing headers keep generated keys from matching temporary ones by chance.
        for title in ["first", "second"] { try await service.create("Headers", ["Title": .string(title)]) }
        try await service.create("Boxes", ["ID": 1])
        try await service.change(.create, "Boxes(1)/Slips", "Slip", ["No": 1, "HeaderID": 1])
        try await service.change(.create, "Boxes(1)/Slips(1)/Marks", "Mark", ["No": 1, "Text": "red"])
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func client() throws -> ODataClient {
        let root = "http://depot.test/"
        let session = try HTTPSession(wire, serviceRoot: root, configuration: .init(retry: .none))
        return try ODataClient(serviceRoot: root, transport: session)
    }

    func clone(
        _ queries: [DefiningQuery] = [], options: OfflineODataProvider.Options = .init(),
        through remote: (any ODataProvider)? = nil
    ) async throws -> OfflineODataProvider {
        let service: any ODataProvider
        if let remote { service = remote } else { service = try client() }
        let store = try await OfflineODataProvider.create(
            at: directory.appendingPathComponent("clone").path, protection: .unencrypted,
            serviceRoot: "http://depot.test/", remote: service, queries: queries, options: options)
        try await store.download()
        return store
    }

    /// Opens the store that ``clone(_:options:through:)`` created, with another service.
    func reopen(at other: Depot) async throws -> OfflineODataProvider {
        let client = try other.client()
        return try await OfflineODataProvider.open(
            at: directory.appendingPathComponent("clone").path, protection: .unencrypted, connect: { _, _ in client })
    }

    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Depot" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EntityType Name="Header">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int64" Nullable="false">
              <Annotation Term="Org.OData.Core.V1.ComputedDefaultValue" Bool="true"/>
            </Property>
            <Property Name="Title" Type="Edm.String"/>
          </EntityType>
          <EntityType Name="Item">
            <Key><PropertyRef Name="HeaderID"/><PropertyRef Name="No"/></Key>
            <Property Name="HeaderID" Type="Edm.Int64" Nullable="false"/>
            <Property Name="No" Type="Edm.Int32" Nullable="false"/>
            <NavigationProperty Name="Header" Type="Depot.Header">
              <ReferentialConstraint Property="HeaderID" ReferencedProperty="ID"/>
            </NavigationProperty>
          </EntityType>
          <EntityType Name="Schedule">
            <Key><PropertyRef Name="HeaderID"/><PropertyRef Name="ItemNo"/><PropertyRef Name="No"/></Key>
            <Property Name="HeaderID" Type="Edm.Int64" Nullable="false"/>
            <Property Name="ItemNo" Type="Edm.Int32" Nullable="false"/>
            <Property Name="No" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Day" Type="Edm.String"/>
            <NavigationProperty Name="Item" Type="Depot.Item">
              <ReferentialConstraint Property="HeaderID" ReferencedProperty="HeaderID"/>
              <ReferentialConstraint Property="ItemNo" ReferencedProperty="No"/>
            </NavigationProperty>
          </EntityType>
          <EntityType Name="Paper">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int64" Nullable="false"/>
            <Property Name="Text" Type="Edm.String"/>
          </EntityType>
          <EntityType Name="Letter" BaseType="Depot.Paper">
            <Property Name="HeaderID" Type="Edm.Int64"/>
            <NavigationProperty Name="Header" Type="Depot.Header">
              <ReferentialConstraint Property="HeaderID" ReferencedProperty="ID"/>
            </NavigationProperty>
          </EntityType>
          <EntityType Name="Box">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int64" Nullable="false"/>
            <NavigationProperty Name="Slips" Type="Collection(Depot.Slip)" ContainsTarget="true"/>
          </EntityType>
          <EntityType Name="Slip">
            <Key><PropertyRef Name="No"/></Key>
            <Property Name="No" Type="Edm.Int32" Nullable="false"/>
            <Property Name="HeaderID" Type="Edm.Int64"/>
            <NavigationProperty Name="Header" Type="Depot.Header">
              <ReferentialConstraint Property="HeaderID" ReferencedProperty="ID"/>
            </NavigationProperty>
            <NavigationProperty Name="Marks" Type="Collection(Depot.Mark)" ContainsTarget="true"/>
          </EntityType>
          <EntityType Name="Mark">
            <Key><PropertyRef Name="No"/></Key>
            <Property Name="No" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Text" Type="Edm.String"/>
          </EntityType>
          <EntityContainer Name="Container">
            <EntitySet Name="Headers" EntityType="Depot.Header"/>
            <EntitySet Name="Items" EntityType="Depot.Item">
              <NavigationPropertyBinding Path="Header" Target="Headers"/>
            </EntitySet>
            <EntitySet Name="Schedules" EntityType="Depot.Schedule">
              <NavigationPropertyBinding Path="Item" Target="Items"/>
            </EntitySet>
            <EntitySet Name="Papers" EntityType="Depot.Paper">
              <NavigationPropertyBinding Path="Depot.Letter/Header" Target="Headers"/>
            </EntitySet>
            <EntitySet Name="Boxes" EntityType="Depot.Box">
              <NavigationPropertyBinding Path="Slips/Header" Target="Headers"/>
            </EntitySet>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
}

extension ODataProvider {
    /// Creates or changes an entity of a type in the model's only schema.
    func change(
        _ method: ODataRequest.Method, _ url: String, _ type: String, _ properties: [String: ODataValue]
    ) async throws {
        let model = try await model
        let namespace = try #require(model.schemas.first).namespace
        let shape = try #require(model.shape(QualifiedName(namespace, type)))
        var entity = ODataEntity(shape: shape, properties)
        // The type may be derived from that of the set.
        entity.control.type = shape.name
        _ = try await execute(ODataRequest(method, try ODataURL(parsing: url), body: .entity(entity)))
    }
}
