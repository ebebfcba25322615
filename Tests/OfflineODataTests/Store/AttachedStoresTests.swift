import Foundation
import HTTPTypes
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import OfflineOData
import Secrets
import Testing

@Suite("Several stores of one app read together")
struct AttachedStoresTests {
    private func encrypted(
        _ remote: any ODataProvider, _ path: String, _ queries: [DefiningQuery] = []
    ) async throws -> OfflineStore {
        let store = try await OfflineStore.create(
            at: path, protection: .encrypted(.key(EncryptionKey.generate())), serviceRoot: Shop.serviceRoot,
            remote: remote,
            queries: queries)
        try await store.download()
        return store
    }

    private let seller = AttachedStores.Relation(
        "Album", from: "shop_Orders", to: "studio_Albums", where: ["EmployeeID": "ID"])

    @Test("Queries filter, expand and order across stores with different keys")
    func joined() async throws {
        let (shop, studio) = (try await Shop(), try await Studio())
        let orders = try await encrypted(try shop.client(), shop.directory.appendingPathComponent("orders").path)
        let albums = try await encrypted(
            try studio.client(), shop.directory.appendingPathComponent("albums").path,
            [DefiningQuery("albums", "Albums?$expand=Tags")])
        let both = try await AttachedStores.open(["shop": orders, "studio": albums], relations: [seller])
        let wanted = try await shop.count("SELECT COUNT(*) FROM Orders WHERE EmployeeID = 1")
        #expect(wanted > 0)
        let found = try await both.rows(
            "shop_Orders?$filter=Album/Name eq 'Summer'&$expand=Album,Customer&$orderby=Album/Name,OrderID")
        #expect(found.count == wanted)
        guard case .one(let album)? = found.first?.related["Album"], case .one? = found.first?.related["Customer"]
        else {
            throw ODataError.notFound("Album")
        }
        #expect(album["Name"] == "Summer")
        // Link tables and contained entities can be read, too.
        #expect(try await both.rows("studio_Albums?$filter=Tags/any(t:t/Name eq 'red')").count == 1)
        #expect(try await both.rows("studio_Albums(1)/Tags").count == 2)
        // Of the functions about pending changes, the one about a relation is supported, over HTTP as well.
        let related = "shop_Orders?$filter=EmployeeID eq 1 and sap.entityexists(Album)"
        #expect(try await both.rows(related).count == wanted)
        let message = HTTPRequest(
            method: .get, scheme: "http", authority: "shop.test", path: "/" + related.replacing(" ", with: "%20"))
        #expect(await ODataHandler(provider: both).handle(message, ByteStream([])).0.status == .ok)
        // The next read sees a local change.
        try await albums.update("Albums(1)", ["Name": "Spring"])
        #expect(try await both.rows("shop_Orders?$filter=Album/Name eq 'Spring'").count == wanted)
        await #expect(throws: ODataError.self) { try await both.delete("shop_Orders(1001)") }
        try both.close()
        #expect(try await orders.rows("Orders(1001)").count == 1)
    }

    @Test("A part that is not downloaded is invisible, and incompatible stores are refused")
    func refused() async throws {
        let shop = try await Shop()
        let first = try await shop.clone([DefiningQuery(entitySet: "Products")], named: "first")
        let second = try await shop.store([DefiningQuery(entitySet: "Products")], named: "second")
        let both = try await AttachedStores.open(["a": first, "b": second])
        #expect(try await both.rows("a_Products").count > 0)
        #expect(try await both.rows("b_Products").isEmpty)
        await #expect(throws: OfflineError.self) { _ = try await AttachedStores.open(["a b": first]) }
        await #expect(throws: OfflineError.self) { _ = try await AttachedStores.open([:]) }
        await #expect(throws: OfflineError.self) {
            _ = try await AttachedStores.open(["a": first], relations: [seller])
        }
        try both.close()
    }
}
