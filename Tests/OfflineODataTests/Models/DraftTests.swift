import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Synchronization
import Testing

@Suite("Drafts of entities that others change")
struct DraftTests {
    /// Returns a store with a draft of the first product.
    private func drafted(
        _ shop: Shop, through remote: (any ODataProvider)? = nil
    ) async throws -> OfflineStore {
        var options = OfflineStore.Options()
        options.creation.localDrafts = ["ProductDrafts": "Products", "CategoryDrafts": "Categories"]
        let store = try await shop.store(options: options, through: remote)
        try await store.download()
        try await store.drafts.make(of: ODataURL(parsing: "Products(1)"))
        return store
    }

    private func activate(_ store: OfflineStore) async throws {
        try await store.drafts.activate(ODataURL(parsing: "ProductDrafts(1)"))
    }

    private func there(_ shop: Shop) async throws -> String? {
        try await shop.text("SELECT Name || ', ' || Stock FROM Products WHERE ProductID = 1")
    }

    private static let theirName = "UPDATE Products SET Name = 'Theirs' WHERE ProductID = 1"
    private static let theirStock = "UPDATE Products SET Stock = 77 WHERE ProductID = 1"

    @Test("change only the edited properties of the active entity, so that downloaded changes stay")
    func changedAlone() async throws {
        let shop = try await Shop()
        let store = try await drafted(shop)
        try await store.update("ProductDrafts(1)", ["Stock": 4])
        try await shop.sql(Self.theirName)
        try await store.download()
        try await activate(store)
        let pending = try await store.observe.status().pending
        #expect(pending.map { $0.changes["Stock"] } == [4])
        #expect(pending.map { $0.changes["Name"] } == [nil])
        #expect(try await store.rows("Products(1)").first?["Name"] == "Theirs")
        #expect(try await store.upload().failed.map(\.description) == [])
        #expect(try await there(shop) == "Theirs, 4")
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("without changes change nothing, after any download")
    func unchanged() async throws {
        let shop = try await Shop()
        let store = try await drafted(shop)
        try await shop.sql(Self.theirStock)
        try await store.download()
        try await activate(store)
        #expect(try await store.rows("ProductDrafts").isEmpty)
        try await shop.expectEqual(store)
    }

    @Test(
        "conflict with a change of the same property by others, with ETags and without",
        arguments: [true, false])
    func contested(hasETags: Bool) async throws {
        let shop = try await Shop()
        let store = try await drafted(shop, through: PlainService(base: try shop.client(), hasETags: hasETags))
        try await store.update("ProductDrafts(1)", ["Stock": 4])
        try await shop.sql(Self.theirStock)
        try await store.download()
        try await activate(store)
        #expect(try await store.rows("Products(1)").first?["Stock"] == 4)
        let failed = try await store.upload().failed
        #expect(failed.map(\.failure?.isConflict) == [true])
        #expect(failed.first?.failure?.theirs?["Stock"] == 77)
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == 77)
        try await store.changes.retry()
        #expect(try await store.upload().accepted.count == 1)
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == 4)
    }

    @Test("leave their conflict to the policy of the upload", arguments: [true, false])
    func policies(clientWins: Bool) async throws {
        let shop = try await Shop()
        let store = try await drafted(shop)
        try await store.update("ProductDrafts(1)", ["Stock": 4])
        try await shop.sql(Self.theirStock)
        try await shop.sql(Self.theirName)
        try await store.download()
        try await activate(store)
        let options = UploadOptions(conflictPolicy: clientWins ? .clientWins : .serverWins)
        #expect(try await store.upload(options: options).failed.map(\.description) == [])
        #expect(try await there(shop) == (clientWins ? "Theirs, 4" : "Theirs, 77"))
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("do not affect other pending changes of the active entity", arguments: [true, false])
    func ownChanges(isBefore: Bool) async throws {
        let shop = try await Shop()
        let store = try await drafted(shop)
        if isBefore { try await store.delete("ProductDrafts(1)") }
        try await store.update("Products(1)", ["Name": "Mine", "Stock": 6])
        if isBefore { try await store.drafts.make(of: ODataURL(parsing: "Products(1)")) }
        try await store.update("ProductDrafts(1)", ["Stock": 4])
        try await activate(store)
        #expect(try await store.observe.status().pending.map(\.entityText) == ["Products(1)", "Products(1)"])
        #expect(try await store.upload().failed.map(\.description) == [])
        #expect(try await there(shop) == "Mine, 4")
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("join the pending change of the same version, even if others changed the same property")
    func joined() async throws {
        let shop = try await Shop()
        let store = try await drafted(shop)
        try await store.update("ProductDrafts(1)", ["Stock": 4])
        try await store.update("Products(1)", ["Name": "Mine"])
        try await shop.sql(Self.theirStock)
        try await store.download()
        try await activate(store)
        let versions = LockedVersions()
        let policy = ConflictPolicy.custom { conflict in
            versions.append(conflict)
            return .fail
        }
        #expect(try await store.upload(options: UploadOptions(conflictPolicy: policy)).failed.count == 1)
        let conflict = try #require(versions.all.first)
        #expect(versions.all.count == 1)
        #expect(conflict.mine["Name"] == "Mine" && conflict.mine["Stock"] == 4)
        #expect(conflict.base?["Stock"] != 77 && conflict.theirs?["Stock"] == 77)
        try await store.changes.retry()
        #expect(try await store.upload().accepted.count == 1)
        #expect(try await there(shop) == "Mine, 4")
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("wait if others changed the same property and a change of another version is pending")
    func refused() async throws {
        let shop = try await Shop()
        let store = try await drafted(shop)
        try await store.update("ProductDrafts(1)", ["Stock": 4])
        try await shop.sql(Self.theirStock)
        try await store.download()
        try await store.update("Products(1)", ["Name": "Mine"])
        let error = await #expect(throws: ODataError.self) { try await activate(store) }
        #expect(error?.status == 409 && error?.code == "ChangesWait")
        #expect(try await store.rows("ProductDrafts(1)").first?["Stock"] == 4)
        #expect(try await store.rows("Products(1)").first?["Stock"] == 77)
        #expect(try await store.observe.status().pending.count == 1)
        #expect(try await store.upload().accepted.count == 1)
        try await activate(store)
        #expect(try await store.upload().failed.map(\.failure?.isConflict) == [true])
        #expect(try await there(shop) == "Mine, 77")
    }

    @Test("without an active entity create one with all values")
    func withoutOrigin() async throws {
        let shop = try await Shop()
        let store = try await drafted(shop)
        // All values differ from those of the product.
        let values: [String: ODataValue] = [
            "Name": "X", "CategoryID": 1, "Price": .decimal(ODataDecimal(1)), "Stock": 3, "Discontinued": true,
        ]
        try await store.create("ProductDrafts", values.merging(["ProductID": 2]) { $1 })
        try await store.drafts.activate(ODataURL(parsing: "ProductDrafts(2)"))
        let changes = try #require(try await store.observe.status().pending.first?.changes)
        #expect(try await store.upload().failed.map(\.description) == [])
        let product = try #require(try await shop.database.rows("Products(2)").first)
        for (name, value) in values {
            #expect(changes[name] == value, "\(name)")
            #expect(product[name] == value, "\(name)")
        }
    }

    @Test("find their entity by its later service key")
    func givenKey() async throws {
        let shop = try await Shop()
        let store = try await drafted(shop)
        try await store.create("Categories", ["Name": "First"])
        try await store.drafts.make(of: ODataURL(parsing: "Categories(-1)"))
        #expect(try await store.upload().accepted.count == 1)
        try await store.update("CategoryDrafts(-1)", ["Name": "Second"])
        try await store.drafts.activate(ODataURL(parsing: "CategoryDrafts(-1)"))
        #expect(try await store.upload().accepted.map(\.kind) == [.update])
        #expect(try await shop.text("SELECT Name FROM Categories WHERE CategoryID = 6") == "Second")
        #expect(try await shop.count("SELECT COUNT(*) FROM Categories") == 6)
    }

    @Test("keep their base version during a repair, and lose it when they are removed")
    func kept() async throws {
        let shop = try await Shop()
        let store = try await drafted(shop)
        try await store.update("ProductDrafts(1)", ["Stock": 4])
        #expect(try await store.maintenance.repair().isEmpty)
        try await shop.sql(Self.theirName)
        try await store.download()
        try await activate(store)
        #expect(try await store.observe.status().pending.map { $0.changes["Name"] } == [nil])
        #expect(try await store.maintenance.repair().isEmpty)
        try await store.upload()
        try await store.drafts.make(of: ODataURL(parsing: "Products(1)"))
        try await store.drafts.purgeClientOnlyData()
        #expect(try await store.maintenance.repair().isEmpty)
    }
}

/// The versions that a conflict policy received, in order.
private final class LockedVersions: Sendable {
    private let value = Mutex<[ConflictVersions]>([])

    var all: [ConflictVersions] { value.withLock { $0 } }

    func append(_ versions: ConflictVersions) { value.withLock { $0.append(versions) } }
}
