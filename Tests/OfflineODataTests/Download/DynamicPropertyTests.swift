import ODataClient
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Synchronization
import Testing

@Suite("Dynamic properties that queries bring")
struct DynamicPropertyTests {
    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="T">
        <EntityType Name="Thing" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Text" Type="Edm.String"/></EntityType>
        <EntityType Name="Tool" BaseType="T.Thing" OpenType="true"><Property Name="Size" Type="Edm.Int32"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Things" EntityType="T.Thing"/></EntityContainer></Schema>
        </edmx:DataServices></edmx:Edmx>
        """

    /// Returns a store with a narrow query that selects only the colour, to which the service returns a newer
    /// value.
    private func store(in folder: Folder, _ transport: PagesTransport) async throws -> OfflineStore {
        let root = "http://dynamic.test/"
        let service = Gateway(
            base: try ODataClient(serviceRoot: root, transport: transport),
            after: { request, response in
                guard !request.url.options.select.isEmpty, case .page(var page) = response.body else { return response }
                for index in page.entities.indices {
                    page.entities[index].dynamicProperties = ["Colour": "blue"]
                    page.entities[index]["Text"] = nil
                    page.entities[index].markUnchanged()
                }
                var response = response
                response.body = .page(page)
                return response
            })
        return try await OfflineStore.create(
            at: folder.url.appendingPathComponent("store").path, protection: .unencrypted, serviceRoot: root,
            remote: service,
            queries: [DefiningQuery("wide", "Things"), DefiningQuery("narrow", "Things?$select=ID,Colour")])
    }

    private func transport(_ thing: String) -> PagesTransport {
        PagesTransport(answers: [
            "$metadata": Self.metadata, "Things": "{\"@odata.context\":\"$metadata#Things\",\"value\":[\(thing)]}",
        ])
    }

    @Test("are added to those of other queries in any order", arguments: [["wide", "narrow"], ["narrow", "wide"]])
    func merged(order: [String]) async throws {
        let folder = Folder()
        let store = try await store(
            in: folder, transport("{\"ID\":1,\"Text\":\"a\",\"Colour\":\"red\",\"Weight\":5}"))
        for query in order { try await store.download([query]) }
        let row = try #require(try await store.rows("Things(1)").first)
        #expect(row["Colour"] == (order.last == "wide" ? "red" : "blue"))
        #expect(row["Weight"] == 5 && row["Text"] == "a")
    }

    @Test("are removed if the complete entity lacks them")
    func gone() async throws {
        let folder = Folder()
        let transport = transport("{\"ID\":1,\"Text\":\"a\",\"Colour\":\"red\",\"Weight\":5}")
        let store = try await store(in: folder, transport)
        try await store.download(["wide"])
        transport.answers.withLock {
            $0["Things"] = "{\"@odata.context\":\"$metadata#Things\",\"value\":[{\"ID\":1,\"Text\":\"a\"}]}"
        }
        try await store.download(["wide"])
        let row = try #require(try await store.rows("Things(1)").first)
        #expect(row["Colour"] == nil && row["Weight"] == nil)
    }
}
