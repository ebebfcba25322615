import HTTPTypes
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("The state of an entity's changes")
struct EntityStateTests {
    @Test("A row that the download brought has its state, in a list and alone")
    func many() async throws {
        let count = 10_050
        let shop = try await Shop(
            with: """
                CREATE TABLE Readings(ReadingID INTEGER PRIMARY KEY, Value INTEGER);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                INSERT INTO Readings SELECT i, i FROM n;
                """)
        let store = try await shop.clone([DefiningQuery(entitySet: "Readings")])
        try await shop.sql("UPDATE Readings SET Value = -Value")
        #expect(try await store.download().updated == count)
        for id in [1, count] {
            let row = try #require(try await store.rows("Readings(\(id))").first)
            #expect(row.isUpsertedLastDownload)
        }
    }

    private func entity(_ url: String, of store: OfflineStore) async throws -> ODataEntity {
        try #require(try await store.rows(url).first)
    }

    @Test("A changed entity is pending, then uploaded, then downloaded again")
    func changed() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let before = try await entity("Products(1)", of: store)
        #expect(before.offlineState == .unchanged && before.changeFlags == [] && !before.isLocal)
        try await store.update("Products(1)", ["Stock": 4711])
        let pending = try await entity("Products(1)", of: store)
        #expect(pending.offlineState == .pending && pending.changeFlags == .updated)
        #expect(
            pending.isLocal && pending.hasPendingChanges && pending.isUpdated && !pending.isCreated && !pending.isNew)
        #expect(pending.control.etag != before.control.etag, "it is another version")
        let original = try #require(try await store.changes.original(of: ODataURL(parsing: "Products(1)")))
        #expect(original.control.etag == before.control.etag && original["Stock"] == before["Stock"])
        try await store.upload()
        let uploaded = try await entity("Products(1)", of: store)
        #expect(uploaded.offlineState == .uploaded && uploaded.changeFlags == [])
        #expect(uploaded.isLocal && !uploaded.hasPendingChanges && !uploaded.isUpdated)
        try await store.download()
        let downloaded = try await entity("Products(1)", of: store)
        #expect(downloaded.offlineState == .unchanged && !downloaded.isLocal)
        #expect(downloaded.control.etag == uploaded.control.etag)
        try await shop.sql("UPDATE Products SET Stock = 1 WHERE ProductID = 1")
        try await store.download()
        #expect(try await entity("Products(1)", of: store).isUpsertedLastDownload)
        #expect(try await !entity("Products(2)", of: store).isUpsertedLastDownload)
    }

    @Test("An uploaded entity is unchanged after the downloads of all its queries")
    func subset() async throws {
        let shop = try await Shop()
        let isRefusing = LockedFlag()
        let service = Gateway(
            base: PlainService(base: try shop.client()),
            before: { request in
                guard isRefusing.isSet, request.url.description.hasPrefix("Categories") else { return nil }
                throw ODataError(status: 403, code: "No", message: "No.")
            })
        let store = try await shop.clone(
            [
                DefiningQuery("products", "Products"), DefiningQuery("few", "Products?$filter=Stock lt 100"),
                DefiningQuery("categories", "Categories"),
            ], through: service)
        func isLocal() async throws -> Bool { try await entity("Products(1)", of: store).isLocal }
        try await store.update("Products(1)", ["Stock": 7])
        try await store.upload()
        try await store.download(["products"])
        #expect(try await isLocal(), "the other query that holds it may still bring another version")
        try await store.download(["few"])
        #expect(try await isLocal())
        try await store.download(["products", "few"])
        #expect(try await !isLocal())
        // A query that fails does not affect the results of the other queries.
        try await store.update("Products(1)", ["Stock": 8])
        try await store.upload()
        isRefusing.set()
        await #expect(throws: (any Error).self) { try await store.download() }
        #expect(try await !isLocal())
    }

    @Test("Property and function agree about entities from the last download")
    func upserted() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([
            try DefiningQuery("few", "Products?$filter=Stock lt 50"), DefiningQuery("categories", "Categories"),
        ])
        func expect(_ count: Int, of set: String) async throws {
            let found = Set(try await store.rows("\(set)?$filter=outpost.upsertedLastDownload()").compactMap(\.key))
            #expect(found.count == count, "\(set)")
            for row in try await store.rows(set) {
                let key = try #require(row.key)
                #expect(row.isUpsertedLastDownload == found.contains(key), "\(set) \(key)")
            }
        }
        let few = try await store.rows("Products").count
        try await expect(few, of: "Products")
        try await store.create("Categories", ["Name": "Mine"])
        try await expect(5, of: "Categories")
        try await store.upload()
        try await expect(5, of: "Categories")
        try await store.queries.add(DefiningQuery("all", "Products"))
        try await store.download(["all"])
        try await expect(30, of: "Products")
        try await expect(0, of: "Categories")
        try await store.download()
        try await expect(0, of: "Products")
    }

    @Test("Contained entities from the last download are marked and counted")
    func upsertedWithin() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try DefiningQuery("albums", "Albums?$expand=Pages")])
        func isUpserted() async throws -> Bool {
            try await entity("Albums(1)/Pages(1)", of: store).isUpsertedLastDownload
        }
        let found = "Albums(1)/Pages?$filter=outpost.upsertedLastDownload()"
        #expect(try await isUpserted())
        #expect(try await store.rows(found).count == 1)
        #expect(try await store.download().updated == 0)
        #expect(try await !isUpserted())
        try await studio.service.change(.update, "Albums(1)/Pages(1)", "Page", ["Title": "Back"])
        #expect(try await store.download().updated == 1)
        #expect(try await isUpserted())
        #expect(try await store.rows(found).map { $0["Title"] } == ["Back"])
        // A pending change does not count as downloaded.
        let shape = try #require(store.model.shape(QualifiedName("Studio", "Page")))
        let change = ODataEntity(shape: shape, ["Title": "Mine"])
        _ = try await store.execute(
            ODataRequest(.update, try ODataURL(parsing: "Albums(1)/Pages(1)"), body: .entity(change)))
        #expect(try await store.download().updated == 0)
        #expect(try await !isUpserted())
        #expect(try await store.rows(found).isEmpty)
    }

    @Test("Entities are found by their state over HTTP, in both versions")
    func overHTTP() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(1)", ["Stock": 4711])
        let handler = try ODataHandler(provider: store, serviceRoot: "/")
        let older = try ODataV2Handler(provider: store, serviceRoot: "/v2/")
        func get(_ path: String) async throws -> (Int, String) {
            let message = HTTPRequest(
                method: .get, scheme: "http", authority: "shop.test", path: path,
                headerFields: [.accept: "application/json"])
            let (response, body) =
                path.hasPrefix("/v2/")
                ? await older.handle(message, ByteStream([])) : await handler.handle(message, ByteStream([]))
            return (response.status.code, String(decoding: try await body.collect(limit: 1 << 20), as: UTF8.self))
        }
        for root in ["/", "/v2/"] {
            for function in ["sap.islocal()", "outpost.hasPendingChanges()"] {
                // The second read uses the cached statement.
                for _ in 0..<2 {
                    let (status, text) = try await get("\(root)Products?$filter=\(function)")
                    #expect(status == 200 && text.contains("4711"), "\(root) \(function): \(text)")
                    #expect(text.components(separatedBy: "Discontinued").count == 2, "one alone: \(text)")
                }
            }
            let (status, text) = try await get(
                "\(root)Orders?$filter=sap.entityexists(Employee)%20and%20OrderID%20eq%201001")
            #expect(status == 200 && text.contains("1001"), "\(root): \(text)")
        }
    }

    @Test("A refused entity has failed, and entities that wait for it are pending")
    func failed() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(1)", ["Stock": 2])
        try await shop.sql("UPDATE Products SET Stock = 1 WHERE ProductID = 1")
        #expect(try await store.upload().failed.count == 1)
        let failed = try await entity("Products(1)", of: store)
        #expect(failed.offlineState == .failed && failed.inErrorState && failed.hasPendingChanges)
        #expect(failed.changeFlags == .updated)
        try await store.changes.discard()
        #expect(try await entity("Products(1)", of: store).offlineState == .unchanged)
    }

    @Test("A created entity is new until it is sent, and a deleted one has its original")
    func createdAndDeleted() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create("Categories", ["Name": "New"])
        let new = try await entity("Categories(-1)", of: store)
        #expect(new.isNew && new.isCreated && new.changeFlags == .created && new.offlineState == .pending)
        try await store.update("Categories(-1)", ["Name": "Newer"])
        #expect(try await entity("Categories(-1)", of: store).changeFlags == [.created, .updated])
        try await store.delete("Products(1)")
        let deleted = try #require(try await store.changes.original(of: ODataURL(parsing: "Products(1)")))
        #expect(deleted.isDeleted && deleted.changeFlags == .deleted && deleted.offlineState == .pending)
        try await shop.sql("INSERT INTO Categories(Name) VALUES ('New')")
        #expect(try await store.upload().failed.count == 2, "the name is taken, and the product is in orders")
        let refused = try await entity("Categories(-1)", of: store)
        #expect(refused.offlineState == .failed && refused.isCreated && !refused.isNew)
    }

    @Test("An entity with a changed relation is pending, failed or uploaded at both ends")
    func related() async throws {
        let studio = try await Studio()
        let (isRefusing, isUnreadable) = (LockedFlag(), LockedFlag())
        let service = Gateway(
            base: try studio.client(),
            before: { request in
                guard isRefusing.isSet, request.url.path.segments.last == .reference else { return nil }
                throw ODataError(status: 403, code: "No", message: "No.")
            },
            after: { request, response in
                guard isUnreadable.isSet, request.url.path.segments.last == .reference else { return response }
                throw InvalidResponseError(status: 200, problem: .malformed("at byte 1"), url: "Albums(2)/Tags/$ref")
            })
        let store = try await studio.clone(through: service)
        func expect(_ state: OfflineState, isFound: Bool, by function: String) async throws {
            for (set, id) in [("Albums", 2), ("Tags", 3)] {
                let end = try await entity("\(set)(\(id))", of: store)
                let flags: ChangeFlags = end.hasPendingChanges ? .updated : []
                #expect(end.offlineState == state && end.changeFlags == flags, "\(set)")
                let found = try await store.rows("\(set)?$filter=outpost.\(function)()").map { $0["ID"] }
                let wanted: [ODataValue?] = isFound ? [.integer(Int64(id))] : []
                #expect(found == wanted, "\(set) by \(function)")
            }
        }
        try await store.link("Albums(2)/Tags", to: "Tags(3)")
        try await expect(.pending, isFound: true, by: "hasPendingChanges")
        try await expect(.pending, isFound: false, by: "inErrorState")
        let others = try await store.rows("Tags?$filter=not sap.haspendingchanges()&$orderby=ID")
        #expect(others.map { $0["ID"] } == [1, 2])
        isRefusing.set()
        #expect(try await store.upload().failed.map(\.kind) == [.link])
        #expect(try await store.observe.status().failed.map(\.state) == [.refused])
        try await expect(.failed, isFound: true, by: "inErrorState")
        try await expect(.failed, isFound: true, by: "hasPendingChanges")
        isRefusing.clear()
        try await store.changes.retry()
        isUnreadable.set()
        #expect(try await store.upload().failed.map(\.state) == [.inDoubt])
        try await expect(.failed, isFound: true, by: "inErrorState")
        try await expect(.failed, isFound: true, by: "hasPendingChanges")
        isUnreadable.clear()
        try await store.changes.retry()
        #expect(try await store.upload().accepted.map(\.kind) == [.link])
        try await expect(.uploaded, isFound: true, by: "isLocal")
        try await expect(.uploaded, isFound: false, by: "hasPendingChanges")
        try await store.download()
        try await expect(.unchanged, isFound: false, by: "isLocal")
    }

    @Test("A draft is marked as a draft")
    func draft() async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.creation.localDrafts = ["ProductDrafts": "Products"]
        let store = try await shop.store(options: options)
        try await store.download()
        try await store.drafts.make(of: ODataURL(parsing: "Products(1)"), in: "ProductDrafts")
        #expect(try await entity("ProductDrafts(1)", of: store).isDraft)
        #expect(try await !entity("Products(1)", of: store).isDraft)
    }
}
