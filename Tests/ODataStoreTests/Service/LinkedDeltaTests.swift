import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

@Suite("11.3 Delta links: members of a link table, and changes of an ETag")
struct LinkedDeltaTests {
    private func track(_ bazaar: Bazaar, _ url: String) async throws -> String? {
        try await bazaar.page(url, preferences: Preferences(trackChanges: true)).deltaLink
    }

    /// Returns a service with a product that has two of three tags.
    private func bazaar(_ change: (inout ServiceDefinition) throws -> Void = { _ in }) async throws -> Bazaar {
        let bazaar = try await Depot.bazaar(changing: change)
        try await bazaar.create("Tags", #"{"ID":3,"Name":"torn"}"#)
        for tag in 1...2 { try await bazaar.send(.create, "Products(50)/Tags/$ref", #"{"id":"Tags(\#(tag))"}"#) }
        try await bazaar.send(.create, "Products(51)/Tags/$ref", #"{"id":"Tags(3)"}"#)
        return bazaar
    }

    @Test("A member that leaves the filter is reported with reason changed (rule 29)")
    func leaving() async throws {
        let bazaar = try await bazaar()
        let link = try await track(bazaar, "Products(50)/Tags?$filter=startswith(Name,'t')")
        try await bazaar.send(.update, "Tags(1)", #"{"Name":"gone"}"#)
        try await bazaar.send(.update, "Tags(3)", #"{"Name":"gone"}"#)
        let delta = try await bazaar.follow(link)
        #expect(delta.entities.isEmpty)
        #expect(delta.removed.map(\.id) == ["Tags(1)"], "who is linked to another product never was a member")
        #expect(delta.removed.map(\.reason) == [.changed])
    }

    @Test("A member that is linked and removed in between is reported, and so is a deleted one")
    func moved() async throws {
        let bazaar = try await bazaar()
        let link = try await track(bazaar, "Products(50)/Tags?$filter=startswith(Name,'t')")
        try await bazaar.send(.delete, "Products(50)/Tags(1)/$ref")
        try await bazaar.send(.delete, "Tags(2)")
        let delta = try await bazaar.follow(link)
        #expect(Set(delta.removed.map(\.id)) == ["Tags(1)", "Tags(2)"])
    }

    // MARK: ETags

    @Test("An update without changed values keeps the ETag")
    func unchanged() async throws {
        let bazaar = try await bazaar { $0.givesETagsToAll = true }
        let etag = try #require(try await bazaar.entity("Products(51)")?.control.etag)
        let link = try await track(bazaar, "Products")
        let answer = try await bazaar.send(.update, "Products(51)", #"{"Name":"Cup"}"#)
        #expect(answer.etag == etag)
        #expect(try await bazaar.follow(link).entities.isEmpty)
        try await bazaar.send(.update, "Products(51)", #"{"Name":"Pot"}"#, ifMatch: etag)
        #expect(try await bazaar.follow(link).entities.map { $0["ID"] } == [51])
    }

    @Test("A link changes the ETag and is in the delta")
    func linked() async throws {
        let bazaar = try await bazaar { $0.givesETagsToAll = true }
        let etag = try #require(try await bazaar.entity("Products(51)")?.control.etag)
        var link = try await track(bazaar, "Products?$select=Name")
        let changes: [(ODataRequest.Method, String, String?)] = [
            (.create, "Products(51)/Tags/$ref", #"{"id":"Tags(1)"}"#),
            (.delete, "Products(51)/Tags(1)/$ref", nil), (.update, "Products(51)", #"{"Tags@odata.bind":["Tags(2)"]}"#),
        ]
        for (method, url, body) in changes {
            try await bazaar.send(method, url, body)
            let delta = try await bazaar.follow(link)
            let told = try #require(delta.entities.first?.control.etag)
            #expect(delta.entities.map { $0["Name"] } == ["Cup"])
            #expect(told != etag)
            #expect(try await bazaar.entity("Products(51)")?.control.etag == told)
            link = delta.deltaLink
        }
    }
}
