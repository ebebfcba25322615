import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Rule 9: media")
struct MediaTests {
    @Test("are created offline as streams: POST of the stream, then PATCH of the properties")
    func created() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        let text = String(repeating: "picture ", count: 100_000)
        let picture = try await store.createMedia("Pictures", text)
        #expect(picture["ID"] == -1)
        try await store.update("Pictures(-1)", ["Title": "Sea"])
        #expect(try await store.stream("Pictures(-1)/$value") == text, "it is read here at once")
        await studio.wire.mend()
        let report = try await store.upload()
        #expect(report.accepted.map(\.kind) == [.create, .update])
        let requests = await studio.wire.requests
        #expect(requests.first?.headerFields[.contentType] == "image/png")
        #expect(requests.allSatisfy { $0.path?.contains("$batch") != true })
        let id = try #require(try await studio.service.rows("Pictures?$filter=Title eq 'Sea'").first?["ID"])
        guard case .integer(let number) = id else { throw ODataError.notFound("ID") }
        #expect(try await studio.service.stream("Pictures(\(number))/$value") == text)
        #expect(try await store.stream("Pictures(\(number))/$value") == text)
        #expect(try await store.stream("Pictures(-1)/$value") == text, "by its first key too")
    }

    @Test("are loaded by the temporary key of a local creation")
    func loadedByFirstKey() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        _ = try await store.createMedia("Pictures", "mine")
        try await store.upload()
        let pictures = try await studio.service.rows("Pictures?$orderby=ID desc&$top=1")
        let id = try #require(pictures.first?["ID"])
        guard case .integer(let number) = id else { throw ODataError.notFound("ID") }
        try await studio.service.replaceStream("Pictures(\(number))/$value", "theirs")
        #expect(try await store.streams.load(ODataURL(parsing: "Pictures(-1)/$value")))
        #expect(try await store.stream("Pictures(\(number))/$value") == "theirs")
    }

    @Test("are replaced offline: the last stream is sent, and a lost response does no harm")
    func replaced() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        try await store.replaceStream("Pictures(1)/$value", "two")
        try await store.replaceStream("Pictures(1)/$value", "three")
        try await store.update("Pictures(1)", ["Title": "Sea"])
        #expect(try await store.observe.status().pending.map(\.entityText) == ["Pictures(1)/$value", "Pictures(1)"])
        await studio.wire.cut { _, request in request.method == .put ? .answerLost : nil }
        _ = try? await store.upload()
        await studio.wire.mend()
        #expect(try await store.upload().accepted.map(\.kind) == [.stream, .update])
        #expect(try await studio.service.stream("Pictures(1)/$value") == "three")
        #expect(try await studio.service.rows("Pictures(1)").first?["Title"] == "Sea")
    }

    @Test("are stored while a download runs")
    func takenInBesideDownload() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        let (bytes, source) = AsyncStream<[UInt8]>.makeStream()
        source.yield(Array(repeating: 65, count: 300 << 10))
        let asked = LockedNames()
        let slow = ByteStream {
            asked.append("")
            for await chunk in bytes { return chunk }
            return nil
        }
        async let created = store.execute(
            ODataRequest(.create, try ODataURL(parsing: "Pictures"), body: .media(slow, contentType: "image/png")))
        // The first chunk has been written when the second one is requested.
        while asked.names.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
        try await store.download()
        try await store.maintenance.compact()
        source.yield([66])
        source.finish()
        _ = try await created
        #expect(try await store.upload().accepted.map(\.kind) == [.create])
        let pictures = try await studio.service.rows("Pictures?$orderby=ID desc&$top=1")
        let id = try #require(pictures.first?["ID"])
        guard case .integer(let number) = id else { throw ODataError.notFound("ID") }
        #expect(try await studio.service.stream("Pictures(\(number))/$value").utf8.count == (300 << 10) + 1)
    }

    @Test("are loaded and changed for expanded and contained entities")
    func expanded() async throws {
        let studio = try await Studio()
        try await studio.link("Albums(1)/Pictures", to: "Pictures(1)")
        try await studio.picture("Albums(1)/Scans", Array("scan".utf8))
        let scanned = try #require(try await studio.service.rows("Albums(1)/Scans").first)
        guard case .integer(let number)? = scanned["ID"] else { throw ODataError.notFound("ID") }
        #expect(scanned.control.mediaReadLink == "Albums(1)/Scans(\(number))/$value")
        let album = try await studio.service.rows("Albums(1)?$expand=Scans").first
        guard case .many(let scans, _, _)? = album?.related["Scans"] else { throw ODataError.notFound("Scans") }
        #expect(scans.map(\.control.mediaContentType) == ["image/png"])
        #expect(scans.map(\.control.mediaReadLink) == ["Albums(1)/Scans(\(number))/$value"])
        let scan = "(\(number))"
        let store = try await studio.clone([
            try DefiningQuery("a", "Albums?$expand=Pictures,Scans", retrievesStreams: true)
        ])
        #expect(try await store.stream("Pictures(1)/$value") == "one")
        #expect(try await store.stream("Albums(1)/Scans\(scan)/$value") == "scan")
        try await store.replaceStream("Albums(1)/Scans\(scan)/$value", "scanned again")
        #expect(try await store.stream("Albums(1)/Scans\(scan)/$value") == "scanned again")
        #expect(try await store.upload().accepted.map(\.kind) == [.stream])
        #expect(try await studio.service.stream("Albums(1)/Scans\(scan)/$value") == "scanned again")
        await #expect(throws: ODataError.self) { try await store.stream("Albums(2)/Scans\(scan)/$value") }
    }

    @Test("of a property are deleted offline and become null; that of a media entity is deleted with it")
    func removed() async throws {
        let studio = try await Studio()
        try await studio.service.replaceStream("Pictures(1)/Thumb", "small")
        let store = try await studio.clone([try DefiningQuery("p", "Pictures", retrievesStreams: true)])
        #expect(try await store.stream("Pictures(1)/Thumb") == "small")
        let thumb = try ODataURL(parsing: "Pictures(1)/Thumb")
        _ = try await store.execute(ODataRequest(.delete, thumb))
        #expect(try await store.execute(ODataRequest(.read, thumb)).status == 204)
        await studio.wire.cut { _, request in request.method == .delete ? .answerLost : nil }
        _ = try? await store.upload()
        await studio.wire.mend()
        #expect(try await store.upload().accepted.map(\.kind) == [.stream])
        #expect(try await studio.service.execute(ODataRequest(.read, thumb)).status == 204)
        try await store.download()
        await #expect(throws: ODataError.self) { try await store.stream("Pictures(1)/Thumb") }
        _ = try await store.execute(ODataRequest(.delete, try ODataURL(parsing: "Pictures(1)/$value")))
        #expect(try await store.upload().accepted.map(\.kind) == [.delete])
        #expect(try await studio.service.rows("Pictures").isEmpty)
    }

    @Test("stay until the service accepted the deletion of their entity")
    func deletion() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try DefiningQuery("pictures", "Pictures", retrievesStreams: true)])
        try await store.delete("Pictures(1)")
        try await store.download()
        try await store.maintenance.compact()
        #expect(try await store.changes.undo([ODataURL(parsing: "Pictures(1)")]) == 1)
        #expect(try await store.stream("Pictures(1)/$value") == "one")
    }

    @Test("are undone with the other changes of their entity")
    func undone() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try DefiningQuery("p", "Pictures", retrievesStreams: true)])
        try await store.replaceStream("Pictures(1)/$value", "two")
        _ = try await store.createMedia("Pictures", "new")
        #expect(try await store.changes.undoAll() == 2)
        #expect(try await store.rows("Pictures").count == 1)
        #expect(try await store.stream("Pictures(1)/$value") == "one")
    }

    /// A transport that cuts the body of the first long response.
    private struct CuttingTransport: HTTPTransport {
        let base: any HTTPTransport
        let ranges: LockedNames
        let isCut = LockedFlag()

        func send(
            _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
        ) async throws -> (HTTPResponse, ByteStream) {
            let (response, answer) = try await base.send(request, body: body, options: options)
            guard request.path?.hasSuffix("$value") == true, request.method == .get else { return (response, answer) }
            ranges.append(request.headerFields[.range] ?? "all")
            guard !isCut.isSet else { return (response, answer) }
            isCut.set()
            let chunks = answer.chunked(try ChunkSize(64 << 10))
            let counter = Counter()
            return (
                response,
                ByteStream(length: answer.length) {
                    guard await counter.next() <= 10 else {
                        throw TransportError.connectionLost(host: "studio.test", reason: "the wire is cut")
                    }
                    return try await chunks.next()
                }
            )
        }

        private actor Counter {
            private var count = 0
            func next() -> Int {
                count += 1
                return count
            }
        }
    }

    @Test("continue after an interrupted download (Range, If-Range)")
    func resumed() async throws {
        let studio = try await Studio()
        let text = String(repeating: "0123456789abcdef", count: 1 << 16)
        try await studio.service.replaceStream("Pictures(1)/$value", text)
        let ranges = LockedNames()
        let store = try await studio.clone(
            through: try ODataClient(
                serviceRoot: "http://studio.test/", transport: CuttingTransport(base: studio.wire, ranges: ranges)))
        let url = try ODataURL(parsing: "Pictures(1)/$value")
        #expect(try await !store.streams.isLoaded(url))
        await #expect(throws: TransportError.self) { try await store.streams.load(url) }
        #expect(try await !store.streams.isLoaded(url), "a part of it")
        await #expect(throws: ODataError.self, "half a stream is none") { try await store.stream("Pictures(1)/$value") }
        #expect(try await store.streams.load(url))
        #expect(try await store.streams.isLoaded(url))
        #expect(try await store.stream("Pictures(1)/$value") == text)
        #expect(ranges.names == ["all", "bytes=524288-"])
    }

    @Test(
        "are loaded again if they were replaced during an interrupted download (If-Range)"
    )
    func replacedSinceCut() async throws {
        let studio = try await Studio()
        try await studio.service.replaceStream(
            "Pictures(1)/$value", String(repeating: "0123456789abcdef", count: 1 << 16))
        let ranges = LockedNames()
        let store = try await studio.clone(
            through: try ODataClient(
                serviceRoot: "http://studio.test/", transport: CuttingTransport(base: studio.wire, ranges: ranges)))
        let url = try ODataURL(parsing: "Pictures(1)/$value")
        await #expect(throws: TransportError.self) { try await store.streams.load(url) }
        let text = String(repeating: "fedcba9876543210", count: 1 << 16)
        try await studio.service.replaceStream("Pictures(1)/$value", text)
        #expect(try await store.streams.load(url))
        #expect(try await store.stream("Pictures(1)/$value") == text)
        #expect(ranges.names == ["all", "bytes=524288-"])
    }

    @Test("are downloaded with a query that retrieves streams, when they changed or on request")
    func loaded() async throws {
        let studio = try await Studio()
        let plain = try await studio.clone()
        await #expect(throws: ODataError.self) { try await plain.stream("Pictures(1)/$value") }
        #expect(try await plain.streams.load(ODataURL(parsing: "Pictures(1)/$value")))
        #expect(try await plain.stream("Pictures(1)/$value") == "one")
        #expect(try await !plain.streams.load(ODataURL(parsing: "Pictures(1)/$value")), "nothing changed")

        let store = try await studio.clone(
            [try DefiningQuery("p", "Pictures", retrievesStreams: true)], named: "second")
        #expect(try await store.stream("Pictures(1)/$value") == "one")
        try await studio.service.replaceStream("Pictures(1)/$value", "two")
        try await store.download()
        #expect(try await store.stream("Pictures(1)/$value") == "two")
        #expect(try await store.queries.all().map(\.retrievesStreams) == [true])
    }

    @Test("are downloaded again if only their own ETag changed (OData JSON Format 4.01, 4.6.14)")
    func replacedBesideEntity() async throws {
        let studio = try await Studio()
        let service = Gateway(
            base: PlainService(base: try studio.client()),
            after: { _, response in
                guard case .page(var page) = response.body else { return response }
                for index in page.entities.indices { page.entities[index].control.etag = "W/\"the same\"" }
                var response = response
                response.body = .page(page)
                return response
            })
        let loads = LockedNames()
        let counting = Gateway(
            base: service,
            before: { request in
                if request.url.description.hasSuffix("$value") { loads.append(request.url.description) }
                return nil
            })
        let store = try await studio.clone(
            [try DefiningQuery("p", "Pictures", retrievesStreams: true)], through: counting)
        #expect(try await store.stream("Pictures(1)/$value") == "one")
        _ = try await studio.service.execute(
            ODataRequest(
                .replace, try ODataURL(parsing: "Pictures(1)/$value"),
                body: .media(ByteStream(Array("two".utf8)), contentType: "image/png")))
        try await store.download()
        #expect(try await store.stream("Pictures(1)/$value") == "two")
        try await store.download()
        #expect(loads.names == ["Pictures(1)/$value", "Pictures(1)/$value"], "and not again without a reason")
    }

    @Test(
        "that cannot be loaded hide neither refused queries nor the rows of the others",
        arguments: [true, false])
    func cutBesideRefusal(isRefusing: Bool) async throws {
        let studio = try await Studio()
        let isFailing = LockedFlag()
        let service = Gateway(
            base: try studio.client(),
            before: { request in
                guard isFailing.isSet else { return nil }
                if isRefusing, (request.link ?? request.url.description).contains("Tags") {
                    throw ODataError(status: 403, code: "Forbidden", message: "Not for you.")
                }
                guard request.url.description.hasSuffix("$value") else { return nil }
                throw TransportError.connectionLost(host: "studio.test", reason: "the wire is cut")
            })
        let store = try await studio.clone(
            [DefiningQuery(entitySet: "Tags"), DefiningQuery("p", "Pictures", retrievesStreams: true)],
            through: service)
        try await studio.picture("Pictures", Array("two".utf8))
        isFailing.set()
        let error = await #expect(throws: (any Error).self) { try await store.download() }
        let event = try #require(try await store.observe.events(newest: 1).first)
        #expect(event.kind == "download" && (event.requests ?? 0) > 0)
        if isRefusing {
            guard case .queriesRefused(let refusals, let report)? = error as? OfflineError else {
                throw try #require(error)
            }
            #expect(refusals.map(\.name) == ["Tags"] && report.inserted == 1)
            #expect(event.requests == report.received && event.failures == 2 && event.text.contains("refused: Tags"))
        } else {
            #expect(error is TransportError)
            #expect(event.failures == 1)
        }
        #expect(event.text.hasSuffix("ended early while loading streams"))
        isFailing.clear()
        try await store.download()
        let pictures = try await store.rows("Pictures?$orderby=ID desc&$top=1")
        guard case .integer(let number)? = pictures.first?["ID"] else { throw ODataError.notFound("ID") }
        #expect(try await store.stream("Pictures(\(number))/$value") == "two")
    }
}

@Suite("Actions and functions")
struct CallTests {
    private func rename(_ store: any ODataProvider, _ album: String, _ name: String) async throws -> Int {
        try await store.execute(
            ODataRequest(
                .create, try ODataURL(parsing: "\(album)/Studio.Rename"), body: .parameters(["Name": .string(name)]))
        ).status
    }

    @Test("an action waits behind the pending changes of its bound entity")
    func queued() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        try await store.create("Albums", ["Name": "New"])
        #expect(try await rename(store, "Albums(-1)", "Newer") == 202)
        #expect(try await store.rows("RequestQueue?$filter=Method eq 'POST'").count == 2)
        #expect(try await store.upload().accepted.map(\.kind) == [.create, .call])
        #expect(studio.calls.names == ["Newer"])
        try await store.download()
        #expect(try await store.rows("Albums?$filter=Name eq 'Newer'").count == 1)
    }

    @Test("a refused action is archived and can be withdrawn")
    func refused() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        _ = try await rename(store, "Albums(1)", "")
        #expect(try await store.upload().failed.map(\.kind) == [.call])
        #expect(try await store.rows("ErrorArchive").first?["RequestURL"] == "Albums(1)/Studio.Rename")
        try await store.changes.discard()
        #expect(try await store.observe.status().failed.isEmpty)
    }

    @Test("an action with a lost response has an unknown outcome and is not called again")
    func doubt() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        _ = try await rename(store, "Albums(1)", "Spring")
        await studio.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        _ = try? await store.upload()
        await studio.wire.mend()
        _ = try await store.upload()
        #expect(studio.calls.names == ["Spring"])
    }

    @Test("an action is called at once on request, and a function always")
    func online() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        _ = try await rename(store.changes.provider(with: ChangeOptions(operationMode: .online)), "Albums(2)", "Spring")
        #expect(studio.calls.names == ["Spring"])
        await studio.wire.mend()
        let answer = try await store.execute(ODataRequest(.read, try ODataURL(parsing: "CountAlbums()")))
        guard case .value(let count, _) = answer.body else { throw ODataError.notFound("CountAlbums()") }
        #expect(count == 42)
        let requests = await studio.wire.requests
        #expect(requests.count == 1 && requests.first?.path?.contains("CountAlbums") == true)
        #expect(try await store.observe.status().pending.isEmpty)
    }
}

@Suite("Deep changes")
struct DeepChangeTests {
    private func album(_ store: OfflineStore, notes: [[String: ODataValue]], tags: [String] = []) throws
        -> ODataEntity
    {
        let note = try #require(store.model.shape(ofSet: "Notes"))
        var album = ODataEntity(shape: try #require(store.model.shape(ofSet: "Albums")), ["Name": "Deep"])
        album.related["Notes"] = .many(notes.map { ODataEntity(shape: note, $0) })
        if !tags.isEmpty { album.related["Tags"] = .references(tags) }
        return album
    }

    @Test("a deep insert is visible at once and is one change set")
    func insert() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        _ = try await store.execute(
            ODataRequest(
                .create, try ODataURL(parsing: "Albums"),
                body: .entity(try album(store, notes: [["Text": "a"], ["Text": "b"]]))))
        #expect(try await store.rows("Albums(-1)/Notes").count == 2)
        await studio.wire.mend()
        #expect(try await store.upload().accepted.count == 3)
        #expect(await studio.wire.requests.count == 1)
        let notes = try await studio.service.rows("Notes?$filter=Album/Name eq 'Deep'&$orderby=Text")
        #expect(notes.map { $0["Text"] } == ["a", "b"])
        try await store.download()
        #expect(try await store.rows("Notes?$filter=Album/Name eq 'Deep'").count == 2)
    }

    @Test("a deep update creates, changes and removes")
    func update() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        let note = try #require(store.model.shape(ofSet: "Notes"))
        var album = ODataEntity(shape: try #require(store.model.shape(ofSet: "Albums")), ["Name": "Summer"])
        album.related["Notes"] = .many([
            ODataEntity(shape: note, ["ID": 1, "Text": "changed"]), ODataEntity(shape: note, ["Text": "new"]),
        ])
        _ = try await store.execute(
            ODataRequest(.update, try ODataURL(parsing: "Albums(1)"), body: .entity(album)))
        #expect(try await store.rows("Albums(1)/Notes?$orderby=Text").map { $0["Text"] } == ["changed", "new"])
        #expect(try await store.upload().failed.map(\.description) == [])
        #expect(
            try await studio.service.rows("Notes?$filter=AlbumID eq 1&$orderby=Text").map { $0["Text"] }
                == ["changed", "new"])
    }
}

@Suite("Relations")
struct RelationTests {
    @Test("by a foreign key are visible at once, however they were made")
    func foreignKeys() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        try await store.update("Notes(1)", ["AlbumID": 2])
        #expect(try await store.rows("Albums(2)/Notes").count == 1, "by the foreign key")
        _ = try await store.execute(
            ODataRequest(.create, try ODataURL(parsing: "Albums(1)/Notes/$ref"), body: .reference("Notes(1)")))
        #expect(try await store.rows("Albums(1)/Notes").count == 1, "by a link of the collection")
        _ = try await store.execute(
            ODataRequest(.replace, try ODataURL(parsing: "Notes(1)/Album/$ref"), body: .reference("Albums(2)")))
        #expect(try await store.rows("Albums(2)/Notes").count == 1, "by a link of the single-valued property")
        var bound = ODataEntity(shape: try #require(store.model.shape(ofSet: "Notes")), ["Text": "bound"])
        bound.related["Album"] = .references(["Albums(1)"])
        _ = try await store.execute(ODataRequest(.create, try ODataURL(parsing: "Notes"), body: .entity(bound)))
        #expect(try await store.rows("Albums(1)/Notes").map { $0["Text"] } == ["bound"], "by a reference within")
        _ = try await store.execute(
            ODataRequest(
                .create, try ODataURL(parsing: "Albums(1)/Notes"),
                body: .entity(ODataEntity(shape: bound.shape, ["Text": "posted"]))))
        #expect(try await store.rows("Albums(1)/Notes").count == 2, "by a path")
        #expect(try await store.upload().failed.map(\.description) == [])
        for album in 1...2 {
            let url = "Albums(\(album))/Notes?$orderby=Text&$select=Text"
            #expect(try await studio.service.rows(url) == store.rows(url))
        }
    }

    @Test("without a foreign key are added and removed, also for local creations")
    func links() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([
            try DefiningQuery("a", "Albums?$expand=Tags"), DefiningQuery(entitySet: "Tags"),
        ])
        try await store.create("Tags", ["Name": "new"])
        _ = try await store.execute(
            ODataRequest(.create, try ODataURL(parsing: "Albums(2)/Tags/$ref"), body: .reference("Tags(-1)")))
        _ = try await store.execute(
            ODataRequest(.create, try ODataURL(parsing: "Albums(2)/Tags/$ref"), body: .reference("Tags(3)")))
        #expect(try await store.rows("Albums(2)/Tags").count == 2)
        #expect(try await store.rows("Tags(-1)/Albums").map { $0["ID"] } == [2], "from the other side too")
        #expect(try await store.upload().accepted.map(\.kind) == [.create, .link, .link])
        #expect(try await studio.service.rows("Albums(2)/Tags?$orderby=Name").map { $0["Name"] } == ["green", "new"])
        var unlink = ODataRequest(.delete, try ODataURL(parsing: "Albums(2)/Tags/$ref"))
        unlink.url.options.id = "Tags(3)"
        _ = try await store.execute(unlink)
        #expect(try await store.rows("Albums(2)/Tags").count == 1)
        #expect(try await store.upload().accepted.map(\.kind) == [.unlink])
        #expect(try await studio.service.rows("Albums(2)/Tags").map { $0["Name"] } == ["new"])
    }

    @Test("are undone, and an unsent relation that is removed is not sent")
    func undone() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([
            try DefiningQuery("a", "Albums?$expand=Tags"), DefiningQuery(entitySet: "Tags"),
        ])
        _ = try await store.execute(
            ODataRequest(.create, try ODataURL(parsing: "Albums(2)/Tags/$ref"), body: .reference("Tags(3)")))
        var unlink = ODataRequest(.delete, try ODataURL(parsing: "Albums(2)/Tags/$ref"))
        unlink.url.options.id = "Tags(3)"
        _ = try await store.execute(unlink)
        #expect(try await store.observe.status().pending.isEmpty)
        _ = try await store.execute(
            ODataRequest(.create, try ODataURL(parsing: "Albums(2)/Tags/$ref"), body: .reference("Tags(3)")))
        try await store.changes.undoAll()
        #expect(try await store.rows("Albums(2)/Tags").isEmpty)
        #expect(try await store.observe.status().pending.isEmpty)
    }
}
