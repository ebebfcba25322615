import ODataModel
import ODataQuery
import ODataService
import ODataStore
import ProviderChecks
import Testing

@Suite("A service resolves a URL once")
struct ServiceResolutionTests {
    @Test("in a service with its own model, also for a caller with rights", arguments: [false, true])
    func service(hasAuthorization: Bool) async throws {
        let bazaar = try await Bazaar { definition in
            if hasAuthorization { definition.authorization = { _, _ in .full } }
        }
        for number in 1...3 {
            _ = try await bazaar.service.execute(
                bazaar.request(.create, "Categories", #"{"ID":\#(number),"Name":"Category \#(number)"}"#))
        }
        #expect(try await ResolutionCheck(bazaar.service, set: "Categories").faults().isEmpty)
    }

    @Test("A service does not resolve a batch")
    func batch() async throws {
        let error = await #expect(throws: ODataError.self) {
            _ = try await Bazaar().service.execute(ODataRequest(.read, ODataURL(parsing: "$batch")))
        }
        #expect(error?.status == 405 && error?.allowedMethods == ["POST"])
    }
}
