import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

@Suite("11.7.4 A request in a change set gets the same response as alone")
struct ChangeSetAnswerTests {
    /// Returns the entity in the response to a creation, sent alone or in a change set.
    private func answer(
        to request: ODataRequest, isAlone: Bool, _ provider: any ODataProvider
    ) async throws -> ODataEntity {
        var response: ODataResponse
        if isAlone {
            response = try await provider.execute(request)
        } else {
            let batch = ODataRequest(
                .create, try ODataURL(parsing: "$batch"),
                body: .batch([BatchItem(id: "1", request: request, atomicityGroup: "g")]))
            response = try await provider.execute(batch)
            guard case .batch(let results) = response.body else { throw ODataError.notFound("$batch") }
            let result = try #require(results.first)
            response = try result.result.get()
        }
        #expect(response.status == 201)
        guard case .entity(let entity) = response.body else { throw ODataError.notFound("entity") }
        return entity
    }

    @Test("a service returns its $select and $expand", arguments: [true, false])
    func service(isAlone: Bool) async throws {
        let bazaar = try await Bazaar()
        try await bazaar.create("Categories", #"{"Name":"Kitchen"}"#)
        let request = try bazaar.request(
            .create, "Products?$select=Name&$expand=Category", #"{"Name":"Mug","CategoryID":1}"#)
        let mug = try await answer(to: request, isAlone: isAlone, bazaar.service)
        #expect(mug["Name"] == "Mug" && mug["Price"] == nil)
        guard case .one(let category)? = mug.related["Category"] else {
            Issue.record("not expanded")
            return
        }
        #expect(category["Name"] == "Kitchen")
    }
}
