import ODataModel
import ODataQuery
import ODataService
import ODataStore
import Testing

@Suite("Foreign keys that only a derived type has")
struct DerivedReferenceTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Post" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EntityType Name="Person">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
          </EntityType>
          <EntityType Name="Paper">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
          </EntityType>
          <EntityType Name="Letter" BaseType="Post.Paper">
            <Property Name="WriterID" Type="Edm.Int32"/>
            <NavigationProperty Name="Writer" Type="Post.Person">
              <ReferentialConstraint Property="WriterID" ReferencedProperty="ID"/>
            </NavigationProperty>
          </EntityType>
          <EntityContainer Name="Container">
            <EntitySet Name="People" EntityType="Post.Person"/>
            <EntitySet Name="Papers" EntityType="Post.Paper">
              <NavigationPropertyBinding Path="Post.Letter/Writer" Target="People"/>
            </EntitySet>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private let service: StoreService

    init() async throws {
        service = try await StoreService.open(
            ServiceDefinition(model: try CSDLReader.read(xml: Array(Self.metadata.utf8))), at: .memory)
        let person = ODataEntity(shape: try #require(service.model.shape(QualifiedName("Post", "Person"))), ["ID": 1])
        _ = try await service.execute(ODataRequest(.create, try ODataURL(parsing: "People"), body: .entity(person)))
        let shape = try #require(service.model.shape(QualifiedName("Post", "Letter")))
        var letter = ODataEntity(shape: shape, ["ID": 1, "WriterID": 1])
        letter.control.type = shape.name
        _ = try await service.execute(
            ODataRequest(.create, try ODataURL(parsing: "Papers"), body: .entity(letter)))
    }

    private func writer() async throws -> ODataValue? {
        let response = try await service.execute(ODataRequest(.read, try ODataURL(parsing: "Papers(1)")))
        guard case .entity(let entity) = response.body else { return nil }
        return entity["WriterID"]
    }

    @Test("do not prevent the deletion of other entities")
    func dependent() async throws {
        #expect(try await writer() == 1)
        _ = try await service.execute(ODataRequest(.delete, try ODataURL(parsing: "Papers(1)")))
        await #expect(throws: ODataError.self) { _ = try await writer() }
    }

    @Test("are null after their target is deleted")
    func principal() async throws {
        _ = try await service.execute(ODataRequest(.delete, try ODataURL(parsing: "People(1)")))
        #expect(try await writer() == .null)
    }
}
