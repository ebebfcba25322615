import Foundation
import GRDB
import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Rules 5 and 8: a locally replaced stream")
struct StreamConflictTests {
    private func clone(
        _ studio: Studio, through service: (any ODataProvider)? = nil
    ) async throws -> OfflineStore {
        try await studio.clone([try DefiningQuery("p", "Pictures", retrievesStreams: true)], through: service)
    }

    @Test("does not hide changes by others from the property change behind it", arguments: [true, false])
    func propertiesOfOthers(hasETags: Bool) async throws {
        let studio = try await Studio()
        let store = try await clone(studio, through: PlainService(base: studio.client(), hasETags: hasETags))
        try await store.replaceStream("Pictures(1)/$value", "two")
        try await store.update("Pictures(1)", ["Title": "Mine"])
        try await studio.service.update("Pictures(1)", ["Title": "Theirs"])
        let report = try await store.upload()
        #expect(report.accepted.map(\.kind) == [.stream])
        #expect(report.failed.map(\.failure?.isConflict) == [true])
        #expect(report.failed.first?.failure?.theirs?["Title"] == "Theirs")
        #expect(try await studio.service.rows("Pictures(1)").first?["Title"] == "Theirs")
    }

    @Test("does not hide changes by others that were downloaded before")
    func downloadedBetween() async throws {
        let studio = try await Studio()
        let store = try await clone(studio)
        try await store.replaceStream("Pictures(1)/$value", "two")
        try await store.update("Pictures(1)", ["Title": "Mine"])
        try await studio.service.update("Pictures(1)", ["Title": "Theirs"])
        try await store.download()
        #expect(try await store.upload().failed.map(\.failure?.isConflict) == [true])
    }

    @Test("does not conflict with a property change before or behind it")
    func own() async throws {
        let studio = try await Studio()
        let store = try await clone(studio)
        try await store.update("Pictures(1)", ["Title": "A"])
        try await store.replaceStream("Pictures(1)/$value", "two")
        try await store.update("Pictures(1)", ["Title": "B"])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.update, .stream, .update])
        #expect(try await studio.service.rows("Pictures(1)").first?["Title"] == "B")
        try await store.replaceStream("Pictures(1)/$value", "three")
        #expect(try await store.upload().accepted.map(\.kind) == [.stream], "its ETag is the new one")
        #expect(try await studio.service.stream("Pictures(1)/$value") == "three")
    }

    @Test("does not overwrite a newer stream of others by default")
    func streamOfOthers() async throws {
        let studio = try await Studio()
        let store = try await clone(studio)
        try await store.replaceStream("Pictures(1)/$value", "mine")
        try await studio.service.replaceStream("Pictures(1)/$value", "theirs")
        let report = try await store.upload()
        #expect(report.failed.map(\.failure?.isConflict) == [true])
        #expect(try await studio.service.stream("Pictures(1)/$value") == "theirs")
        try await store.changes.retry()
        #expect(try await store.upload().accepted.map(\.kind) == [.stream])
        #expect(try await studio.service.stream("Pictures(1)/$value") == "mine")
    }

    @Test("follows the policy if others replaced it meanwhile", arguments: ["mine", "theirs"])
    func policy(winner: String) async throws {
        let studio = try await Studio()
        let store = try await clone(studio)
        try await store.replaceStream("Pictures(1)/$value", "mine")
        try await store.update("Pictures(1)", ["Title": "Sea"])
        try await studio.service.replaceStream("Pictures(1)/$value", "theirs")
        let report = try await store.upload(
            options: UploadOptions(conflictPolicy: winner == "mine" ? .clientWins : .serverWins))
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(try await studio.service.stream("Pictures(1)/$value") == winner)
        try await store.streams.load(ODataURL(parsing: "Pictures(1)/$value"))
        #expect(try await store.stream("Pictures(1)/$value") == winner)
    }

    @Test("is recognised by its bytes if the response was lost and the service remembers no requests")
    func answerLost() async throws {
        let studio = try await Studio()
        let store = try await clone(studio, through: PlainService(base: studio.client()))
        let text = String(repeating: "picture ", count: 100_000)
        try await store.replaceStream("Pictures(1)/$value", text)
        await studio.wire.cut { _, request in request.method == .put ? .answerLost : nil }
        _ = try? await store.upload()
        await studio.wire.mend()
        #expect(try await store.upload().accepted.map(\.kind) == [.stream])
        #expect(try await studio.service.stream("Pictures(1)/$value") == text)
    }

    @Test("keeps the bytes of its creation when only the replacement is cancelled")
    func cancelled() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        _ = try await store.createMedia("Pictures", "new")
        try await store.replaceStream("Pictures(-1)/$value", "newer")
        let last = try #require(try await store.observe.status().pending.last)
        #expect(last.kind == .stream)
        try await store.changes.cancel([last.id])
        #expect(try await store.stream("Pictures(-1)/$value") == "new")
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.create])
        #expect(try await studio.service.stream("Pictures(2)/$value") == "new")
    }

    @Test("is archived if its bytes are gone, and the rest of the queue continues")
    func bytesGone() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        try await store.replaceStream("Pictures(1)/$value", "two")
        try await store.update("Albums(1)", ["Name": "Spring"])
        try await DatabaseQueue(path: store.directory + "/store.db").write {
            try $0.execute(sql: "DELETE FROM outpost_stream")
        }
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.code } == ["StreamGone"])
        #expect(report.accepted.map(\.entitySet) == ["Albums"])
    }
}
