import Foundation
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A reference that is taken from a collection in which it is not")
struct UnrelatedReferenceTests {
    @Test("is refused, and neither is anything queued nor a row made", arguments: ["Notes(2)", "Notes(99)"])
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
        #expect(try await store.status().pending.isEmpty)
        #expect(try await store.rows("Notes").count == count)
        #expect(try await store.rows("Notes?$filter=ID eq 2").first?["AlbumID"] == 2)
    }
}
