import Foundation
import GRDB
import ODataClient
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import OfflineOData
import Secrets
import Testing

@Suite("Streams of a damaged store")
struct SalvagedStreamTests {
    private let key = EncryptionKey.generate()
    private var protection: StoreProtection { .encrypted(.key(key)) }

    private func open(_ studio: Studio, _ directory: String) async throws -> OfflineStore {
        let client = try studio.client()
        return try await OfflineStore.open(
            at: directory, protection: protection, connect: { _, _ in client })
    }

    private func clone(_ studio: Studio) async throws -> OfflineStore {
        let store = try await OfflineStore.create(
            at: studio.directory.appendingPathComponent("clone").path, protection: protection,
            serviceRoot: "http://studio.test/", remote: try studio.client(),
            queries: [try DefiningQuery("p", "Pictures", retrievesStreams: true)])
        try await store.download()
        return store
    }

    /// Returns a text of several chunks with numbered lines.
    private static func text(chunks: Int) -> String {
        let lines = (0..<chunks * 8192).lazy.map { "line \(10_000_000 + $0), and so it goes.\n" }
        return String(lines.joined().prefix(chunks << 18))
    }

    /// Flips a bit in a leaf page of the chunks, counted from the last one.
    private func damage(_ directory: String, leaf: Int) async throws {
        let path = directory + "/store.db"
        let database = try StoreDatabase.open(path: path, protection: protection)
        let page = try await database.read { database in
            let pages = try Int.fetchAll(
                database,
                sql: """
                    SELECT pageno FROM dbstat WHERE name = 'outpost_stream_chunk' AND pagetype = 'leaf' ORDER BY path DESC
                    """)
            return pages[leaf]
        }
        try database.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[4096 + (page - 1) * 4096 + 1234] ^= 0x10
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    @Test("If the end of a table is unreadable, earlier rows are saved and the loss is reported")
    func lastLeaf() async throws {
        let studio = try await Studio()
        let store = try await clone(studio)
        _ = try await store.createMedia("Pictures", Self.text(chunks: 20))
        try store.close()
        try await damage(store.directory, leaf: 0)
        let report = try await OfflineStore.salvage(at: store.directory, protection: protection)
        #expect(report.saved["outpost_stream_chunk"] ?? 0 >= 17, "\(report.saved)")
        #expect(report.losses["outpost_stream_chunk"] != nil)
        #expect(report.losses["outpost_stream"] == 1, "nobody else has its bytes")
        #expect(report.savedChanges == 1)
        let found = try await OfflineStore.verify(at: store.directory, protection: protection)
        #expect(found.problems == ["A stream of Pictures that was made here lacks bytes."])
    }

    @Test("A downloaded stream that lacks bytes is loaded again by the next download")
    func downloaded() async throws {
        let studio = try await Studio()
        let text = Self.text(chunks: 9)
        try await studio.service.replaceStream("Pictures(1)/$value", text)
        let store = try await clone(studio)
        #expect(try await store.stream("Pictures(1)/$value") == text)
        try store.close()
        try await damage(store.directory, leaf: 1)
        let report = try await OfflineStore.salvage(at: store.directory, protection: protection)
        #expect(report.losses["outpost_stream_chunk"] != nil)
        #expect(report.losses["outpost_stream"] == nil)
        #expect(try await OfflineStore.verify(at: store.directory, protection: protection).isWhole)
        let saved = try await open(studio, store.directory)
        #expect(try await !saved.streams.isLoaded(ODataURL(parsing: "Pictures(1)/$value")))
        try await saved.download()
        #expect(try await saved.stream("Pictures(1)/$value") == text)
        try saved.close()
    }

    @Test("A stream that lacks bytes is reported by the check and loaded again")
    func verified() async throws {
        let studio = try await Studio()
        let text = Self.text(chunks: 3)
        try await studio.service.replaceStream("Pictures(1)/$value", text)
        let store = try await clone(studio)
        try store.close()
        let database = try StoreDatabase.open(path: store.directory + "/store.db", protection: protection)
        try await database.write { try $0.execute(sql: "DELETE FROM outpost_stream_chunk WHERE position = 1") }
        try database.close()
        let found = try await OfflineStore.verify(at: store.directory, protection: protection)
        #expect(found.problems == ["A stream of Pictures lacks bytes."])
        let opened = try await open(studio, store.directory)
        #expect(try await opened.maintenance.repair().count == 1)
        try await opened.download()
        #expect(try await opened.stream("Pictures(1)/$value") == text)
        try opened.close()
        #expect(try await OfflineStore.verify(at: store.directory, protection: protection).isWhole)
    }
}
