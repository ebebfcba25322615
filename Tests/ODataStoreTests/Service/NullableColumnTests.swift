import Foundation
import GRDB
import ODataFormat
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataSQL
@testable import ODataStore

@Suite("Required properties in nullable columns")
struct NullableColumnTests {
    private static let metadata = """
        <edmx:Edmx Version="4.01" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <ComplexType Name="Address"><Property Name="City" Type="Edm.String" Nullable="false"/></ComplexType>
        <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Rank" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Address" Type="N.Address"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="People" EntityType="N.Person"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private func people() async throws -> StoreService {
        let model = try CSDLReader.read(xml: Array(Self.metadata.utf8))
        let service = try await StoreService.open(ServiceDefinition(model: model), at: .memory)
        let rows = """
            {"People":[{"ID":1,"Rank":1,"Address":{"City":"Oslo"}},{"ID":2,"Rank":2,"Address":null},
            {"ID":3,"Rank":3,"Address":{"City":"Bergen"}},{"ID":4,"Rank":4,"Address":null}]}
            """
        try await service.seed(json: Array(rows.utf8))
        return service
    }

    private func walk(_ url: String, _ service: StoreService, size: Int) async throws -> [ODataValue?] {
        var keys: [ODataValue?] = []
        var next: String? = url
        while let link = next, keys.count < 20 {
            let request = ODataRequest(following: link, preferences: Preferences(maxPageSize: size))
            guard case .page(let page) = try await service.execute(request).body else { break }
            keys += page.entities.map { $0["ID"] }
            next = page.nextLink
        }
        return keys
    }

    @Test("Parts of a null complex value are null, in conditions and page orders")
    func nullComplex() async throws {
        let service = try await people()
        for (filter, expected) in [
            ("Address/City ne 'Oslo'", [2, 3, 4]), ("not (Address/City eq 'Oslo')", [2, 3, 4]),
            ("Address/City eq null", [2, 4]), ("Address/City le 'Oslo'", [1, 3]),
            ("not (Address/City lt 'C')", [1, 2, 4]), ("not (Address/City in ('Oslo','x'))", [2, 3, 4]),
            ("Address/City eq Address/City", [1, 2, 3, 4]), ("Address/City ne tolower(Address/City)", [1, 3]),
        ] as [(String, [ODataValue])] {
            #expect(try await walk("People?$filter=\(filter)", service, size: 10) == expected, "\(filter)")
        }
        for size in 1...5 {
            #expect(try await walk("People?$orderby=Address/City desc", service, size: size) == [1, 3, 2, 4])
            #expect(try await walk("People?$orderby=Address/City", service, size: size) == [2, 4, 3, 1])
        }
    }

    @Test("A property that is not loaded counts as null, in conditions and page orders")
    func notLoaded() async throws {
        let service = try await people()
        let table = try #require(service.core.mapping.tables["People"])
        let bit = try #require(table.columnBits["Rank"])
        var bits = [UInt8]()
        WritePlan.set(bit, in: &bits)
        try await service.database.write { [bits] database in
            try database.execute(
                sql:
                    "UPDATE \(table.table.sqlIdentifier) SET \"Rank\" = NULL, \(OfflineLayout.notLoadedColumn.sqlIdentifier) = ? "
                    + "WHERE \"ID\" IN (2, 3)", arguments: [Data(bits)])
        }
        #expect(try await walk("People?$filter=Rank ne 1", service, size: 10) == [2, 3, 4])
        #expect(try await walk("People?$filter=not (Rank gt 1)", service, size: 10) == [1, 2, 3])
        for size in 1...5 {
            #expect(try await walk("People?$orderby=Rank desc", service, size: size) == [4, 1, 2, 3])
        }
    }
}
