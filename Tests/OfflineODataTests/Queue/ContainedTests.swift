import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Rule 17: what an entity contains is changed through it")
struct ContainedTests {
    private static func albums() throws -> DefiningQuery { try DefiningQuery("albums", "Albums?$expand=Pages") }

    private func pages(_ provider: any ODataProvider, of album: Int = 1) async throws -> [String] {
        try await provider.rows("Albums(\(album))/Pages?$orderby=Number").map { page in
            guard case .string(let title)? = page["Title"] else { return "" }
            return title
        }
    }

    private func change(
        _ method: ODataRequest.Method, _ url: String, _ properties: [String: ODataValue], _ store: OfflineODataProvider
    ) async throws {
        let shape = try #require(store.model.shape(QualifiedName("Studio", "Page")))
        _ = try await store.execute(
            ODataRequest(
                method, ODataURL(parsing: url),
                body: method == .delete ? .none : .entity(Entity(shape: shape, properties))))
    }

    @Test("created, changed and deleted offline, seen at once, sent by its path")
    func editing() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try Self.albums()])
        #expect(try await pages(store) == ["Cover"])
        try await change(.create, "Albums(1)/Pages", ["Number": 2, "Title": "Two"], store)
        try await change(.create, "Albums(2)/Pages", ["Number": 1, "Title": "Other"], store)
        try await change(.update, "Albums(1)/Pages(1)", ["Title": "Front"], store)
        #expect(try await pages(store) == ["Front", "Two"])
        #expect(try await pages(store, of: 2) == ["Other"], "a key is one within its album alone")
        let changed = try #require(try await store.rows("Albums(1)/Pages(1)").first)
        #expect(changed.isUpdated && changed.changeFlags == .updated, "\(changed.control)")
        #expect(try await store.rows("Albums(2)/Pages(1)").first?.isCreated == true)
        #expect(try await pages(studio.service) == ["Cover"])
        #expect(
            try await store.status().pending.map(\.url)
                == ["Albums(1)/Pages", "Albums(2)/Pages", "Albums(1)/Pages(1)"])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.count == 3)
        #expect(try await pages(studio.service) == ["Front", "Two"])
        try await change(.delete, "Albums(1)/Pages(2)", [:], store)
        let synced = try await store.sync()
        #expect(synced.upload.accepted.count == 1)
        #expect(try await pages(studio.service) == ["Front"])
        #expect(try await pages(store) == ["Front"])
        #expect(try await pages(store, of: 2) == ["Other"])
        #expect(try await store.status().pending.isEmpty)
    }

    @Test(
        "in an entity that is made here follows it to its own key, in a change set and one by one",
        arguments: [true, false])
    func newContainer(hasBatches: Bool) async throws {
        let studio = try await Studio()
        var options = OfflineODataProvider.Options()
        options.service.supportsBatch = hasBatches
        let store = try await studio.clone([try Self.albums()], options: options)
        let shape = try #require(store.model.shape(QualifiedName("Studio", "Page")))
        try await store.transaction { changes in
            let album = try changes.create("Albums", ["Name": "Autumn"])
            guard case .integer(let id)? = album["ID"] else { throw ODataError.notFound("ID") }
            try changes.create(Entity(shape: shape, ["Number": 1, "Title": "Leaves"]), in: "Albums(\(id))/Pages")
        }
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.count == 2)
        #expect(try await pages(studio.service, of: 3) == ["Leaves"])
        try await store.download()
        #expect(try await pages(store, of: 3) == ["Leaves"])
    }

    @Test("keeps its changes when a download brings another version, and takes them back by undo")
    func merging() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try Self.albums()])
        try await change(.update, "Albums(1)/Pages(1)", ["Title": "Mine"], store)
        let shape = try #require(studio.service.model.shape(QualifiedName("Studio", "Page")))
        _ = try await studio.service.execute(
            ODataRequest(
                .update, try ODataURL(parsing: "Albums(1)/Pages(1)"),
                body: .entity(Entity(shape: shape, ["Title": "Theirs"]))))
        try await store.download()
        #expect(try await pages(store) == ["Mine"])
        #expect(try await store.undo([ODataURL(parsing: "Albums(1)/Pages(1)")]) == 1)
        #expect(try await pages(store) == ["Theirs"])
        try await change(.delete, "Albums(1)/Pages(1)", [:], store)
        #expect(try await pages(store) == [])
        try await store.download()
        #expect(try await pages(store) == [], "deleted here")
        #expect(try await store.undoAll() == 1)
        #expect(try await pages(store) == ["Theirs"])
    }

    @Test("goes with its entity")
    func deletedContainer() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try Self.albums()])
        try await change(.update, "Albums(1)/Pages(1)", ["Title": "Mine"], store)
        try await store.delete("Albums(1)")
        #expect(try await store.status().pending.map(\.entityText) == ["Albums(1)"])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(try await studio.service.rows("Albums").count == 1)
    }
}
