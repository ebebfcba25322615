import Foundation
import ODataFormat
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import OfflineOData
import Testing

@Suite("Local keys beside extreme keys of a service")
struct ExtremeKeyTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EntityType Name="Plan"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int64" Nullable="false"/>
            <Property Name="Title" Type="Edm.String"/>
          </EntityType>
          <EntityContainer Name="C"><EntitySet Name="Plans" EntityType="S.Plan"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private func store(_ rows: String) async throws -> (OfflineStore, String) {
        let model = try CSDLReader.read(xml: Array(Self.metadata.utf8))
        let service = try await StoreService.open(ServiceDefinition(model: model), at: .memory)
        try await service.seed(json: Array(#"{"Plans":[\#(rows)]}"#.utf8))
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)").path
        let store = try await OfflineStore.create(
            at: path, protection: .unencrypted, serviceRoot: "http://plans.test/", remote: service)
        try await store.download()
        return (store, path)
    }

    @Test("A service that uses the smallest number as a key leaves no temporary key")
    func leastKey() async throws {
        let (store, path) = try await store(#"{"ID":-9223372036854775808,"Title":"least"}"#)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let error = await #expect(throws: ODataError.self) { try await store.create("Plans", ["Title": "new"]) }
        #expect(error?.code == "KeyRequired" && error?.target == "ID")
        try await store.create("Plans", ["ID": 5, "Title": "new"])
        #expect(try await store.observe.status().pending.count == 1)
    }

    @Test("A text in another Unicode normal form is a change that is sent")
    func normalForm() async throws {
        let (store, path) = try await store(#"{"ID":1,"Title":"\u00E9"}"#)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await store.update("Plans(1)", ["Title": .string("e\u{301}")])
        #expect(try await store.observe.status().pending.count == 1)
    }
}
