import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Rule 6: an entity in a header field of a request")
struct HeaderPlaceholderTests {
    private static let category = ChangeOptions(headers: ["X-About": "{Categories(-1)}"])

    private func sentFields(_ wire: Wire) async throws -> [String] {
        let name = try #require(HTTPField.Name("X-About"))
        return await wire.requests.compactMap { $0.headerFields[name] }
    }

    @Test("is created first; if its creation is refused, the request waits with it")
    func refused() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create("Products", ["Name": "X", "CategoryID": 99, "Price": .decimal(ODataDecimal(1))])
        try await store.changes.provider(with: ChangeOptions(headers: ["X-About": "{Products(-1)}"])).update(
            "Customers('C0002')", ["City": "Mine"])
        let report = try await store.upload()
        #expect(report.failed.map(\.entitySet) == ["Products"])
        #expect(report.waiting.map(\.entitySet) == ["Customers"])
        try await store.update("Products(-1)", ["CategoryID": 1])
        await shop.wire.mend()
        #expect(try await store.upload().accepted.map(\.entitySet) == ["Products", "Customers"])
        let id = try await shop.count("SELECT MAX(ProductID) FROM Products")
        #expect(try await sentFields(shop.wire) == ["Products(\(id))"])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("is created first for any priority, also for an action")
    func priority() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        try await store.create("Tags", ["Name": "new"])
        let options = ChangeOptions(headers: ["X-About": "{Tags(-1)}"], priority: 9)
        _ = try await store.changes.provider(with: options).execute(
            ODataRequest(
                .create, try ODataURL(parsing: "Albums(1)/Studio.Rename"), body: .parameters(["Name": "Renamed"])))
        try await store.changes.provider(with: options).delete("Albums(2)")
        #expect(try await store.upload().accepted.map(\.kind) == [.create, .call, .delete])
        #expect(try await sentFields(studio.wire) == ["Tags(4)", "Tags(4)"])
    }

    @Test("is created before a refused request that an edit with the field repaired")
    func mended() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(6)", ["Stock": -4])
        #expect(try await store.upload().failed.count == 1)
        try await store.create("Categories", ["Name": "First"])
        try await store.changes.provider(with: Self.category).update("Products(6)", ["Stock": 4])
        await shop.wire.mend()
        #expect(try await store.upload().accepted.map(\.entitySet) == ["Categories", "Products"])
        #expect(try await sentFields(shop.wire) == ["Categories(6)"])
    }

    @Test("in one transaction with the request is created first")
    func together() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.changes.transaction { changes in
            try changes.create("Categories", ["Name": "First"])
            var request = ODataRequest(
                .update, try ODataURL(parsing: "Products(1)"),
                body: .entity(ODataEntity(shape: try #require(store.model.shape(ofSet: "Products")), ["Stock": 77])))
            request.headers["X-About"] = "{Categories(-1)}"
            try changes.perform(request)
        }
        await shop.wire.mend()
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.entitySet) == ["Categories", "Products"])
        #expect(try await sentFields(shop.wire) == ["Categories(6)"])
        try await store.download()
        try await shop.expectEqual(store)
    }
}
