import Foundation
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite(
    "Rule 11: relations that replaced others, of an entity that a download brought before its key was known")
struct TwinRelationTests {
    /// Changes the metadata so that an album has one tag as its motto.
    private static func withMotto(_ metadata: String) -> String {
        let pictures = #"<NavigationProperty Name="Pictures" Type="Collection(Studio.Picture)"/>"#
        let binding = #"<NavigationPropertyBinding Path="Tags" Target="Tags"/>"#
        return
            metadata
            .replacingOccurrences(
                of: pictures, with: pictures + #"<NavigationProperty Name="Motto" Type="Studio.Tag"/>"#
            )
            .replacingOccurrences(
                of: binding, with: binding + #"<NavigationPropertyBinding Path="Motto" Target="Tags"/>"#)
    }

    private func setMotto(of album: Int, to tag: Int, in provider: any ODataProvider) async throws {
        let url = try ODataURL(parsing: "Albums(\(album))/Motto/$ref")
        _ = try await provider.execute(ODataRequest(.replace, url, body: .reference("Tags(\(tag))")))
    }

    private func motto(_ provider: any ODataProvider, of album: Int = 3) async throws -> [ODataValue?] {
        try await provider.rows("Albums(\(album))/Motto").map { $0["Name"] }
    }

    /// Returns a store with a local album and the red tag as its motto. The response to the creation was lost.
    /// The service then assigned the blue tag, which was downloaded, and the store assigned the green one under
    /// the server's key.
    private func twins() async throws -> (Studio, OfflineStore) {
        let studio = try await Studio(Self.withMotto)
        let store = try await studio.clone([
            try DefiningQuery("albums", "Albums?$expand=Motto"), DefiningQuery(entitySet: "Tags"),
        ])
        try await store.changes.provider(with: ChangeOptions(category: "now")).create("Albums", ["Name": "Autumn"])
        try await setMotto(of: -1, to: 1, in: store)
        await studio.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        await #expect(throws: (any Error).self) { try await store.upload(options: UploadOptions(categories: ["now"])) }
        await studio.wire.mend()
        try await setMotto(of: 3, to: 2, in: studio.service)
        try await store.download()
        #expect(try await motto(store) == ["blue"])
        try await setMotto(of: 3, to: 3, in: store)
        #expect(try await motto(store, of: -1) == ["red"], "not known to be one yet")
        let report = try await store.upload(options: UploadOptions(categories: ["now"]))
        #expect(report.accepted.map(\.kind) == [.create])
        #expect(try await store.rows("Albums?$filter=Name eq 'Autumn'").count == 1)
        return (studio, store)
    }

    @Test("The relations are those of the last request, and each restores the replaced one")
    func takenBack() async throws {
        let (_, store) = try await twins()
        #expect(try await motto(store) == ["green"])
        let waiting = try await store.observe.status().pending
        #expect(waiting.map(\.kind) == [.link, .link])
        try await store.changes.cancel([try #require(waiting.last).id])
        #expect(try await motto(store) == ["red"])
        try await store.changes.cancel([try #require(waiting.first).id])
        #expect(try await motto(store) == ["blue"], "what the service has")
    }

    @Test("The relations return when all changes of the entity are undone")
    func undone() async throws {
        let (_, store) = try await twins()
        #expect(try await store.changes.undo([ODataURL(parsing: "Albums(3)")]) == 1)
        #expect(try await motto(store) == ["blue"])
        #expect(try await store.observe.status().pending.isEmpty)
    }

    @Test("The relations are sent with the service key")
    func uploaded() async throws {
        let (studio, store) = try await twins()
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        for provider in [studio.service, store] as [any ODataProvider] {
            #expect(try await motto(provider) == ["green"])
        }
        #expect(try await store.observe.status().pending.isEmpty)
    }
}
