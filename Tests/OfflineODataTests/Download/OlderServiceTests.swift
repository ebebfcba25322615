import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A service of OData 2.0")
struct OlderServiceTests {
    private func store(_ shop: Shop) async throws -> (OfflineStore, Wire) {
        let root = "http://shop.test/v2/"
        let handler = try ODataV2Handler(provider: shop.database, serviceRoot: root)
        let wire = Wire(LoopbackTransport(handle: { await handler.handle($0, $1) }))
        let store = try await OfflineStore.create(
            at: shop.directory.appendingPathComponent("older").path, protection: .unencrypted, serviceRoot: root,
            remote: try ODataClient(serviceRoot: root, transport: wire))
        try await store.download()
        return (store, wire)
    }

    @Test("is cloned, changed and synchronised, including change sets and refusals")
    func synchronised() async throws {
        let shop = try await Shop()
        let (store, wire) = try await store(shop)
        #expect(store.serviceModel.version < .v4)
        #expect(try await store.rows("Orders").count == 200)
        try await store.update("Products(1)", ["Stock": 5])
        try await store.update("Products(6)", ["Stock": -4])
        try await store.changes.transaction { changes in
            let category = try changes.create("Categories", ["Name": "New"])
            try changes.create(
                "Products",
                [
                    "Name": "X", "CategoryID": category["CategoryID"] ?? .null, "Price": .decimal(ODataDecimal(1)),
                    "Stock": 1,
                ])
        }
        await wire.mend()
        let report = try await store.upload()
        #expect(report.accepted.count == 3, "\(report.failed)")
        #expect(report.failed.map(\.entityText) == ["Products(6)"])
        #expect(await wire.requests.contains { $0.path?.hasSuffix("$batch") == true })
        #expect(try await store.rows("ErrorArchive?$expand=CustomHeaders").count == 1)
        #expect(try await store.rows("Products?$filter=sap.islocal()").count == 3)
        try await store.changes.discard()
        try await shop.sql("UPDATE Customers SET City = 'Changed' WHERE CustomerID = 'C0001'")
        try await shop.sql("DELETE FROM \"Order Lines\" WHERE OrderID = 1003 AND LineNumber = 1")
        try await store.sync()
        #expect(try await store.rows("Customers('C0001')").first?["City"] == "Changed")
        #expect(try await store.rows("Order_Lines?$filter=OrderID eq 1003 and LineNumber eq 1").isEmpty)
        #expect(try await store.rows("Products?$filter=Name eq 'X' and CategoryID gt 0").count == 1)
        #expect(try await store.observe.status().pending.isEmpty)
    }

    @Test("supports links of collections although it has no $id")
    func relations() async throws {
        let studio = try await Studio()
        let root = "http://studio.test/v2/"
        let handler = try ODataV2Handler(provider: studio.service, serviceRoot: root)
        let transport = LoopbackTransport(handle: { await handler.handle($0, $1) })
        let store = try await OfflineStore.create(
            at: studio.directory.appendingPathComponent("older").path, protection: .unencrypted, serviceRoot: root,
            remote: try ODataClient(serviceRoot: root, transport: transport),
            queries: [try DefiningQuery("albums", "Albums?$expand=Tags"), DefiningQuery(entitySet: "Tags")])
        try await store.download()
        try await store.link("Albums(1)/Tags", to: "Tags(3)")
        var unlink = ODataRequest(.delete, try ODataURL(parsing: "Albums(1)/Tags/$ref"))
        unlink.url.options.id = "Tags(1)"
        _ = try await store.execute(unlink)
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(try await studio.service.rows("Albums(1)/Tags?$orderby=ID").map { $0["Name"] } == ["blue", "green"])
    }
}
