import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

/// Members of Edm.Double collections keep all their digits in every operation on the collection.
@Suite("Collections of Edm.Double")
struct DoubleMemberTests {
    private func service() async throws -> StoreService {
        let metadata = """
            <edmx:Edmx Version="4.01" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
            <EntityType Name="Thing" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Rating" Type="Edm.Double"/>
            <Property Name="Scores" Type="Collection(Edm.Double)" Nullable="false"/></EntityType>
            <EntityContainer Name="Container"><EntitySet Name="Things" EntityType="S.Thing"/></EntityContainer>
            </Schema></edmx:DataServices></edmx:Edmx>
            """
        let definition = ServiceDefinition(model: try CSDLReader.read(xml: Array(metadata.utf8)))
        let service = try await StoreService.open(definition, at: .memory)
        let rows = """
            {"Things":[{"ID":1,"Rating":0.30000000000000004,"Scores":[0.30000000000000004,1e300,"INF"]},
            {"ID":2,"Rating":"NaN","Scores":[0.3,"NaN"]},{"ID":3,"Rating":"INF","Scores":[]}]}
            """
        try await service.seed(json: Array(rows.utf8))
        return service
    }

    private func entities(_ url: String) async throws -> [ODataEntity] {
        let service = try await service()
        let request = ODataRequest(.read, try ODataURL(parsing: url))
        guard case .page(let page) = try await service.execute(request).body else { throw ODataError.notFound(url) }
        return page.entities
    }

    @Test("5.1.4 Options within $select do not change members")
    func selected() async throws {
        let scores = ODataValue.collection([.double(0.30000000000000004), .double(1e300), .double(.infinity)])
        let things = try await entities("Things?$select=ID,Scores($top=3)&$orderby=ID")
        #expect(things.first?["Scores"] == scores)
        let filtered = try await entities("Things?$select=ID,Scores($filter=$it gt 0.30000000000000001)&$orderby=ID")
        #expect(filtered.first?["Scores"] == scores)
        guard case .collection(let members)? = filtered.dropFirst().first?["Scores"] else {
            Issue.record("no members")
            return
        }
        #expect(members.isEmpty)
    }

    @Test(
        "A list of computed values keeps all digits",
        arguments: [
            ("hassubset(Scores,[Rating])", [1, 2]), ("indexof(Scores,[Rating]) eq 0", [1]),
            ("hassubset([Rating],Scores)", [3]), ("contains(Scores,[Rating])", [1, 2]),
        ])
    func lists(filter: String, expected: [Int64]) async throws {
        let things = try await entities("Things?$filter=\(filter)&$orderby=ID")
        #expect(things.map { $0["ID"] } == expected.map { .integer($0) })
    }
}
