import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("The failure of one query does not block the others")
struct QueryFailureTests {
    /// Returns a store of categories and orders. The service intercepts the requests for categories.
    private func store(
        _ shop: Shop, options: OfflineStore.Options = .init(),
        before: @escaping @Sendable (ODataRequest) async throws -> ODataResponse? = { _ in nil },
        after: @escaping @Sendable (ODataRequest, ODataResponse) async throws -> ODataResponse = { $1 }
    ) async throws -> OfflineStore {
        let service = Gateway(base: PlainService(base: try shop.client()), before: before, after: after)
        return try await shop.store(
            [DefiningQuery(entitySet: "Categories"), DefiningQuery(entitySet: "Orders")], options: options,
            through: service)
    }

    private func expectRefused(_ store: OfflineStore, code: String) async throws {
        let error = await #expect(throws: OfflineError.self) { try await store.download() }
        guard case .queriesRefused(let refusals, let report)? = error else { throw try #require(error) }
        #expect(refusals.map(\.name) == ["Categories"] && refusals.map(\.error.code) == [code])
        #expect(report.queries.map(\.name) == ["Orders"])
        #expect(try await store.rows("Orders").count == 200)
    }

    @Test("after an unreadable response")
    func malformed() async throws {
        let shop = try await Shop()
        let isWhole = LockedFlag()
        let store = try await store(
            shop,
            before: { request in
                guard !isWhole.isSet, request.url.description.hasPrefix("Categories") else { return nil }
                throw InvalidResponseError(status: 200, problem: .malformed("a brace is missing"), url: "Categories")
            })
        try await expectRefused(store, code: "InvalidResponse")
        isWhole.set()
        try await store.download()
        #expect(try await store.rows("Categories").count == 5)
    }

    @Test("unless no response can be read")
    func nothingReadable() async throws {
        let shop = try await Shop()
        let store = try await store(
            shop, before: { _ in throw InvalidResponseError(status: 200, problem: .webPage(title: "Sign in"), url: "") }
        )
        await #expect(throws: InvalidResponseError.self) { try await store.download() }
    }

    @Test("after a value out of range, if such values are refused")
    func value() async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.sync.refusesUnreadableValues = true
        let store = try await store(
            shop, options: options,
            after: { request, response in
                guard request.url.description.hasPrefix("Categories"), case .page(var page) = response.body else {
                    return response
                }
                page.entities[0]["Name"] = .boolean(true)
                var response = response
                response.body = .page(page)
                return response
            })
        try await expectRefused(store, code: "InvalidValue")
    }

    @Test("when the service cannot count", arguments: [403, 500])
    func count(status: Int) async throws {
        let shop = try await Shop()
        let store = try await store(
            shop,
            before: { request in
                guard request.url.path.segments.last == .count else { return nil }
                throw ODataError(status: status, code: "No", message: "Counting is not for you.")
            })
        try await store.download()
        #expect(try await store.rows("Categories").count == 5)
    }

    @Test("when a singleton is null and is removed locally")
    func nullSingleton() async throws {
        let studio = try await Studio()
        try await studio.service.seed(json: Array(#"{"Me": {"Owner": "Ada"}}"#.utf8))
        let isNull = LockedFlag()
        let service = Gateway(
            base: try studio.client(),
            before: { request in
                guard isNull.isSet, request.url.description.hasPrefix("Me") else { return nil }
                return ODataResponse(status: 204)
            })
        let queries = [try DefiningQuery("me", "Me"), try DefiningQuery("tags", "Tags")]
        let store = try await studio.clone(queries, through: service)
        #expect(try await store.rows("Me").map { $0["Owner"] } == ["Ada"])
        isNull.set()
        try await store.download()
        #expect((try? await store.rows("Me")) ?? [] == [])
        isNull.clear()
        try await store.download()
        #expect(try await store.rows("Me").map { $0["Owner"] } == ["Ada"])
        isNull.set()
        let other = try await studio.clone(queries, named: "other", through: service)
        #expect((try? await other.rows("Me")) ?? [] == [])
        #expect(try await other.rows("Tags").count == 3)
    }

    @Test("when the service refuses a long filter by keys", arguments: [404, 413, 414, 431], [0, 3])
    func longFilter(status: Int, most: Int) async throws {
        let shop = try await Shop()
        let asked = LockedNames()
        let service = Gateway(
            base: PlainService(base: try shop.client()),
            before: { request in
                guard let filter = request.url.options.filter else { return nil }
                let count = "\(ODataURL(path: request.url.path, filter: filter))".matches(of: /OrderID eq/).count
                guard count > most else { return nil }
                asked.append("\(count)")
                throw ODataError(status: status, code: "TooLong", message: "That is too long.")
            })
        let store = try await shop.clone([DefiningQuery(entitySet: "Orders")], through: service)
        try await shop.sql(
            "DELETE FROM \"Order Lines\" WHERE OrderID > 1150; DELETE FROM Orders WHERE OrderID > 1150")
        #expect(try await store.download().removed == 50)
        #expect(try await store.rows("Orders").count == 150)
        #expect(asked.names.first == "20" && asked.names.contains("5"))
    }
}

extension ODataURL {
    fileprivate init(path: ResourcePath, filter: CommonExpression) {
        self.init(path: path)
        options.filter = filter
    }
}
