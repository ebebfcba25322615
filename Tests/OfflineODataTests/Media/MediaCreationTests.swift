import Foundation
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Rule 9: a media entity created offline below another entity")
struct MediaCreationTests {
    private func expectSent(
        _ store: OfflineStore, _ kinds: [QueuedRequest.Kind], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [], sourceLocation: sourceLocation)
        #expect(report.accepted.map(\.kind) == kinds, sourceLocation: sourceLocation)
    }

    @Test("is read and changed at once, and sent below its parent")
    func contained() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try DefiningQuery("a", "Albums?$expand=Scans")])
        let scan = try await store.createMedia("Albums(1)/Scans", "scan")
        #expect(scan["ID"] == -1 && scan.control.mediaReadLink == "Albums(1)/Scans(-1)/$value")
        try await store.change(.update, "Albums(1)/Scans(-1)", "Picture", ["Title": "Page"])
        #expect(try await store.stream("Albums(1)/Scans(-1)/$value") == "scan")
        #expect(try await store.rows("Albums(2)/Scans").isEmpty)
        #expect(try await store.observe.status().pending.map(\.url) == ["Albums(1)/Scans", "Albums(1)/Scans(-1)"])
        try await expectSent(store, [.create, .update])
        let made = try #require(try await studio.service.rows("Albums(1)/Scans").first)
        #expect(made["Title"] == "Page")
        guard case .integer(let number)? = made["ID"] else { throw ODataError.notFound("ID") }
        #expect(try await studio.service.stream("Albums(1)/Scans(\(number))/$value") == "scan")
        try await store.download()
        for key in [-1, number] { #expect(try await store.stream("Albums(1)/Scans(\(key))/$value") == "scan") }
        #expect(try await store.rows("Albums(1)/Scans").count == 1)
    }

    @Test("of a new entity waits for it, and is undone with it", arguments: [true, false])
    func newContainer(isTakenBack: Bool) async throws {
        let studio = try await Studio()
        let isRefusing = LockedFlag()
        let service = Gateway(
            base: try studio.client(),
            before: { request in
                guard isRefusing.isSet, request.method == .create, request.url.description == "Albums" else {
                    return nil
                }
                throw ODataError(status: 400, code: "No", message: "No.")
            })
        let store = try await studio.clone([try DefiningQuery("a", "Albums?$expand=Scans")], through: service)
        try await store.create("Albums", ["Name": "Autumn"])
        _ = try await store.createMedia("Albums(-1)/Scans", "scan")
        isRefusing.set()
        let report = try await store.upload()
        #expect(report.failed.map(\.entityText) == ["Albums(-1)"])
        #expect(report.waiting.map(\.entityText) == ["Albums(-1)/Scans(-1)"])
        isRefusing.clear()
        if isTakenBack {
            #expect(try await store.changes.undo([ODataURL(parsing: "Albums(-1)")]) == 1)
            let status = try await store.observe.status()
            #expect(status.pending.isEmpty && status.failed.isEmpty)
        } else {
            #expect(try await store.changes.retry() == 1)
            try await expectSent(store, [.create, .create])
            #expect(try await studio.service.rows("Albums(3)/Scans").count == 1)
        }
    }

    @Test("with a link is related after its stream was sent")
    func linked() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([
            try DefiningQuery("a", "Albums?$expand=Pictures"), DefiningQuery(entitySet: "Pictures"),
        ])
        _ = try await store.createMedia("Albums(1)/Pictures", "sea")
        #expect(try await store.rows("Albums(1)/Pictures").map { $0["ID"] } == [-1])
        #expect(try await store.stream("Pictures(-1)/$value") == "sea")
        try await expectSent(store, [.create, .link])
        #expect(try await studio.service.rows("Albums(1)/Pictures").map { $0["ID"] } == [2])
        #expect(try await studio.service.stream("Pictures(2)/$value") == "sea")
    }

    @Test("with a reference gets its foreign key after its stream was sent")
    func referring() async throws {
        let album = #"<NavigationProperty Name="Album" Type="Studio.Album" Partner="Notes">"#
        let thumb = #"<Property Name="Thumb" Type="Edm.Stream"/>"#
        let binding = #"<NavigationPropertyBinding Path="Album" Target="Albums"/>"#
        let pictures = #"<EntitySet Name="Pictures" EntityType="Studio.Picture"/>"#
        let studio = try await Studio { metadata in
            metadata.replacingOccurrences(
                of: album,
                with: #"<NavigationProperty Name="Pictures" Type="Collection(Studio.Picture)" Partner="Note"/>"# + album
            ).replacingOccurrences(
                of: thumb,
                with: thumb + #"<Property Name="NoteID" Type="Edm.Int64"/>"#
                    + #"<NavigationProperty Name="Note" Type="Studio.Note" Partner="Pictures">"#
                    + #"<ReferentialConstraint Property="NoteID" ReferencedProperty="ID"/></NavigationProperty>"#
            ).replacingOccurrences(
                of: binding, with: binding + #"<NavigationPropertyBinding Path="Pictures" Target="Pictures"/>"#
            ).replacingOccurrences(
                of: pictures,
                with: #"<EntitySet Name="Pictures" EntityType="Studio.Picture">"#
                    + #"<NavigationPropertyBinding Path="Note" Target="Notes"/></EntitySet>"#)
        }
        let store = try await studio.clone()
        let picture = try await store.createMedia("Notes(1)/Pictures", "sea")
        #expect(picture["NoteID"] == 1)
        #expect(try await store.rows("Notes(1)/Pictures").map { $0["ID"] } == [-1])
        try await expectSent(store, [.create, .update])
        #expect(try await studio.service.rows("Notes(1)/Pictures").map { $0["ID"] } == [2])
    }

    @Test("of a missing entity stores nothing", arguments: ["Albums(7)/Scans", "Albums(7)/Pictures"])
    func missing(path: String) async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        let before = try await store.keptStreams()
        await #expect(throws: ODataError.self) { _ = try await store.createMedia(path, "lost") }
        #expect(try await store.observe.status().pending.isEmpty)
        #expect(try await store.keptStreams() == before)
        #expect(try await store.rows("Pictures").count == 1)
    }
}
