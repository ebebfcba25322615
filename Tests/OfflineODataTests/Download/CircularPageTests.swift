import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A circle of pages ends a download with an error", Patience.limit)
struct CircularPageTests {
    /// Returns a service with two empty pages that link to each other. After 20 requests, the service ends the
    /// loop with an error.
    ///
    /// - Parameter lead: a closure that links a page of the service to them.
    private func circular(
        _ base: any ODataProvider, _ lead: @escaping @Sendable (ODataRequest, inout EntityPage) -> Void
    ) -> Gateway {
        let followed = LockedList()
        return Gateway(
            base: base,
            before: { request in
                guard let link = request.link, link.hasPrefix("circle") else { return nil }
                try Self.count(request, in: followed)
                return ODataResponse(body: .page(EntityPage(nextLink: link == "circle-1" ? "circle-2" : "circle-1")))
            },
            after: { request, response in
                guard case .page(var page) = response.body else { return response }
                lead(request, &page)
                var answer = response
                answer.body = .page(page)
                return answer
            })
    }

    private static func count(_ request: ODataRequest, in followed: LockedList) throws {
        followed.append(request)
        guard followed.requests.count < 20 else {
            throw ODataError(status: 500, code: "Endless", message: "These pages have no end.")
        }
    }

    private func expectError(
        _ store: OfflineStore, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let error = await #expect(throws: ODataError.self, sourceLocation: sourceLocation) {
            try await store.download()
        }
        #expect(error?.code == "UnexpectedAnswer", sourceLocation: sourceLocation)
    }

    @Test("in a first download")
    func first() async throws {
        let shop = try await Shop()
        let service = circular(try shop.client()) { _, page in page.nextLink = "circle-1" }
        try await expectError(shop.store([DefiningQuery(entitySet: "Orders")], through: service))
    }

    @Test("in a delta or a refresh", arguments: [true, false])
    func later(hasDeltaLinks: Bool) async throws {
        let shop = try await Shop()
        let isCircular = LockedFlag()
        let plain = PlainService(base: try shop.client(), hasDeltaLinks: hasDeltaLinks)
        let service = circular(plain) { _, page in if isCircular.isSet { page.nextLink = "circle-1" } }
        let store = try await shop.clone([DefiningQuery(entitySet: "Orders")], through: service)
        #expect(try await store.observe.status().queries.map(\.hasDeltaLink) == [hasDeltaLinks])
        isCircular.set()
        await expectError(store)
        #expect(try await store.rows("Orders").count == 200)
    }

    @Test("in a check for missing rows")
    func confirmation() async throws {
        let shop = try await Shop()
        let service = circular(PlainService(base: try shop.client())) { request, page in
            if request.url.options.filter != nil { page.nextLink = "circle-1" }
        }
        let store = try await shop.clone([DefiningQuery(entitySet: "Orders")], through: service)
        try await shop.sql("DELETE FROM \"Order Lines\"; DELETE FROM Orders WHERE OrderID = 1001")
        await expectError(store)
        #expect(try await store.rows("Orders").count == 200)
    }

    // MARK: Expanded entities

    private static let tree = "Albums?$expand=Tags"

    @Test("in a query that is read whole with its expanded entities")
    func whole() async throws {
        let studio = try await Studio()
        let isCircular = LockedFlag()
        let service = circular(try studio.client()) { _, page in if isCircular.isSet { page.nextLink = "circle-1" } }
        let store = try await studio.clone([try DefiningQuery("tree", Self.tree)], through: service)
        isCircular.set()
        await expectError(store)
        #expect(try await store.rows("Albums").count == 2)
    }

    @Test("in an expanded collection of an entity")
    func expanded() async throws {
        let studio = try await Studio()
        let isCircular = LockedFlag()
        let service = circular(try studio.client()) { _, page in
            if isCircular.isSet { Self.lead(&page, to: "circle-1") }
        }
        let store = try await studio.clone([try DefiningQuery("tree", Self.tree)], through: service)
        isCircular.set()
        await expectError(store)
        #expect(try await store.rows("Albums(1)/Tags").count == 2)
    }

    @Test("in an expanded collection at any depth")
    func nested() async throws {
        let studio = try await Studio()
        let isCircular = LockedFlag()
        let followed = LockedList()
        var tag = ODataEntity(shape: try #require(studio.service.model.shape(ofSet: "Tags")), ["ID": 1, "Name": "red"])
        tag.related["Albums"] = .many([], nextLink: "deeper")
        let tags = [tag]
        let service = Gateway(
            base: try studio.client(),
            before: { request in
                guard request.link == "deeper" else { return nil }
                try Self.count(request, in: followed)
                return ODataResponse(body: .page(EntityPage(entities: tags)))
            },
            after: { _, response in
                guard isCircular.isSet, case .page(var page) = response.body else { return response }
                Self.lead(&page, to: "deeper")
                var answer = response
                answer.body = .page(page)
                return answer
            })
        let store = try await studio.clone([try DefiningQuery("tree", Self.tree)], through: service)
        isCircular.set()
        await expectError(store)
        #expect(try await store.rows("Albums(1)/Tags").count == 2)
    }

    /// Adds a next link to the tags of each album on a page.
    private static func lead(_ page: inout EntityPage, to link: String) {
        for index in page.entities.indices { page.entities[index].related["Tags"] = .many([], nextLink: link) }
    }
}
