import Foundation
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("The removal of a reference from a collection without it")
struct UnrelatedReferenceTests {
    @Test("is refused without a queued request or a new row", arguments: ["Notes(2)", "Notes(99)"])
    func refused(note: String) async throws {
        let studio = try await Studio()
        try await studio.service.create("Notes", ["ID": 2, "AlbumID": 2, "Text": "second"])
        let store = try await studio.clone(
            [DefiningQuery(entitySet: "Albums"), DefiningQuery(entitySet: "Notes")])
        let count = try await store.rows("Notes").count
        var unlink = ODataRequest(.delete, try ODataURL(parsing: "Albums(1)/Notes/$ref"))
        unlink.url.options.id = note
        let error = await #expect(throws: ODataError.self) { try await store.execute(unlink) }
        #expect(error?.status == 404)
        #expect(try await store.observe.status().pending.isEmpty)
        #expect(try await store.rows("Notes").count == count)
        #expect(try await store.rows("Notes?$filter=ID eq 2").first?["AlbumID"] == 2)
    }

    @Test("A single-valued reference is checked by its foreign key, even if its target was not downloaded")
    func foreignKeyAlone() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([DefiningQuery(entitySet: "Notes")])
        @Sendable func unlink(_ id: String) async throws {
            var request = ODataRequest(.delete, try ODataURL(parsing: "Notes(1)/Album/$ref"))
            request.url.options.id = id
            _ = try await store.execute(request)
        }
        for other in ["Albums(2)", "Tags(1)"] {
            let error = await #expect(throws: ODataError.self) { try await unlink(other) }
            #expect(error?.status == 404)
        }
        #expect(try await store.observe.status().pending.isEmpty)
        try await unlink("Albums(1)")
        #expect(try await store.rows("Notes(1)").first?["AlbumID"] == .null)
        #expect(try await store.upload().accepted.count == 1)
        #expect(try await studio.service.rows("Notes(1)").first?["AlbumID"] == .null)
    }
}
