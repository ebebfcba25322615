import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Testing

@Suite("Links to the next page")
struct ForeignLinkTests {
    private static func page(_ rows: String, next link: String? = nil) -> WireScript.Answer {
        let link = link.map { ",\"@odata.nextLink\":\"\($0)\"" } ?? ""
        return .json("{\"@odata.context\":\"$metadata#Orders\",\"value\":[\(rows)]\(link)}")
    }

    /// Returns a shop at https://service.test/shop/ with two pages, of which the first contains a next link.
    private func shop(next link: String) -> WireScript {
        WireScript(metadata: ShopMetadata.v4()) { sent, number in
            number == 0
                ? Self.page("{\"ID\":1}", next: link) : Self.page("{\"ID\":2}")
        }
    }

    @Test(
        "of a service with another scheme, host or port are followed at the address of the service",
        arguments: [
            "http://service.test/shop/Orders?$skip=1", "https://service.test:8443/shop/Orders?$skip=1",
            "http://internal.host.invalid/shop/Orders?$skip=1",
        ])
    func behindProxy(link: String) async throws {
        let wire = shop(next: link)
        let orders = try await wire.service(.init(headers: ["X-Api-Key": "k"])).entities("Orders")
        #expect(orders.map { $0["ID"] } == [1, 2])
        let second = try #require(wire.sent.last)
        #expect(second.message.scheme == "https" && second.message.authority == "service.test")
        #expect(second.message.path == "/shop/Orders?$skip=1")
        #expect(second["X-Api-Key"] == "k")
    }

    @Test("to another host are refused, and followed without credentials if that host is allowed")
    func foreign() async throws {
        let link = "https://data.test/feed?page=2"
        let refusing = shop(next: link)
        await #expect(
            throws: TransportError.foreignLink(origin: "https://data.test", service: "https://service.test")
        ) { try await refusing.service().entities("Orders") }
        #expect(refusing.sent.count == 1)
        let following = shop(next: link)
        let configuration = ODataClient.Configuration(headers: ["X-Api-Key": "k"], followedHosts: ["data.test"])
        #expect(try await following.service(configuration).entities("Orders").count == 2)
        #expect(following.sent.last?.message.authority == "data.test")
        #expect(following.sent.last?["X-Api-Key"] == nil)
    }

    @Test("from https to http are refused")
    func downgrade() async throws {
        let wire = shop(next: "http://data.test/feed?page=2")
        let configuration = ODataClient.Configuration(followedHosts: ["data.test"])
        await #expect(
            throws: TransportError.insecureLink(origin: "http://data.test", service: "https://service.test")
        ) { try await wire.service(configuration).entities("Orders") }
        #expect(wire.sent.count == 1)
    }

    @Test("that lead only to empty pages end with an error")
    func emptyPages() async throws {
        let wire = WireScript(metadata: ShopMetadata.v4()) { _, number in
            guard number < 5000 else { return .refusal(500) }
            return Self.page("", next: "Orders?p=\(number)")
        }
        let error = await #expect(throws: ODataError.self) { try await wire.service().entities("Orders") }
        #expect(error?.code == "EndlessAnswer")
        #expect(wire.sent.count < 1010)
    }
}
