import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("An unreadable response")
struct UnreadableAnswerTests {
    @Test(
        "for a compared entity does not block the others",
        arguments: [false, true], [false, true])
    func unreadable(hasETags: Bool, isSet: Bool) async throws {
        let shop = try await Shop()
        let isUploading = LockedFlag()
        let service = Gateway(
            base: PlainService(base: try shop.client(), hasETags: hasETags),
            before: { request in
                guard isUploading.isSet, request.method == .read, request.url.description.hasPrefix("Products(5)")
                else { return nil }
                throw InvalidResponseError(status: 200, problem: .malformed("at byte 7"), url: "Products(5)")
            })
        let store = try await shop.clone(through: service)
        if isSet {
            try await store.changes.transaction { changes in
                try changes.update("Products(5)", ["Stock": 77])
                try changes.update("Products(7)", ["Stock": 77])
            }
        } else {
            try await store.update("Products(5)", ["Stock": 77])
        }
        try await store.update("Products(6)", ["Stock": 77])
        if hasETags { try await shop.sql("UPDATE Products SET Name = 'Theirs' WHERE ProductID = 5") }
        isUploading.set()
        let report = try await store.upload()
        #expect(report.failed.map(\.entityText) == (isSet ? ["Products(5)", "Products(7)"] : ["Products(5)"]))
        #expect(report.accepted.map(\.entityText) == ["Products(6)"])
    }
}
