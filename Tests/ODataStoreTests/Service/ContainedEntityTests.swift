import ODataModel
import ODataQuery
import ODataService
import ODataStore
import Testing

/// The ids of contained entities (OData URL Conventions 4.01, 4.3.3).
@Suite struct ContainedEntityTests {
    private func bazaar() async throws -> Bazaar {
        let bazaar = try await Bazaar()
        try await bazaar.create("Orders", #"{"Owner":"ann","Lines":[{"No":1,"Text":"a"},{"No":2,"Text":"b"}]}"#)
        try await bazaar.create(
            "Orders", #"{"Owner":"bob","Lines":[{"No":1,"Text":"c"}],"Invoice":{"Number":7,"Paid":true}}"#)
        return bazaar
    }

    private func json(_ bazaar: Bazaar, _ url: String, _ metadata: ResponseFormat.Metadata) async throws -> String {
        var request = try bazaar.request(.read, url)
        request.format = ResponseFormat(metadata: metadata, serviceRoot: "http://b/")
        let response = try await bazaar.service.execute(request)
        guard case .encoded(let body, _) = response.body else { throw ODataError.notFound("encoded body") }
        return String(decoding: try await body.collect(limit: 100_000), as: UTF8.self)
    }

    @Test func `an entity in a collection, alone or expanded has the id of its path`() async throws {
        let bazaar = try await bazaar()
        let lines = try await bazaar.page("Orders(1)/Lines?$orderby=No").entities
        #expect(lines.map(\.control.id) == ["Orders(1)/Lines(1)", "Orders(1)/Lines(2)"])
        #expect(try await bazaar.entity("Orders(2)/Lines(1)")?.control.id == "Orders(2)/Lines(1)")
        let orders = try await bazaar.page("Orders?$expand=Lines,Invoice&$orderby=ID").entities
        guard case .many(let first, _, _)? = orders[0].related["Lines"],
            case .many(let second, _, _)? = orders[1].related["Lines"],
            case .one(let invoice)? = orders[1].related["Invoice"]
        else { throw ODataError.notFound("expanded rows") }
        #expect(first.map(\.control.id) == ["Orders(1)/Lines(1)", "Orders(1)/Lines(2)"])
        #expect(second.map(\.control.id) == ["Orders(2)/Lines(1)"])
        #expect(invoice.control.id == "Orders(2)/Invoice")
        #expect(try await bazaar.entity("Orders(2)/Invoice")?.control.id == "Orders(2)/Invoice")
    }

    @Test func `full metadata say it, minimal ones when the key is not selected`() async throws {
        let bazaar = try await bazaar()
        let id = #""@id":"Orders(2)/Lines(1)""#
        #expect(try await json(bazaar, "Orders(2)/Lines", .full).contains(id))
        #expect(try await json(bazaar, "Orders(2)/Lines?$select=Text", .minimal).contains(id))
        #expect(try await !json(bazaar, "Orders(2)/Lines", .minimal).contains("@id"))
        let order = try await json(bazaar, "Orders?$filter=ID eq 2&$expand=Lines,Invoice", .full)
        #expect(order.contains(id))
        #expect(order.contains(#""@id":"Orders(2)/Invoice""#))
    }

    @Test func `the id leads back to the entity`() async throws {
        let bazaar = try await bazaar()
        for id in ["Orders(2)/Lines(1)", "http://host/root/Orders(2)/Lines(1)"] {
            let line = try #require(try await bazaar.entity("$entity?$id=\(id)"))
            #expect(line["Text"] == "c")
            #expect(line.control.id == "Orders(2)/Lines(1)")
        }
        #expect(try await bazaar.entity("$entity?$id=Orders(2)/Invoice")?["Number"] == 7)
        #expect(try await bazaar.refusal(.read, "$entity?$id=Orders(2)/Nothing(1)")?.status == 400)
        #expect(try await bazaar.refusal(.read, "$entity?$id=Orders(2)/Lines(9)")?.status == 404)
    }

    @Test func `a deep update accepts the entity that was read, with its ids`() async throws {
        let bazaar = try await bazaar()
        try await bazaar.send(
            .update, "Orders(1)", #"{"Lines":[{"@id":"Orders(1)/Lines(2)","No":2,"Text":"z"}]}"#)
        #expect(try await bazaar.names("Orders(1)/Lines", "Text") == ["z"])
        #expect(try await bazaar.names("Orders(2)/Lines", "Text") == ["c"])
    }
}
