import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Rule 17: contained entities are changed through their container")
struct ContainedTests {
    private static func albums() throws -> DefiningQuery { try DefiningQuery("albums", "Albums?$expand=Pages") }

    private func pages(_ provider: any ODataProvider, of album: Int = 1) async throws -> [String] {
        try await provider.rows("Albums(\(album))/Pages?$orderby=Number").map { page in
            guard case .string(let title)? = page["Title"] else { return "" }
            return title
        }
    }

    private func change(
        _ method: ODataRequest.Method, _ url: String, _ properties: [String: ODataValue], _ store: OfflineStore
    ) async throws {
        let shape = try #require(store.model.shape(QualifiedName("Studio", "Page")))
        _ = try await store.execute(
            ODataRequest(
                method, ODataURL(parsing: url),
                body: method == .delete ? .none : .entity(ODataEntity(shape: shape, properties))))
    }

    @Test("are created, changed and deleted offline, visible at once, and sent by their path")
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
            try await store.observe.status().pending.map(\.url)
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
        #expect(try await store.observe.status().pending.isEmpty)
    }

    @Test(
        "of a local creation follow it to its service key, in a change set and one by one",
        arguments: [true, false])
    func newContainer(hasBatches: Bool) async throws {
        let studio = try await Studio()
        var options = OfflineStore.Options()
        options.service.capabilities.supportsBatch = hasBatches
        let store = try await studio.clone([try Self.albums()], options: options)
        let shape = try #require(store.model.shape(QualifiedName("Studio", "Page")))
        try await store.changes.transaction { changes in
            let album = try changes.create("Albums", ["Name": "Autumn"])
            guard case .integer(let id)? = album["ID"] else { throw ODataError.notFound("ID") }
            try changes.create(ODataEntity(shape: shape, ["Number": 1, "Title": "Leaves"]), in: "Albums(\(id))/Pages")
        }
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.count == 2)
        #expect(try await pages(studio.service, of: 3) == ["Leaves"])
        try await store.download()
        #expect(try await pages(store, of: 3) == ["Leaves"])
    }

    @Test("keep changes over a download and restore the downloaded version by undo")
    func merging() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try Self.albums()])
        try await change(.update, "Albums(1)/Pages(1)", ["Title": "Mine"], store)
        let shape = try #require(studio.service.model.shape(QualifiedName("Studio", "Page")))
        _ = try await studio.service.execute(
            ODataRequest(
                .update, try ODataURL(parsing: "Albums(1)/Pages(1)"),
                body: .entity(ODataEntity(shape: shape, ["Title": "Theirs"]))))
        try await store.download()
        #expect(try await pages(store) == ["Mine"])
        #expect(try await store.changes.undo([ODataURL(parsing: "Albums(1)/Pages(1)")]) == 1)
        #expect(try await pages(store) == ["Theirs"])
        try await change(.delete, "Albums(1)/Pages(1)", [:], store)
        #expect(try await pages(store) == [])
        try await store.download()
        #expect(try await pages(store) == [], "deleted here")
        #expect(try await store.changes.undoAll() == 1)
        #expect(try await pages(store) == ["Theirs"])
    }

    @Test("are removed with their entity")
    func deletedContainer() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try Self.albums()])
        try await change(.update, "Albums(1)/Pages(1)", ["Title": "Mine"], store)
        try await store.delete("Albums(1)")
        #expect(try await store.observe.status().pending.map(\.entityText) == ["Albums(1)"])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(try await studio.service.rows("Albums").count == 1)
    }

    // MARK: Old links

    @Test("are found by their old link once their entity has its service key", arguments: [true, false])
    func oldLinks(hasBatches: Bool) async throws {
        let studio = try await Studio()
        var options = OfflineStore.Options()
        options.service.capabilities.supportsBatch = hasBatches
        let store = try await studio.clone(
            [try DefiningQuery("albums", "Albums?$expand=Pages,Sheets")], options: options)
        let album = try #require(try await store.create("Albums", ["Name": "Autumn"]))
        guard case .integer(let id)? = album["ID"] else { throw ODataError.notFound("ID") }
        let old = "Albums(\(id))"
        try await change(.create, "\(old)/Pages", ["Number": 1, "Title": "Leaves"], store)
        let sheetShape = try #require(store.model.shape(QualifiedName("Studio", "Sheet")))
        let made = try await store.execute(
            ODataRequest(
                .create, try ODataURL(parsing: "\(old)/Sheets"),
                body: .entity(ODataEntity(shape: sheetShape, ["Text": "first"])),
                preferences: Preferences(returns: .representation)))
        guard case .entity(let sheet) = made.body, case .integer(let sheetID)? = sheet["ID"] else {
            throw ODataError.notFound("sheet")
        }
        #expect(id < 0 && sheetID < 0)
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.count == 3)
        for isDownloaded in [false, true] {
            if isDownloaded { try await store.download() }
            #expect(try await store.rows(old).first?["ID"] == 3)
            #expect(try await store.rows("\(old)/Pages(1)").first?["Title"] == "Leaves")
            #expect(try await store.rows("\(old)/Pages").count == 1)
            #expect(try await store.rows("\(old)/Sheets(\(sheetID))").first?["Text"] == "first")
            #expect(try await store.rows("Albums(3)/Sheets(\(sheetID))").first?["Text"] == "first")
        }
        try await change(.update, "\(old)/Pages(1)", ["Title": "More leaves"], store)
        _ = try await store.execute(
            ODataRequest(
                .update, try ODataURL(parsing: "\(old)/Sheets(\(sheetID))"),
                body: .entity(ODataEntity(shape: sheetShape, ["Text": "second"]))))
        try await change(.create, "\(old)/Pages", ["Number": 2, "Title": "Two"], store)
        #expect(
            try await store.observe.status().pending.map(\.url) == [
                "Albums(3)/Pages(1)", "Albums(3)/Sheets(1)", "Albums(3)/Pages",
            ])
        try await store.changes.transaction { changes in try changes.delete("\(old)/Pages(2)") }
        #expect(try await store.changes.undo([ODataURL(parsing: "\(old)/Sheets(\(sheetID))")]) == 1)
        let synced = try await store.sync()
        #expect(synced.upload.failed.map { $0.failure?.message } == [])
        #expect(try await pages(studio.service, of: 3) == ["More leaves"])
        #expect(try await studio.service.rows("Albums(3)/Sheets").map { $0["Text"] } == ["first"])
    }

    // MARK: Deletion with the entity

    @Test(
        "return with their changes when the deletion of their entity is undone",
        arguments: ["undo", "cancel", "all"])
    func undoneDeletion(way: String) async throws {
        let studio = try await Studio()
        let store = try await studio.clone(
            [try DefiningQuery("albums", "Albums?$expand=Pages,Tags"), DefiningQuery(entitySet: "Tags")])
        try await change(.update, "Albums(1)/Pages(1)", ["Title": "Mine"], store)
        try await change(.create, "Albums(1)/Pages", ["Number": 2, "Title": "Two"], store)
        _ = try await store.execute(
            ODataRequest(.create, try ODataURL(parsing: "Albums(1)/Tags/$ref"), body: .reference("Tags(3)")))
        let waiting = try await store.observe.status().pending.map(\.description)
        let tags = try await store.rows("Albums(1)/Tags?$orderby=ID").map { $0["Name"] }
        #expect(waiting.count == 3 && tags == ["red", "blue", "green"])
        try await store.delete("Albums(1)")
        #expect(try await store.observe.status().pending.map(\.kind) == [.delete])
        // A download in between does not affect the deletion.
        try await store.download()
        switch way {
        case "undo": #expect(try await store.changes.undo([ODataURL(parsing: "Albums(1)")]) == 1)
        case "cancel": #expect(try await store.changes.cancel(store.observe.status().pending.map(\.id)) == 1)
        default:
            // The restored changes are undone as well.
            #expect(try await store.changes.undoAll() == 3)
            #expect(try await store.observe.status().pending.isEmpty)
            #expect(try await pages(store) == ["Cover"])
            #expect(try await store.rows("Albums(1)/Tags?$orderby=ID").map { $0["Name"] } == ["red", "blue"])
            return
        }
        #expect(try await store.observe.status().pending.map(\.description) == waiting)
        #expect(try await pages(store) == ["Mine", "Two"])
        #expect(try await store.rows("Albums(1)/Tags?$orderby=ID").map { $0["Name"] } == tags)
        #expect(try await store.changes.original(of: ODataURL(parsing: "Albums(1)/Pages(1)"))?["Title"] == "Cover")
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(try await pages(studio.service) == ["Mine", "Two"])
        #expect(try await studio.service.rows("Albums(1)/Tags").count == 3)
    }

    @Test("stay deleted with their entity despite downloaded references, and return with their changes")
    func undoneDeletionBelow() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try DefiningQuery("tags", "Tags?$expand=Albums($expand=Pages)")])
        #expect(try await pages(store) == ["Cover"])
        try await change(.update, "Albums(1)/Pages(1)", ["Title": "Mine"], store)
        try await store.delete("Albums(1)")
        for _ in 1...2 { try await store.download() }
        #expect(try await store.changes.undo([ODataURL(parsing: "Albums(1)")]) == 1)
        #expect(try await pages(store) == ["Mine"])
        #expect(try await store.observe.status().pending.map(\.entityText) == ["Albums(1)/Pages(1)"])
        #expect(try await store.rows("Albums(1)/Tags?$orderby=ID").map { $0["Name"] } == ["red", "blue"])
        #expect(try await store.upload().failed.map { $0.failure?.message } == [])
        #expect(try await pages(studio.service) == ["Mine"])
        try await store.delete("Albums(1)")
        try await store.download()
        try await store.sync()
        let rows = try await DatabaseQueue(path: store.directory + "/store.db").read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM \"Albums/Pages\"")
        }
        #expect(rows == 0, "and with it for good")
    }

    @Test("return when a refused deletion is withdrawn")
    func refusedDeletion() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try Self.albums()])
        try await change(.update, "Albums(1)/Pages(1)", ["Title": "Mine"], store)
        try await store.delete("Albums(1)")
        let shape = try #require(studio.service.model.shape(QualifiedName("Studio", "Album")))
        _ = try await studio.service.execute(
            ODataRequest(
                .update, try ODataURL(parsing: "Albums(1)"),
                body: .entity(ODataEntity(shape: shape, ["Name": "Theirs"]))))
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.status } == [412])
        try await store.changes.discard()
        #expect(try await store.rows("Albums(1)").first?["Name"] == "Theirs")
        #expect(try await pages(store) == ["Mine"])
        #expect(try await store.observe.status().pending.map(\.entityText) == ["Albums(1)/Pages(1)"])
    }

    @Test(
        "return with their streams, even after a clean-up",
        arguments: [true, false], [true, false])
    func undoneDeletionOfStreams(isNew: Bool, isRefused: Bool) async throws {
        let studio = try await Studio()
        try await studio.picture("Albums(1)/Scans", Array("first".utf8))
        let isRefusing = LockedFlag()
        let service = Gateway(
            base: try studio.client(),
            before: { request in
                guard isRefusing.isSet, request.method == .delete else { return nil }
                throw ODataError(status: 403, code: "No", message: "It stays.")
            })
        let store = try await studio.clone(
            [try DefiningQuery("albums", "Albums?$expand=Scans", retrievesStreams: true)], through: service)
        guard case .integer(let number)? = try await store.rows("Albums(1)/Scans").first?["ID"] else {
            throw ODataError.notFound("ID")
        }
        let scan = "Albums(1)/Scans(\(isNew ? -1 : number))/$value"
        if isNew {
            _ = try await store.createMedia("Albums(1)/Scans", "scan")
        } else {
            try await store.replaceStream(scan, "scan")
        }
        try await store.delete("Albums(1)")
        if isRefused {
            isRefusing.set()
            #expect(try await store.upload().failed.map(\.kind) == [.delete])
            isRefusing.clear()
        }
        try await store.download()
        try await store.maintenance.compact()
        if isRefused {
            try await store.changes.discard()
        } else {
            #expect(try await store.changes.undo([ODataURL(parsing: "Albums(1)")]) == 1)
        }
        #expect(try await store.stream(scan) == "scan")
        #expect(try await store.upload().failed.map { $0.failure?.message } == [])
        let scans = try await studio.service.rows("Albums(1)/Scans?$orderby=ID").compactMap { $0["ID"]?.lexicalText }
        #expect(scans.count == (isNew ? 2 : 1))
        #expect(try await studio.service.stream("Albums(1)/Scans(\(scans.last ?? ""))/$value") == "scan")
    }

    @Test("leave no stream bytes once the service accepted the deletion")
    func takenDeletionOfStreams() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try DefiningQuery("albums", "Albums?$expand=Scans")])
        _ = try await store.createMedia("Albums(1)/Scans", "scan")
        try await store.delete("Albums(1)")
        let streams = {
            try await DatabaseQueue(path: store.directory + "/store.db").read {
                try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM outpost_stream")
            }
        }
        try await store.maintenance.compact()
        #expect(try await streams() == 1)
        #expect(try await store.upload().accepted.count == 1)
        try await store.maintenance.compact()
        #expect(try await streams() == 0)
    }

    @Test("are removed for good once the service accepted the deletion")
    func takenDeletion() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try Self.albums()])
        try await change(.update, "Albums(1)/Pages(1)", ["Title": "Mine"], store)
        try await store.delete("Albums(1)")
        #expect(try await store.upload().accepted.count == 1)
        #expect(try await store.changes.undoAll() == 0)
        await #expect(throws: ODataError.self) { _ = try await store.rows("Albums(1)") }
        #expect(try await store.observe.status().pending.isEmpty)
    }

    // MARK: Single-valued containment

    @Test("of a single-valued property are created by PATCH and PUT, changed, deleted and undone")
    func single() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try DefiningQuery("albums", "Albums?$expand=Cover")])
        try await change(.update, "Albums(1)/Cover", ["Number": 1, "Title": "Front"], store)
        try await change(.replace, "Albums(2)/Cover", ["Number": 7, "Title": "Other"], store)
        let made = try #require(try await store.rows("Albums(1)/Cover").first)
        #expect(made["Title"] == "Front" && made.isCreated, "\(made.control)")
        #expect(try await store.rows("Albums(2)/Cover").first?["Title"] == "Other")
        #expect(try await store.changes.undo([ODataURL(parsing: "Albums(2)/Cover")]) == 1)
        #expect(try await store.rows("Albums?$expand=Cover&$filter=Cover/Number ne null").count == 1)
        let created = try await store.sync()
        #expect(created.upload.failed.map { $0.failure?.message } == [])
        #expect(try await studio.service.rows("Albums(1)/Cover").first?["Title"] == "Front")
        #expect(try await store.rows("Albums(1)/Cover").first?["Title"] == "Front")
        try await change(.update, "Albums(1)/Cover", ["Title": "Changed"], store)
        #expect(try await store.sync().upload.failed.map { $0.failure?.message } == [])
        #expect(try await studio.service.rows("Albums(1)/Cover").first?["Title"] == "Changed")
        try await change(.delete, "Albums(1)/Cover", [:], store)
        #expect(try await store.rows("Albums?$filter=Cover/Number ne null").count == 0)
        try await store.download()
        #expect(try await store.rows("Albums?$filter=Cover/Number ne null").count == 0, "deleted here")
        #expect(try await store.changes.undo([ODataURL(parsing: "Albums(1)/Cover")]) == 1)
        #expect(try await store.rows("Albums(1)/Cover").first?["Title"] == "Changed")
        try await change(.delete, "Albums(1)/Cover", [:], store)
        #expect(try await store.sync().upload.failed.map { $0.failure?.message } == [])
        #expect(try await studio.service.rows("Albums?$filter=Cover/Number ne null").count == 0)
        #expect(try await store.observe.status().pending.isEmpty)
    }

    /// Creates an album and loses the response, downloads the album with pages and a tag, and changes these.
    private func makeTwin(_ studio: Studio, _ store: OfflineStore) async throws {
        try await store.create("Albums", ["Name": "Autumn"])
        await studio.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        await #expect(throws: (any Error).self) { try await store.upload() }
        await studio.wire.mend()
        let shape = try #require(studio.service.model.shape(QualifiedName("Studio", "Page")))
        for number in [1, 2] {
            _ = try await studio.service.execute(
                ODataRequest(
                    .create, try ODataURL(parsing: "Albums(3)/Pages"),
                    body: .entity(ODataEntity(shape: shape, ["Number": .integer(Int64(number)), "Title": "Theirs"]))))
        }
        try await studio.link("Albums(3)/Tags", to: "Tags(1)")
        try await store.download()
        #expect(try await store.rows("Albums?$filter=Name eq 'Autumn'").count == 2, "not known to be one yet")
        try await change(.update, "Albums(3)/Pages(1)", ["Title": "Mine"], store)
        _ = try await store.execute(
            ODataRequest(.create, try ODataURL(parsing: "Albums(3)/Tags/$ref"), body: .reference("Tags(2)")))
    }

    @Test("stay with their changes if a download brought their entity before the response to its creation")
    func twin() async throws {
        let studio = try await Studio()
        let store = try await studio.clone(
            [try DefiningQuery("albums", "Albums?$expand=Pages,Tags"), DefiningQuery(entitySet: "Tags")])
        try await makeTwin(studio, store)
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(try await store.rows("Albums?$filter=Name eq 'Autumn'").count == 1)
        #expect(try await pages(store, of: 3) == ["Mine", "Theirs"])
        #expect(try await store.rows("Albums(3)/Tags?$orderby=ID").map { $0["ID"] } == [1, 2])
        #expect(try await pages(studio.service, of: 3) == ["Mine", "Theirs"])
        #expect(try await studio.service.rows("Albums(3)/Tags").count == 2)
    }

    @Test("return with their changes when the deletion of a downloaded container is undone")
    func deletedTwin() async throws {
        let studio = try await Studio()
        let gateway = Gateway(
            base: try studio.client(),
            before: { request in
                guard request.method == .delete else { return nil }
                throw ODataError(status: 403, code: "No", message: "It stays.")
            })
        let store = try await OfflineStore.create(
            at: studio.directory.appendingPathComponent("twin").path, protection: .unencrypted,
            serviceRoot: "http://studio.test/", remote: gateway,
            queries: [try DefiningQuery("albums", "Albums?$expand=Pages,Tags"), DefiningQuery(entitySet: "Tags")],
            options: .ofConfirmedRepeats)
        try await store.download()
        try await makeTwin(studio, store)
        try await store.delete("Albums(3)")
        let report = try await store.upload()
        #expect(report.accepted.map(\.kind) == [.create])
        #expect(report.failed.map(\.kind) == [.delete])
        try await store.changes.discard()
        #expect(try await pages(store, of: 3) == ["Mine", "Theirs"])
        #expect(try await store.rows("Albums(3)/Tags?$orderby=ID").map { $0["ID"] } == [1, 2])
        #expect(try await store.observe.status().pending.count == 2)
        #expect(try await store.upload().failed.map { $0.failure?.message } == [])
        #expect(try await pages(studio.service, of: 3) == ["Mine", "Theirs"])
        #expect(try await studio.service.rows("Albums(3)/Tags").count == 2)
        #expect(try await store.rows("Albums?$filter=Name eq 'Autumn'").count == 1)
    }

    @Test("are visible in the error archive if the changed model has no place for them")
    func changedModel() async throws {
        let studio = try await Studio()
        let title = "<Property Name=\"Title\" Type=\"Edm.String\"/>"
        let page = try #require(Studio.metadata.range(of: "<EntityType Name=\"Page\">"))
        let gone = try #require(Studio.metadata.range(of: title, range: page.upperBound..<Studio.metadata.endIndex))
        let changed = ChangedService(
            base: try studio.client(),
            changed: try CSDLReader.read(xml: Array(Studio.metadata.replacingCharacters(in: gone, with: "").utf8)))
        let store = try await OfflineStore.create(
            at: studio.directory.appendingPathComponent("clone").path, protection: .unencrypted,
            serviceRoot: "http://studio.test/", remote: changed, queries: [Self.albums()])
        try await store.download()
        try await change(.update, "Albums(1)/Pages(1)", ["Title": "Mine"], store)
        try await store.delete("Albums(1)")
        changed.hasChanged.set()
        let now = try await store.maintenance.refreshMetadata().store
        #expect(try await now.observe.status().pending.map(\.description).count == 1)
        #expect(try await now.changes.undo([ODataURL(parsing: "Albums(1)")]) == 1)
        let failed = try await now.observe.status().failed
        #expect(failed.map { $0.failure?.code } == ["ModelChanged"])
        #expect(failed.first?.failure?.innerError?.contains("Mine") == true, "\(failed)")
        #expect(try await now.rows("Albums(1)").count == 1)
    }
}

/// A service with metadata that changes.
private struct ChangedService: ODataProvider {
    let base: any ODataProvider
    let changed: EntityDataModel
    let hasChanged = LockedFlag()

    var model: EntityDataModel {
        get async throws { hasChanged.isSet ? changed : try await base.model }
    }

    var traits: ProviderTraits { .standard }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        if hasChanged.isSet, request.url.path.segments == [.metadata] { return ODataResponse(body: .metadata(changed)) }
        return try await base.execute(request)
    }
}
