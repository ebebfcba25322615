import HTTPTypes
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

/// Returns a read operation of a batch.
private func read(_ url: String, id: String) throws -> BatchOperation {
    .request(ODataRequest(.read, try ODataURL(parsing: url)), id: id)
}

/// Returns a delete operation of a batch.
private func deletion(_ url: String, id: String) throws -> BatchOperation {
    .request(ODataRequest(.delete, try ODataURL(parsing: url)), id: id)
}

/// Returns an action call of a batch that renames an album.
private func rename(_ album: String, id: String) throws -> BatchOperation {
    .invoke(try ODataURL(parsing: "\(album)/Studio.Rename"), ["Name": "Called"], id: id)
}

@Suite("Batches given to an offline store (11.7)")
struct BatchTests {
    private func entity(
        _ set: String, _ properties: [String: ODataValue], _ store: OfflineStore
    ) throws -> ODataEntity {
        ODataEntity(shape: try #require(store.model.shape(ofSet: set)), properties)
    }

    /// Returns a store with a refused change of a product's stock.
    private func refused(_ shop: Shop) async throws -> (store: OfflineStore, archived: Int64) {
        let store = try await shop.clone()
        try await store.update("Products(6)", ["Stock": -4])
        try await store.upload()
        return (store, try #require(try await store.observe.status().failed.first?.id))
    }

    // MARK: The engine's own sets and functions

    @Test("work on the engine's own sets, state functions and properties")
    func engineSets() async throws {
        let shop = try await Shop()
        let (store, _) = try await refused(shop)
        try await store.update("Products(8)", ["Stock": 5])
        let results = try await DataService(store).batch {
            try read("ErrorArchive?$expand=AffectedEntity", id: "archive")
            try read("Products?$filter=outpost.inErrorState()", id: "wrong")
            try read("Products?$filter=sap.haspendingchanges()&$orderby=ProductID", id: "pending")
            try read("Employees?$filter=not outpost.entityExists(ReportsToEmployee)", id: "first")
            try read("EventLog/$count", id: "events")
        }
        #expect(results.refusals.map { $0.error.description } == [])
        let entry = try #require(try results.entities("archive").first)
        guard case .one(let affected)? = entry.related["AffectedEntity"],
            case .count(let events) = try results.response("events").body
        else { throw ODataError.notFound("\(entry.related.keys)") }
        let logged = try await store.observe.events().map(\.kind)
        #expect(events == Int64(logged.count) && logged.contains("upload"))
        #expect(entry["Entity"] == "Products(6)")
        #expect(affected["Stock"] == -4 && affected.inErrorState)
        let wrong = try #require(try results.entities("wrong").first)
        #expect(wrong["ProductID"] == 6 && wrong.inErrorState)
        #expect(try results.entities("pending").map { $0["ProductID"] } == [6, 8])
        #expect(try results.entities("first").map { $0["EmployeeID"] } == [1])
    }

    @Test("see the writes of earlier requests, also by content id")
    func earlier() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let category = try entity("Categories", ["Name": "New"], store)
        let created = ODataRequest(.read, ODataURL(path: ResourcePath([.name("$new", .none)])))
        let results = try await DataService(store).batch {
            BatchOperation.create(category, in: "Categories", id: "new")
            BatchOperation.request(created, id: "created")
            try read("Categories?$filter=outpost.isLocal()", id: "local")
            try read("RequestQueue", id: "queue")
        }
        #expect(results.refusals.map { $0.error.description } == [])
        let found = try results.entity("created")
        #expect(found["Name"] == "New" && found.isCreated)
        #expect(try results.entities("local").map { $0["CategoryID"] } == [-1])
        #expect(try results.entities("queue").map { $0["Entity"] } == ["Categories(-1)"])
    }

    @Test("discard an archived request by deleting it, alone and in a change set", arguments: [false, true])
    func deleted(inChangeSet: Bool) async throws {
        let shop = try await Shop()
        let (store, archived) = try await refused(shop)
        let stock = try await shop.count("SELECT Stock FROM Products WHERE ProductID = 6")
        let giveUp = try deletion("ErrorArchive(\(archived))", id: "1")
        let results = try await DataService(store).batch {
            if inChangeSet {
                ChangeSet { giveUp }
            } else {
                giveUp
            }
            try read("Products(6)", id: "2")
            try read("ErrorArchive", id: "3")
        }
        #expect(try results.response("1").status == 204)
        #expect(try results.entity("2")["Stock"] == .integer(Int64(stock)))
        #expect(try results.entities("3").isEmpty)
        try await shop.expectEqual(store)
    }

    @Test("keep a request if the change set that deletes it fails")
    func deletedInVain() async throws {
        let shop = try await Shop()
        let (store, archived) = try await refused(shop)
        try await store.update("Products(7)", ["Stock": 4])
        let waiting = try #require(try await store.observe.status().pending.first?.id)
        let results = try await DataService(store).batch {
            try ChangeSet {
                try deletion("ErrorArchive(\(archived))", id: "1")
                try deletion("RequestQueue(\(waiting))", id: "2")
                try deletion("ErrorArchive(4711)", id: "3")
            }
        }
        #expect(results.refusals.map { $0.error.status } == [404, 404, 404])
        let reasons = Set(results.refusals.map { $0.error.target })
        #expect(reasons == ["ErrorArchive(4711)"], "those before it had been removed")
        #expect(try await store.rows("Products?$filter=Stock eq -4").map { $0["ProductID"] } == [6])
        #expect(try await store.rows("RequestQueue?$orderby=RequestID").map { $0["Status"] } == ["Failed", "NotSent"])
    }

    // MARK: Order and dependence

    @Test("treat conditions and dependencies on the engine's responses like those of the service")
    func conditions() async throws {
        let shop = try await Shop()
        let (store, _) = try await refused(shop)
        func request(_ method: ODataRequest.Method, _ url: String) throws -> ODataRequest {
            ODataRequest(method, try ODataURL(parsing: url))
        }
        let results = try await DataService(store).batch(
            [
                BatchItem(id: "failed", request: try request(.read, "ErrorArchive/$count")),
                BatchItem(
                    id: "none", request: try request(.delete, "Products(1)"),
                    condition: try BatchCondition("$failed eq 0")),
                BatchItem(id: "after", request: try request(.read, "Products(1)"), dependsOn: ["none"]),
                BatchItem(
                    id: "some", request: try request(.read, "RequestQueue"),
                    condition: try BatchCondition("$failed eq 1")),
                BatchItem(id: "unknown", request: try request(.read, "ErrorArchive(4711)")),
            ], continueOnError: true)
        let statuses = results.map { result -> Int in
            switch result.result {
            case .success(let response): response.status
            case .failure(let error): error.status
            }
        }
        #expect(statuses == [200, 424, 424, 200, 404])
        #expect(try await store.rows("Products(1)").count == 1)
    }

    @Test("end with the first refusal by default")
    func stopping() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        for goesOn in [false, true] {
            let results = try await DataService(store).batch(continueOnError: goesOn) {
                try read("ErrorArchive(4711)", id: "1")
                try read("ErrorArchive", id: "2")
            }
            #expect(results.count == (goesOn ? 2 : 1))
        }
    }

    // MARK: Actions and functions

    @Test("add a queued action to its change set, which is uploaded as one")
    func queuedAction() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        let tag = try entity("Tags", ["Name": "crimson"], store)
        let tagURL = try ODataURL(parsing: "Tags(1)")
        let results = try await DataService(store).batch {
            try ChangeSet {
                BatchOperation.update(tag, at: .url(tagURL), id: "1")
                try rename("Albums(1)", id: "2")
            }
        }
        #expect(results.refusals.map { $0.error.description } == [])
        #expect(try results.response("2").status == 202)
        let changeSets = try await store.rows("RequestQueue").map { $0["ChangeSet"] }
        #expect(changeSets.count == 2 && changeSets[0] == changeSets[1] && changeSets[0] != .null)
        await studio.wire.mend()
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.update, .call])
        let changes = await studio.wire.requests.filter { $0.method != .get }
        #expect(changes.map { $0.path?.hasSuffix("$batch") } == [true])
        #expect(studio.calls.names == ["Called"])
        #expect(try await studio.service.rows("Tags(1)").first?["Name"] == "crimson")
    }

    @Test("name the entity of a bound action by its content id in the same change set")
    func actionOfCreated() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        let album = try entity("Albums", ["Name": "Autumn"], store)
        let path = ResourcePath([.name("$1", .none), .name("Studio.Rename", .none)])
        let results = try await DataService(store).batch {
            ChangeSet {
                BatchOperation.create(album, in: "Albums", id: "1")
                BatchOperation.invoke(ODataURL(path: path), ["Name": "Called"], id: "2")
            }
        }
        #expect(results.refusals.map { $0.error.description } == [])
        #expect(
            try await store.observe.status().pending.map(\.entityText) == ["Albums(-1)", "Albums(-1)/Studio.Rename"])
        await studio.wire.mend()
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.create, .call])
        #expect(await studio.wire.requests.count == 1)
        #expect(try await studio.service.rows("Albums(3)").first?["Name"] == "Called")
    }

    @Test("leave no rows or queued requests of a refused change set")
    func refusedChangeSet() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        let album = try entity("Albums", ["Name": "Autumn"], store)
        let results = try await DataService(store).batch {
            try ChangeSet {
                BatchOperation.create(album, in: "Albums", id: "1")
                try rename("Albums(1)", id: "2")
                try deletion("Tags(4711)", id: "3")
            }
        }
        #expect(results.refusals.map { $0.error.status } == [404, 404, 404])
        #expect(try await store.rows("Albums").count == 2)
        #expect(try await store.rows("RequestQueue").isEmpty)
    }

    @Test("refuse an immediate call within a change set and allow it alone")
    func onlineCall() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        let tag = try entity("Tags", ["Name": "crimson"], store)
        let tagURL = try ODataURL(parsing: "Tags(1)")
        let online = DataService(store.changes.provider(with: ChangeOptions(operationMode: .online)))
        let results = try await online.batch(continueOnError: true) {
            try ChangeSet {
                BatchOperation.update(tag, at: .url(tagURL), id: "1")
                try rename("Albums(2)", id: "2")
            }
            try rename("Albums(1)", id: "3")
            try read("CountAlbums()", id: "4")
        }
        #expect(results.refusals.map { $0.id } == ["1", "2"])
        let refusal = try #require(results.refusals.first?.error)
        #expect(refusal.code == "OnlineCallInChangeSet" && refusal.target == "Studio.Rename")
        #expect(refusal.message.contains("cannot be part of a change set"))
        #expect(studio.calls.names == ["Called"])
        #expect(try await studio.service.rows("Albums(1)").first?["Name"] == "Called")
        guard case .value(let count, _) = try results.response("4").body else { throw ODataError.notFound("a value") }
        #expect(count == 42)
        #expect(try await store.observe.status().pending.isEmpty)
        #expect(try await store.rows("Tags(1)").first?["Name"] == "red")
    }

    /// The reason for a missing response of the service.
    enum Silence: CaseIterable, Sendable {
        case notConnected, unsent, answerLost, unreadable

        /// The error that the batch returns instead.
        var refusal: (code: String, status: Int) {
            switch self {
            case .notConnected: ("NotConnected", 503)
            case .unsent: ("Unreachable", 503)
            case .answerLost: ("Unreachable", 502)
            case .unreadable: ("InvalidResponse", 502)
            }
        }
    }

    @Test(
        "report an unreachable service or a lost response only for the affected request",
        arguments: Silence.allCases)
    func unreachable(silence: Silence) async throws {
        let studio = try await Studio()
        let service = Gateway(
            base: try studio.client(),
            after: { request, response in
                guard silence == .unreadable, request.url.description.hasPrefix("CountAlbums") else { return response }
                throw InvalidResponseError(status: 200, problem: .malformed("at byte 1"), url: "CountAlbums()")
            })
        var store = try await studio.clone(through: service)
        if silence == .notConnected {
            try store.close()
            store = try await OfflineStore.open(at: store.directory, protection: .unencrypted)
        }
        await studio.wire.cut { _, _ in
            switch silence {
            case .notConnected, .unsent: .lostOnTheWay
            case .answerLost: .answerLost
            case .unreadable: nil
            }
        }
        let results = try await DataService(store).batch(continueOnError: true) {
            try read("CountAlbums()", id: "1")
            try read("Tags(1)", id: "2")
        }
        #expect(results.refusals.map { $0.error.code } == [silence.refusal.code])
        #expect(results.refusals.map { $0.error.status } == [silence.refusal.status])
        #expect(try results.entity("2")["Name"] == "red")
    }

    // MARK: Answers and streams

    @Test("answer a creation in a change set with its selected and expanded properties")
    func expanded() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        let note = try entity("Notes", ["AlbumID": 1, "Text": "second"], store)
        let url = try ODataURL(parsing: "Notes?$select=Text&$expand=Album($select=Name)")
        let results = try await DataService(store).batch {
            ChangeSet { BatchOperation.request(ODataRequest(.create, url, body: .entity(note)), id: "1") }
        }
        let created = try results.entity("1")
        guard case .one(let album)? = created.related["Album"] else { throw ODataError.notFound("the album") }
        #expect(album["Name"] == "Summer")
        #expect(created["Text"] == "second")
        #expect(created["AlbumID"] == nil, "it is not selected")
    }

    @Test("accept streams outside of change sets only (rule 9)")
    func streams() async throws {
        let studio = try await Studio()
        try await studio.service.replaceStream("Pictures(1)/Thumb", "small")
        let store = try await studio.clone([try DefiningQuery("p", "Pictures", retrievesStreams: true)])
        func sent(_ method: ODataRequest.Method, _ url: String, _ text: String) throws -> ODataRequest {
            let bytes = ByteStream(Array(text.utf8))
            return ODataRequest(
                method, try ODataURL(parsing: url), body: .media(bytes, contentType: "image/png"))
        }
        let picture = try sent(.create, "Pictures", "two")
        let other = try sent(.replace, "Pictures(1)/$value", "other")
        let results = try await DataService(store).batch(continueOnError: true) {
            BatchOperation.request(picture, id: "create")
            try read("Pictures(-1)/$value", id: "created")
            BatchOperation.request(other, id: "put")
            try read("Pictures(1)/$value", id: "replaced")
            try deletion("Pictures(1)/Thumb", id: "delete")
            try read("Pictures(1)/Thumb", id: "deleted")
            ChangeSet { BatchOperation.request(picture, id: "1") }
            ChangeSet { BatchOperation.request(other, id: "2") }
            try ChangeSet { try deletion("Pictures(-1)/Thumb", id: "3") }
            try ChangeSet { try deletion("Pictures(-1)/$value", id: "4") }
        }
        for (id, text) in [("created", "two"), ("replaced", "other")] {
            guard case .raw(let bytes, _) = try results.response(id).body else { throw ODataError.notFound(id) }
            #expect(String(decoding: try await bytes.collect(limit: 1 << 10), as: UTF8.self) == text)
        }
        #expect(try results.response("deleted").status == 204)
        #expect(results.refusals.map { $0.id } == ["1", "2", "3", "4"])
        #expect(Set(results.refusals.map { $0.error.code }) == ["StreamInChangeSet"])
        #expect(try await store.observe.status().pending.map(\.kind) == [.create, .stream, .stream])
    }
}
