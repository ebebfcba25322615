import ODataModel
import ODataService
import Testing

@testable import ODataStore

@Suite("A service on its own model: conditions of changes")
struct ChangeFilterTests {
    private static let ann = Principal(name: "ann")

    private func bazaar(_ access: Access) async throws -> Bazaar {
        let bazaar = try await Bazaar { definition in
            definition.authorization = { principal, set in
                set != "Orders" || principal?.roles.contains("admin") == true ? .full : access
            }
        }
        try await bazaar.service.seed(
            json: Array(#"{"Orders":[{"ID":1,"Owner":"ann"},{"ID":2,"Owner":"bob"}]}"#.utf8))
        return bazaar
    }

    @Test("A change is permitted only if the entity matches before and after it")
    func conditions() async throws {
        let own = AccessFilter("Owner eq @user", values: ["user": "ann"])
        let bazaar = try await bazaar(Access(changeFilters: [.update: own, .create: own, .delete: own]))
        #expect(try await bazaar.page("Orders", principal: Self.ann).entities.count == 2)
        func refusal(_ method: ODataRequest.Method, _ url: String, _ body: String? = nil) async throws -> Int? {
            try await bazaar.refusal(method, url, body, principal: Self.ann)?.status
        }
        #expect(try await refusal(.update, "Orders(2)", #"{"Margin":1}"#) == 403)
        #expect(try await refusal(.update, "Orders(1)", #"{"Owner":"bob"}"#) == 403)
        #expect(try await refusal(.create, "Orders", #"{"Owner":"bob"}"#) == 403)
        #expect(try await refusal(.delete, "Orders(2)") == 403)
        #expect(try await refusal(.update, "Orders(1)", #"{"Margin":1}"#) == nil)
        #expect(try await refusal(.delete, "Orders(1)") == nil)
    }

    @Test("A caller who may only create entities does not receive them")
    func createOnly() async throws {
        let bazaar = try await bazaar(Access([.create]))
        let response = try await bazaar.send(.create, "Orders", #"{"Owner":"eve"}"#, principal: Self.ann)
        #expect(response.status == 204)
        guard case .none = response.body else {
            Issue.record("there is a body")
            return
        }
        #expect(try await bazaar.refusal(.read, "Orders", principal: Self.ann)?.status == 403)
        #expect(try await bazaar.refusal(.update, "Orders(1)", "{}", principal: Self.ann)?.status == 403)
    }
}
