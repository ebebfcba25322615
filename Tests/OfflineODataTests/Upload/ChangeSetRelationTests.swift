import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A relation without a foreign key and the creation of its entities")
struct ChangeSetRelationTests {
    /// Creates an album and a tag in a change set, and relates the album to this tag and to another one.
    private func relatedAlbum(_ store: OfflineStore) async throws {
        try await store.changes.transaction { changes in
            try changes.create("Albums", ["Name": "Autumn"])
            try changes.create("Tags", ["Name": "new"])
            try changes.relate("Albums(-1)/Tags", to: "Tags(-1)")
            try changes.relate("Albums(-1)/Tags", to: "Tags(3)")
        }
    }

    private func tags(_ provider: any ODataProvider, of album: Int) async throws -> [String] {
        try await provider.rows("Albums(\(album))/Tags?$orderby=Name").map { tag in
            guard case .string(let name)? = tag["Name"] else { return "" }
            return name
        }
    }

    @Test("Rule 5: names both its ends by content ids in one change set")
    func together() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        try await relatedAlbum(store)
        #expect(try await tags(store, of: -1) == ["green", "new"])
        await studio.wire.mend()
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.create, .create, .link, .link])
        #expect(await studio.wire.requests.count == 1)
        #expect(try await tags(studio.service, of: 3) == ["green", "new"])
        #expect(try await tags(store, of: 3) == ["green", "new"])
        #expect(try await store.observe.status().pending.isEmpty)
    }

    @Test(
        "follows with the service keys if no references or no batches are accepted",
        arguments: [true, false])
    func oneByOne(hasBatches: Bool) async throws {
        let studio = try await Studio()
        var options = OfflineStore.Options()
        options.service.capabilities.supportsBatch = hasBatches
        options.service.capabilities.supportsBind = !hasBatches
        let store = try await studio.clone(options: options)
        try await relatedAlbum(store)
        await studio.wire.mend()
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.create, .create, .link, .link])
        let changes = await studio.wire.requests.filter { $0.method == .post }
        #expect(changes.map { $0.path?.hasSuffix("$batch") } == [false, false, false, false])
        #expect(try await tags(studio.service, of: 3) == ["green", "new"])
        #expect(try await store.observe.status().pending.isEmpty)
    }

    @Test("follows if the service turns out to accept no references in bodies", arguments: [400, 501])
    func foundOut(status: Int) async throws {
        let studio = try await Studio()
        let service = Gateway(
            base: PlainService(base: try studio.client()),
            before: { request in
                guard case .batch(let items) = request.body else { return nil }
                let holdsReference = items.contains { item in
                    if case .reference(let id) = item.request.body { id.hasPrefix("$") } else { false }
                }
                guard holdsReference else { return nil }
                let error = ODataError(status: status, code: "NoReference", message: "There are no references here.")
                return ODataResponse(body: .batch(items.map { BatchResult(id: $0.id, result: .failure(error)) }))
            })
        let store = try await studio.clone(through: service)
        try await relatedAlbum(store)
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.create, .create, .link, .link])
        #expect(try await tags(studio.service, of: 3) == ["green", "new"])
    }

    @Test("is part of a deep insert: to existing and to new entities", arguments: [true, false])
    func deepInsert(isNew: Bool) async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        var album = ODataEntity(shape: try #require(store.model.shape(ofSet: "Albums")), ["Name": "Deep"])
        let note = ODataEntity(shape: try #require(store.model.shape(ofSet: "Notes")), ["Text": "a"])
        album.related["Notes"] = .many([note])
        let tag = ODataEntity(shape: try #require(store.model.shape(ofSet: "Tags")), ["Name": "new"])
        let related: RelatedEntities = isNew ? .many([tag]) : .references(["Tags(1)", "Tags(3)"])
        album.related["Tags"] = related
        _ = try await store.execute(ODataRequest(.create, try ODataURL(parsing: "Albums"), body: .entity(album)))
        await studio.wire.mend()
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.count == 4)
        #expect(await studio.wire.requests.count == 1)
        #expect(try await tags(studio.service, of: 3) == (isNew ? ["new"] : ["green", "red"]))
        #expect(try await studio.service.rows("Albums(3)/Notes").map { $0["Text"] } == ["a"])
    }

    @Test("is part of a batch from the app with its own references")
    func batch() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        let album = ODataEntity(shape: try #require(store.model.shape(ofSet: "Albums")), ["Name": "Autumn"])
        let tag = ODataEntity(shape: try #require(store.model.shape(ofSet: "Tags")), ["Name": "new"])
        let path = ResourcePath([.name("$1", .none), .name("Tags", .none), .reference])
        let relation = ODataRequest(.create, ODataURL(path: path), body: .reference("$2"))
        let results = try await DataService(store).batch {
            ChangeSet {
                BatchOperation.create(album, in: "Albums", id: "1")
                BatchOperation.create(tag, in: "Tags", id: "2")
                BatchOperation.request(relation, id: "3")
            }
        }
        #expect(results.refusals.isEmpty)
        await studio.wire.mend()
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.create, .create, .link])
        #expect(await studio.wire.requests.count == 1)
        #expect(try await tags(studio.service, of: 3) == ["new"])
    }

    @Test("that is removed from its other end again is sent after it")
    func takenAway() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        // Otherwise, the two changes would cancel each other before they are sent.
        try await store.changes.transaction(options: ChangeOptions(isUnmodifiable: true)) { changes in
            try changes.create("Albums", ["Name": "Autumn"])
            try changes.relate("Albums(-1)/Tags", to: "Tags(1)")
            try changes.relate("Albums(-1)/Tags", to: "Tags(2)")
            var unlink = ODataRequest(.delete, try ODataURL(parsing: "Tags(1)/Albums/$ref"))
            unlink.url.options.id = "Albums(-1)"
            try changes.perform(unlink)
        }
        #expect(try await tags(store, of: -1) == ["blue"])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.create, .link, .link, .unlink])
        #expect(try await tags(studio.service, of: 3) == ["blue"])
    }

    // MARK: Relations sent alone

    @Test("is sent with the service key of an earlier upload, for both ends")
    func later() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        let now = store.changes.provider(with: ChangeOptions(category: "now"))
        try await now.create("Albums", ["Name": "Autumn"])
        try await now.create("Tags", ["Name": "new"])
        try await store.link("Albums(-1)/Tags", to: "Tags(3)")
        try await store.link("Albums(2)/Tags", to: "Tags(-1)")
        #expect(
            try await store.upload(options: UploadOptions(categories: ["now"])).accepted.map(\.kind)
                == [.create, .create])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.link, .link])
        #expect(try await tags(studio.service, of: 3) == ["green"])
        #expect(try await tags(studio.service, of: 2) == ["new"])
    }

    @Test("is sent with the service key although the entity left the store")
    func removed() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        let leaving = store.changes.provider(with: ChangeOptions(category: "now", removesCreatedEntity: true))
        try await leaving.create("Albums", ["Name": "Autumn"])
        try await leaving.create("Tags", ["Name": "new"])
        try await store.link("Albums(-1)/Tags", to: "Tags(3)")
        try await store.link("Albums(2)/Tags", to: "Tags(-1)")
        #expect(
            try await store.upload(options: UploadOptions(categories: ["now"])).accepted.map(\.kind)
                == [.create, .create])
        #expect(try await store.rows("Albums?$orderby=ID").map { $0["ID"] } == [1, 2])
        #expect(try await store.rows("Tags?$orderby=ID").map { $0["ID"] } == [1, 2, 3])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.link, .link])
        #expect(try await tags(studio.service, of: 3) == ["green"])
        #expect(try await tags(studio.service, of: 2) == ["new"])
    }
}

extension LocalTransaction {
    fileprivate func relate(_ navigation: String, to target: String) throws {
        try perform(ODataRequest(.create, try ODataURL(parsing: navigation + "/$ref"), body: .reference(target)))
    }
}
