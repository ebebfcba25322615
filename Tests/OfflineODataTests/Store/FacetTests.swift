import ODataModel
import ODataService
import OfflineOData
import Testing

@Suite("Facets of a store")
struct FacetTests {
    @Test("Pending changes and the error archive can be listed without the rest of the status")
    func lists() async throws {
        let shop = try await Shop()
        let store = try await shop.store([DefiningQuery(entitySet: "Products")])
        try await store.download()
        try await store.changes.provider(with: ChangeOptions(tag: "stock")).update("Products(1)", ["Stock": 5])
        let pending = try await store.changes.pending()
        #expect(pending.map(\.options.tag) == ["stock"])
        #expect(try await store.observe.status().pending.map(\.id) == pending.map(\.id))
        #expect(try await store.changes.archived().isEmpty)
        #expect(try await store.changes.hold() == nil)
        #expect(try await store.changes.cancel(pending.map(\.id)) == 1)
        #expect(try await store.changes.pending().isEmpty)
    }

    @Test("A facet can be passed to another part of an app")
    func handedOver() async throws {
        let shop = try await Shop()
        let store = try await shop.store([DefiningQuery(entitySet: "Products")])
        let queries = store.queries
        try await queries.add(DefiningQuery("mine", "Products?$filter=ProductID eq 1"))
        let names = await Task.detached { try? await queries.all().map(\.name) }.value
        #expect(names?.contains("mine") == true)
        #expect(try await store.queries.all().contains { $0.name == "mine" })
        try await queries.remove("mine")
        #expect(try await queries.all().count == 1)
    }
}
