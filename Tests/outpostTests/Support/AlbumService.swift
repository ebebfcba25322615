import Foundation
import ODataHTTP
import ODataModel
import ODataQuery
import ODataServer
import ODataService
import ODataStore

/// A service with albums, which contain pages; with tags, to which no foreign key leads; with notes, to which one
/// does; and with a company, of which there is one.
final class AlbumService: Sendable {
    let service: StoreService

    init() async throws {
        service = try await StoreService.open(
            ServiceDefinition(model: try CSDLReader.read(xml: Array(Self.metadata.utf8))), at: .memory)
        try await service.seed(
            json: Array(
                #"""
                {"Albums": [{"ID": 1, "Name": "Summer"}, {"ID": 2, "Name": "Winter"}], "Company": {"Name": "Acme"},
                 "Tags": [{"ID": 1, "Name": "red"}], "Notes": [{"ID": 1, "AlbumID": 1}]}
                """#.utf8))
        try await execute(.create, "Albums(1)/Tags/$ref", .reference("Tags(1)"))
        guard let shape = service.model.shape(QualifiedName("N", "Page")) else { return }
        try await execute(.create, "Albums(1)/Pages", .entity(ODataEntity(shape: shape, ["ID": 1, "Title": "Cover"])))
    }

    private func execute(_ method: ODataRequest.Method, _ url: String, _ body: RequestBody) async throws {
        _ = try await service.execute(ODataRequest(method, try ODataURL(parsing: url), body: body))
    }

    /// The titles of the pages of an album.
    func pages(_ album: Int) async throws -> [ODataValue?] {
        let request = ODataRequest(.read, try ODataURL(parsing: "Albums(\(album))/Pages?$orderby=ID"))
        guard case .page(let page) = try await service.execute(request).body else { return [] }
        return page.entities.map { $0["Title"] }
    }

    /// Serves it while something is done.
    func serving(_ body: (String) async throws -> Void) async throws {
        let handler = ODataHandler(provider: service)
        let server = try await ODataServer { await handler.handle($0, $1) }.start()
        do {
            try await body("http://127.0.0.1:\(server.port)/")
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EntityType Name="Album">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
            <NavigationProperty Name="Pages" Type="Collection(N.Page)" ContainsTarget="true"/>
            <NavigationProperty Name="Tags" Type="Collection(N.Tag)"/>
            <NavigationProperty Name="Notes" Type="Collection(N.Note)" Partner="Album"/>
          </EntityType>
          <EntityType Name="Page">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Title" Type="Edm.String"/>
          </EntityType>
          <EntityType Name="Tag">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
          </EntityType>
          <EntityType Name="Note">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="AlbumID" Type="Edm.Int32"/>
            <NavigationProperty Name="Album" Type="N.Album" Partner="Notes">
              <ReferentialConstraint Property="AlbumID" ReferencedProperty="ID"/>
            </NavigationProperty>
          </EntityType>
          <EntityType Name="Company"><Property Name="Name" Type="Edm.String"/></EntityType>
          <EntityContainer Name="C">
            <EntitySet Name="Albums" EntityType="N.Album">
              <NavigationPropertyBinding Path="Tags" Target="Tags"/><NavigationPropertyBinding Path="Notes" Target="Notes"/>
            </EntitySet>
            <EntitySet Name="Tags" EntityType="N.Tag"/>
            <EntitySet Name="Notes" EntityType="N.Note">
              <NavigationPropertyBinding Path="Album" Target="Albums"/>
            </EntitySet>
            <Singleton Name="Company" Type="N.Company"/>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
}
