import Foundation
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import OfflineOData
import Testing

@Suite("A service that violates its own metadata")
struct UnstorableAnswerTests {
    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="T">
        <EntityType Name="Part"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Stock" Type="Edm.Int32"/>
        <Property Name="Price" Type="Edm.Decimal" Precision="10" Scale="2"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Parts" EntityType="T.Part"/></EntityContainer></Schema>
        </edmx:DataServices></edmx:Edmx>
        """

    /// Returns a service with two parts and a store of it. During an upload, the service returns a price with
    /// more decimal places than its metadata permits.
    private func parts(
        _ isUploading: LockedFlag
    ) async throws -> (service: StoreService, store: OfflineStore, folder: Folder) {
        let model = try CSDLReader.read(xml: Array(Self.metadata.utf8))
        let service = try await StoreService.open(ServiceDefinition(model: model), at: .memory)
        for id in 1...2 {
            try await service.create("Parts", ["ID": .integer(Int64(id)), "Stock": 1, "Price": .decimal(9)])
        }
        let root = "http://parts.test/"
        let client = try ODataClient(serviceRoot: root, transport: LoopbackTransport(ODataHandler(provider: service)))
        let gateway = Gateway(
            base: PlainService(base: client),
            after: { request, response in
                guard isUploading.isSet, case .entity(var part) = response.body, part["ID"] != 2
                else { return response }
                part["Price"] = .decimal(try #require(ODataDecimal("10.1255")))
                part.markUnchanged()
                var response = response
                response.body = .entity(part)
                return response
            })
        let folder = Folder()
        let store = try await OfflineStore.create(
            at: folder.url.appendingPathComponent("store").path, protection: .unencrypted, serviceRoot: root,
            remote: gateway)
        try await store.download()
        return (service, store, folder)
    }

    private func expectEqual(_ store: OfflineStore, _ service: StoreService) async throws {
        try await store.download()
        #expect(try await store.rows("Parts?$orderby=ID") == service.rows("Parts?$orderby=ID"))
    }

    @Test("in the response to a change does not block the queue: the change is accepted without the value")
    func accepted() async throws {
        let isUploading = LockedFlag()
        let (service, store, folder) = try await parts(isUploading)
        defer { withExtendedLifetime(folder) {} }
        try await store.update("Parts(1)", ["Stock": 77])
        try await store.create("Parts", ["ID": 3, "Stock": 3])
        try await store.update("Parts(2)", ["Stock": 78])
        isUploading.set()
        let report = try await store.upload()
        #expect(report.failed.map(\.entityText) == [])
        #expect(report.accepted.count == 3)
        #expect(try await store.observe.status().pending.isEmpty)
        let row = try #require(try await store.rows("Parts(1)").first)
        #expect(row["Stock"] == 77 && row["Price"] == .decimal(9))
        isUploading.clear()
        try await expectEqual(store, service)
    }

    @Test("in a conflict version does not block the queue: the conflict is archived and can be undone")
    func conflict() async throws {
        let isUploading = LockedFlag()
        let (service, store, folder) = try await parts(isUploading)
        defer { withExtendedLifetime(folder) {} }
        try await store.update("Parts(1)", ["Stock": 77])
        try await store.update("Parts(2)", ["Stock": 78])
        try await service.update("Parts(1)", ["Stock": 5])
        isUploading.set()
        let report = try await store.upload()
        #expect(report.failed.map(\.entityText) == ["Parts(1)"])
        #expect(report.accepted.map(\.entityText) == ["Parts(2)"])
        isUploading.clear()
        #expect(try await store.changes.undo([ODataURL(parsing: "Parts(1)")]) == 1)
        #expect(try await store.rows("Parts(1)").first?["Stock"] == 5)
        try await expectEqual(store, service)
    }
}
