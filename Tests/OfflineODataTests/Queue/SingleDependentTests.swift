import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A single-valued relation by a foreign key replaces the previous one")
struct SingleDependentTests {
    /// Changes the metadata so that an album has at most one note, which refers to it by a foreign key, and
    /// notes have ETags.
    private static func withOneNote(_ metadata: String) -> String {
        let changes = [
            #"<NavigationProperty Name="Notes" Type="Collection(Studio.Note)" Partner="Album"/>"#:
                #"<NavigationProperty Name="Note" Type="Studio.Note" Partner="Album"/>"#,
            #"<NavigationProperty Name="Album" Type="Studio.Album" Partner="Notes">"#:
                #"<NavigationProperty Name="Album" Type="Studio.Album" Partner="Note">"#,
            #"<NavigationPropertyBinding Path="Notes" Target="Notes"/>"#:
                #"<NavigationPropertyBinding Path="Note" Target="Notes"/>"#,
            #"<EntitySet Name="Notes" EntityType="Studio.Note">"#:
                #"<EntitySet Name="Notes" EntityType="Studio.Note">"#
                + #"<Annotation Term="Org.OData.Core.V1.OptimisticConcurrency"><Collection/></Annotation>"#,
        ]
        return changes.reduce(metadata) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
    }

    private static let queries = [DefiningQuery(entitySet: "Albums"), DefiningQuery(entitySet: "Notes")]

    /// Changes an entity at the service as another user.
    private func theirs(_ studio: Studio, _ url: String, _ properties: [String: ODataValue]) async throws {
        let shape = try #require(studio.service.model.shape(ofSet: String(url.prefix { $0 != "(" })))
        var request = ODataRequest(
            .update, try ODataURL(parsing: url), body: .entity(ODataEntity(shape: shape, properties)))
        request.ifMatch = "*"
        _ = try await studio.service.execute(request)
    }

    private func service(_ alteration: (String) -> String = { $0 }) async throws -> Studio {
        let studio = try await Studio { alteration(Self.withOneNote($0)) }
        try await studio.service.create("Notes", ["ID": 2, "AlbumID": 2, "Text": "second"])
        return studio
    }

    /// Returns a service of two albums with a note each, and a store of it.
    private func clone(_ alteration: (String) -> String = { $0 }) async throws -> (Studio, OfflineStore) {
        let studio = try await service(alteration)
        return (studio, try await studio.clone(Self.queries))
    }

    /// Returns the notes of an album.
    private func notes(_ provider: any ODataProvider, of album: Int = 1) async throws -> [ODataValue?] {
        try await provider.rows("Notes?$filter=AlbumID eq \(album)&$orderby=ID").map { $0["ID"] }
    }

    /// The way in which a note is assigned to an album.
    enum Way: CaseIterable, Sendable {
        case put, bind
    }

    private func setNote(_ note: Int, of album: Int = 1, in store: any ODataProvider, by way: Way = .put) async throws {
        switch way {
        case .put:
            let url = try ODataURL(parsing: "Albums(\(album))/Note/$ref")
            _ = try await store.execute(ODataRequest(.replace, url, body: .reference("Notes(\(note))")))
        case .bind: try await bind("Albums(\(album))", "Note", to: "Notes(\(note))", in: store)
        }
    }

    private func bind(_ url: String, _ name: String, to id: String, in store: any ODataProvider) async throws {
        let set = String(url.prefix { $0 != "(" })
        let shape = try #require(await store.model.shape(ofSet: set))
        var patch = ODataEntity(shape: shape)
        patch.related[name] = .references([id])
        _ = try await store.execute(ODataRequest(.update, try ODataURL(parsing: url), body: .entity(patch)))
    }

    @Test("The moved relation is visible at once, and both changed entities are sent", arguments: Way.allCases)
    func replaced(way: Way) async throws {
        let (studio, store) = try await clone()
        try await setNote(2, in: store, by: way)
        #expect(try await notes(store) == [2])
        #expect(try await store.rows("Notes(1)").first?["AlbumID"] == .null)
        #expect(try await store.rows("Albums(1)/Note").map { $0["Text"] } == ["second"])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.entityText) == ["Notes(1)", "Notes(2)"], "who has it gives it first")
        #expect(try await notes(studio.service) == [2])
        #expect(try await studio.service.rows("Notes(1)").first?["AlbumID"] == .null)
        try await store.download()
        #expect(try await notes(store) == [2])
    }

    @Test("The previous entity gets the relation back when both changes are undone", arguments: Way.allCases)
    func takenBack(way: Way) async throws {
        let (_, store) = try await clone()
        try await setNote(2, in: store, by: way)
        try await store.changes.undo([ODataURL(parsing: "Notes(1)"), ODataURL(parsing: "Notes(2)")])
        #expect(try await notes(store) == [1])
        #expect(try await notes(store, of: 2) == [2])
        #expect(try await store.observe.status().pending.isEmpty)
    }

    @Test("A later update of the previous entity meets no conflict")
    func ownUpdate() async throws {
        let (studio, store) = try await clone()
        try await setNote(2, in: store)
        try await store.update("Notes(1)", ["Text": "mine"])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        let note = try await studio.service.rows("Notes(1)").first
        #expect(note?["Text"] == "mine" && note?["AlbumID"] == .null)
    }

    @Test("Two entities that swap relations are sent in order, also when requests are folded")
    func swapped() async throws {
        let (studio, store) = try await clone()
        try await setNote(2, of: 1, in: store)
        try await setNote(1, of: 2, in: store)
        let report = try await store.upload(options: UploadOptions(foldsRequests: true))
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.entityText) == ["Notes(1)", "Notes(2)", "Notes(1)"])
        #expect(try await notes(studio.service, of: 1) == [2])
        #expect(try await notes(studio.service, of: 2) == [1])
    }

    @Test("The change waits for a conflict of the previous entity")
    func third() async throws {
        let (studio, store) = try await clone()
        try await studio.service.create("Notes", ["ID": 3, "Text": "third"])
        try await setNote(2, in: store)
        try await setNote(3, in: studio.service)
        try await store.download()
        #expect(try await notes(store) == [2, 3], "what waits is seen beside what the service has")
        let report = try await store.upload()
        #expect(report.accepted.map(\.entityText) == [])
        #expect(report.failed.map(\.entityText) == ["Notes(1)"])
        #expect(report.failed.map { $0.failure?.isConflict } == [true])
        #expect(report.waiting.map(\.entityText) == ["Notes(2)"])
        #expect(try await notes(studio.service) == [3])
        try await store.changes.discard()
        #expect(try await notes(store) == [3])
        #expect(try await notes(store, of: 2) == [2])
        #expect(try await store.observe.status().pending.isEmpty, "what waited for it is given up with it")
    }

    @Test("A refused and repaired change also waits for the previous entity")
    func mended() async throws {
        let studio = try await service()
        let isInvalid = LockedFlag()
        let gateway = Gateway(
            base: try studio.client(),
            before: { request in
                guard request.method == .update, isInvalid.isSet else { return nil }
                throw ODataError(status: 400, code: "Invalid", message: "That is not valid.")
            })
        let store = try await studio.clone(Self.queries, through: gateway)
        try await store.update("Notes(2)", ["Text": "mine"])
        isInvalid.set()
        let refused = try await store.upload().failed
        #expect(refused.map(\.entityText) == ["Notes(2)"])
        isInvalid.clear()
        try await setNote(2, in: store)
        #expect(try await store.observe.status().failed.map(\.id) == [])
        #expect(try await store.observe.status().pending.first?.id == refused.first?.id, "it joins that")
        #expect(try await sent(store) == ["Notes(1)", "Notes(2)"])
        #expect(try await notes(studio.service) == [2])
        #expect(try await studio.service.rows("Notes(2)").first?["Text"] == "mine")
    }

    @Test(
        "A refused change that is repaired with its successor also waits for the previous entity"
    )
    func mendedBefore() async throws {
        let studio = try await service()
        let isInvalid = LockedFlag()
        let gateway = Gateway(
            base: try studio.client(),
            before: { request in
                guard request.method == .update, isInvalid.isSet, request.url.description == "Notes(2)" else {
                    return nil
                }
                throw ODataError(status: 400, code: "Invalid", message: "That is not valid.")
            })
        let store = try await studio.clone(Self.queries, through: gateway)
        try await store.update("Notes(2)", ["Text": "mine"])
        try await setNote(2, in: store)
        try await theirs(studio, "Notes(1)", ["Text": "theirs"])
        isInvalid.set()
        let report = try await store.upload()
        #expect(report.failed.map(\.entityText).sorted() == ["Notes(1)", "Notes(2)"])
        #expect(report.waiting.map(\.entityText) == ["Notes(2)"])
        isInvalid.clear()
        try await store.update("Notes(2)", ["Text": "mended"])
        let again = try await store.upload()
        #expect(again.accepted.map(\.entityText) == [])
        #expect(again.waiting.map(\.entityText) == ["Notes(2)"], "for the other, which is in conflict")
        #expect(try await notes(studio.service) == [1])
        try await store.changes.retry()
        #expect(try await sent(store, UploadOptions(conflictPolicy: .clientWins)) == ["Notes(1)", "Notes(2)"])
        #expect(try await notes(studio.service) == [2])
        #expect(try await studio.service.rows("Notes(2)").first?["Text"] == "mended")
    }

    @Test("Rule 14: only changes with the same foreign key are read")
    func others() async throws {
        let (studio, store) = try await clone()
        try await store.update("Notes(2)", ["AlbumID": .null, "Text": "mine"])
        let other = try #require(try await store.observe.status().pending.first?.id)
        // Damages the change, so that reading it fails.
        try await DatabaseQueue(path: store.directory + "/store.db").write { database in
            try database.execute(
                sql: "UPDATE outpost_queue SET base = CAST(replace(base, '[', '{') AS BLOB) WHERE id = ?",
                arguments: [other])
        }
        await #expect(throws: (any Error).self) { _ = try await store.observe.status() }
        try await store.create("Notes", ["ID": 3, "AlbumID": 1])
        await #expect(throws: (any Error).self) { try await store.create("Notes", ["ID": 4, "AlbumID": 2]) }
        // The store is in the folder of the studio.
        withExtendedLifetime(studio) {}
    }

    // MARK: Undo of one side

    /// Uploads the remaining changes and expects that they are accepted.
    ///
    /// - Returns: the entities of the sent changes, in order.
    private func sent(
        _ store: OfflineStore, _ options: UploadOptions = UploadOptions(),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [String] {
        let report = try await store.upload(options: options)
        #expect(report.failed.map { $0.failure?.message } == [], sourceLocation: sourceLocation)
        #expect(report.waiting.map(\.entityText) == [], sourceLocation: sourceLocation)
        return report.accepted.map(\.entityText)
    }

    /// Returns the entities of the pending changes, in order.
    private func pending(_ store: OfflineStore) async throws -> [String] {
        try await store.observe.status().pending.map(\.entityText)
    }

    @Test(
        "If the previous entity keeps the relation, the other one keeps its other changes",
        arguments: [false, true])
    func otherChanges(alsoOfGiver: Bool) async throws {
        let (studio, store) = try await clone()
        try await setNote(2, in: store)
        try await store.update("Notes(2)", ["Text": "mine"])
        if alsoOfGiver { try await store.update("Notes(1)", ["Text": "kept"]) }
        let first = try await store.observe.status().pending.prefix(1)
        #expect(first.map(\.entityText) == ["Notes(1)"])
        #expect(try await store.changes.cancel(first.map(\.id)) == 1)
        #expect(try await notes(store, of: 1) == [1])
        #expect(try await notes(store, of: 2) == [2])
        #expect(try await store.rows("Notes(2)").first?["Text"] == "mine")
        #expect(try await sent(store) == (alsoOfGiver ? ["Notes(2)", "Notes(1)"] : ["Notes(2)"]))
        #expect(try await notes(studio.service, of: 1) == [1])
        #expect(try await notes(studio.service, of: 2) == [2])
        #expect(try await studio.service.rows("Notes(2)").first?["Text"] == "mine")
        #expect(try await studio.service.rows("Notes(1)").first?["Text"] == (alsoOfGiver ? "kept" : "first"))
    }

    @Test("Of a larger update, all but the foreign key stays, and this is reported")
    func oneUpdate() async throws {
        let (studio, store) = try await clone()
        try await store.update("Notes(1)", ["AlbumID": .null])
        try await store.update("Notes(2)", ["AlbumID": 1, "Text": "mine"])
        try await store.changes.undo([ODataURL(parsing: "Notes(1)")])
        #expect(try await notes(store, of: 1) == [1])
        #expect(try await notes(store, of: 2) == [2])
        let left = try await store.observe.status().pending
        #expect(left.map { $0.changes["Text"] } == ["mine"] && left.map { $0.changes["AlbumID"] } == [nil])
        #expect(try await store.observe.events().contains { $0.kind == "undone" && $0.text == "Notes(2): AlbumID" })
        #expect(try await sent(store) == ["Notes(2)"])
        #expect(try await notes(studio.service, of: 2) == [2])
        #expect(try await studio.service.rows("Notes(2)").first?["Text"] == "mine")
    }

    @Test("A created entity stays without the relation", arguments: ["undone", "given up"])
    func created(way: String) async throws {
        let (studio, store) = try await clone()
        try await store.update("Notes(1)", ["AlbumID": .null])
        try await store.create("Notes", ["ID": 3, "AlbumID": 1, "Text": "new"])
        var options = UploadOptions()
        if way == "undone" {
            try await store.changes.undo([ODataURL(parsing: "Notes(1)")])
            #expect(try await notes(store) == [1])
            #expect(try await store.rows("Notes(3)").first?["AlbumID"] == .null)
        } else {
            try await theirs(studio, "Notes(1)", ["Text": "theirs"])
            options.conflictPolicy = .serverWins
        }
        #expect(try await sent(store, options) == ["Notes(3)"])
        #expect(try await notes(studio.service) == [1])
        let new = try await studio.service.rows("Notes(3)").first
        #expect(new?["Text"] == "new" && new?["AlbumID"] == .null)
        try await store.download()
        #expect(try await notes(store) == [1])
    }

    @Test("If the server version of the previous entity wins, it keeps the relation")
    func givenUp() async throws {
        let (studio, store) = try await clone()
        try await setNote(2, in: store)
        try await store.update("Notes(1)", ["Text": "mine"])
        try await store.update("Notes(2)", ["Text": "mine"])
        try await theirs(studio, "Notes(1)", ["Text": "theirs"])
        #expect(try await sent(store, UploadOptions(conflictPolicy: .serverWins)) == ["Notes(2)"])
        #expect(try await notes(studio.service, of: 1) == [1])
        #expect(try await notes(studio.service, of: 2) == [2])
        #expect(try await studio.service.rows("Notes?$orderby=ID").map { $0["Text"] } == ["theirs", "mine"])
    }

    @Test("A withdrawn local creation never had the relation, and the other entity keeps it")
    func madeHere() async throws {
        let (studio, store) = try await clone()
        try await store.update("Notes(1)", ["AlbumID": .null])
        try await store.create("Notes", ["ID": 3, "AlbumID": 1])
        try await store.update("Notes(3)", ["AlbumID": .null])
        try await store.update("Notes(2)", ["AlbumID": 1])
        try await store.changes.undo([ODataURL(parsing: "Notes(3)")])
        #expect(try await notes(store) == [2])
        #expect(try await sent(store) == ["Notes(1)", "Notes(2)"])
        #expect(try await notes(studio.service) == [2])
    }

    @Test("If the previous entity releases the relation later, the other one waits for that")
    func laterGiver() async throws {
        let (studio, store) = try await clone()
        try await store.update("Notes(2)", ["AlbumID": .null])
        try await store.update("Notes(1)", ["AlbumID": .null])
        try await store.create("Notes", ["ID": 3, "AlbumID": 1])
        try await store.update("Notes(1)", ["AlbumID": 2])
        let second = try await store.observe.status().pending[1]
        #expect(try await store.changes.cancel([second.id]) == 1)
        #expect(try await notes(store, of: 1) == [3])
        #expect(try await sent(store) == ["Notes(2)", "Notes(1)", "Notes(3)"])
        #expect(try await notes(studio.service, of: 1) == [3])
        #expect(try await notes(studio.service, of: 2) == [1])
    }

    @Test("A dependent of a later release in a change set joins that change set")
    func laterGiverInCircle() async throws {
        let (studio, store) = try await clone()
        try await store.update("Notes(1)", ["AlbumID": .null])
        try await store.changes.transaction { changes in
            try changes.update("Notes(2)", ["AlbumID": 1])
            try changes.create("Albums", ["Name": "Autumn"])
        }
        try await store.update("Notes(1)", ["AlbumID": -1])
        try await store.changes.cancel([try #require(try await store.observe.status().pending.first).id])
        #expect(try await sent(store).count == 3)
        #expect(try await store.observe.status().pending.isEmpty)
        #expect(try await notes(studio.service, of: 1) == [2])
        #expect(try await notes(studio.service, of: 3) == [1])
    }

    @Test("A dependent of an entity that is deleted later waits for the deletion")
    func deletedGiver() async throws {
        let (studio, store) = try await clone()
        try await store.update("Notes(1)", ["AlbumID": .null])
        try await store.update("Notes(2)", ["AlbumID": 1])
        try await store.delete("Notes(1)")
        let report = try await store.upload(options: UploadOptions(foldsRequests: true))
        #expect(report.accepted.map(\.kind) == [.delete, .update])
        #expect(try await notes(studio.service, of: 1) == [2])
    }

    @Test("Two entities whose swap is refused both keep their relations")
    func swapTakenBack() async throws {
        let (_, store) = try await clone()
        try await setNote(2, of: 1, in: store)
        try await setNote(1, of: 2, in: store)
        let first = try await store.observe.status().pending.prefix(1)
        try await store.changes.cancel(first.map(\.id))
        #expect(try await notes(store, of: 1) == [1])
        #expect(try await notes(store, of: 2) == [2])
        #expect(try await pending(store) == [])
    }

    @Test("The move is refused if the previous entity requires the relation", arguments: Way.allCases)
    func needed(way: Way) async throws {
        let (_, store) = try await clone {
            $0.replacingOccurrences(
                of: #"<Property Name="AlbumID" Type="Edm.Int64"/>"#,
                with: #"<Property Name="AlbumID" Type="Edm.Int64" Nullable="false"/>"#)
        }
        let error = await #expect(throws: ODataError.self) { try await setNote(2, in: store, by: way) }
        #expect(error?.status == 400 && error?.target == "Note", "what the request names")
        #expect(error?.message.contains("Notes(1)") == true && error?.message.contains("AlbumID") == true)
        #expect(try await notes(store) == [1])
        #expect(try await store.observe.status().pending.isEmpty)
    }
}
