import Foundation
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A relation by a foreign key that leads to a single entity takes the place of the one before")
struct SingleDependentTests {
    /// Makes of what the service has that an album has one note at most, which knows it by a foreign key, and that notes
    /// have versions.
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

    /// A service of two albums with a note each, and a store of it.
    private func clone(_ alteration: (String) -> String = { $0 }) async throws -> (Studio, OfflineODataProvider) {
        let studio = try await Studio { alteration(Self.withOneNote($0)) }
        try await studio.service.create("Notes", ["ID": 2, "AlbumID": 2, "Text": "second"])
        let queries = [DefiningQuery(entitySet: "Albums"), DefiningQuery(entitySet: "Notes")]
        return (studio, try await studio.clone(queries))
    }

    /// The notes of an album.
    private func notes(_ provider: any ODataProvider, of album: Int = 1) async throws -> [ODataValue?] {
        try await provider.rows("Notes?$filter=AlbumID eq \(album)&$orderby=ID").map { $0["ID"] }
    }

    /// How a note becomes the one of an album.
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
        var patch = Entity(shape: shape)
        patch.related[name] = .references([id])
        _ = try await store.execute(ODataRequest(.update, try ODataURL(parsing: url), body: .entity(patch)))
    }

    @Test("It is seen at once, and both entities that it changes are sent", arguments: Way.allCases)
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

    @Test("The one before has it again when both are taken back", arguments: Way.allCases)
    func takenBack(way: Way) async throws {
        let (_, store) = try await clone()
        try await setNote(2, in: store, by: way)
        try await store.undo([ODataURL(parsing: "Notes(1)"), ODataURL(parsing: "Notes(2)")])
        #expect(try await notes(store) == [1])
        #expect(try await notes(store, of: 2) == [2])
        #expect(try await store.status().pending.isEmpty)
    }

    @Test("An update of the one before, made behind it, meets no conflict")
    func ownUpdate() async throws {
        let (studio, store) = try await clone()
        try await setNote(2, in: store)
        try await store.update("Notes(1)", ["Text": "mine"])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        let note = try await studio.service.rows("Notes(1)").first
        #expect(note?["Text"] == "mine" && note?["AlbumID"] == .null)
    }

    @Test("It is refused where the one before cannot be without it", arguments: Way.allCases)
    func needed(way: Way) async throws {
        let (_, store) = try await clone {
            $0.replacingOccurrences(
                of: #"<Property Name="AlbumID" Type="Edm.Int64"/>"#,
                with: #"<Property Name="AlbumID" Type="Edm.Int64" Nullable="false"/>"#)
        }
        let error = await #expect(throws: ODataError.self) { try await setNote(2, in: store, by: way) }
        #expect(error?.status == 400 && error?.target == "AlbumID")
        #expect(try await notes(store) == [1])
        #expect(try await store.status().pending.isEmpty)
    }
}
