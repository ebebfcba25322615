import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Testing

/// The client with our own V2 endpoint in memory: the same program works with V2 and V4.
@Suite struct V2RoundTripTests {
    @Test(arguments: [MessageDialect.EntityFormat.json, .atom])
    func `an app reads and writes through V2 as it does through V4`(format: MessageDialect.EntityFormat) async throws {
        let service = try MemoryService()
        let handler = try ODataV2Handler(provider: service, serviceRoot: "/v2/")
        let transport = LoopbackTransport { await handler.handle($0, $1) }
        let client = try await ODataClient(
            "http://service.test/v2/", transport: transport, configuration: .init(entityFormat: format))
        #expect(try await client.version < .v4)
        let data = DataService(client)
        let shape = try #require(try await client.model.shape(ofSet: "Orders"))
        for id in 1...5 {
            try await data.create(
                ODataEntity(
                    shape: shape,
                    ["ID": .integer(Int64(id)), "City": "Graz", "Freight": .decimal(ODataDecimal(Int64(id)))]),
                in: "Orders")
        }
        #expect(try await data.count("Orders") == 5)
        let all = try await data.entities("Orders")
        #expect(all.map { $0["ID"] } == [1, 2, 3, 4, 5])
        #expect(all[2]["Freight"] == .decimal(ODataDecimal(3)))
        var order = try #require(try await data.entity("Orders", key: 3))
        order["City"] = "Linz"
        let changed = try await data.update(order, in: "Orders")
        #expect(changed.control.etag != nil && changed.control.etag != order.control.etag)
        #expect(try await data.entity("Orders", key: 3)?["City"] == "Linz")
        #expect(
            try await data.entity("Orders", key: 3)?["Freight"] == .decimal(ODataDecimal(3)), "a MERGE keeps the rest")
        await #expect(throws: ConflictError.self) {
            order["City"] = "Wels"
            try await data.update(order, in: "Orders")
        }
        let results = try await data.batch {
            BatchOperation.read(ResourceQuery("Orders").key(2), id: "two")
            ChangeSet {
                BatchOperation.create(ODataEntity(shape: shape, ["ID": 8]), in: "Orders", id: "eight")
                BatchOperation.delete(all[0], in: "Orders", id: "gone")
            }
        }
        #expect(try results.entity("two")["ID"] == 2)
        #expect(try results.entity("eight")["ID"] == 8)
        #expect(results.refusals.isEmpty)
        #expect(try await data.entity("Orders", key: 1) == nil)
    }
}
