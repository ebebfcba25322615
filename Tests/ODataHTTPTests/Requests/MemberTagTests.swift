import ODataModel
import ODataService
import Testing

@testable import ODataHTTP

/// Entity tags in bodies (OData Protocol 4.01, 11.4.3): conditions in 4.01, ignored in 4.0.
@Suite struct MemberTagTests {
    private func body(_ text: String, version: String) async throws -> RequestBody {
        let (message, body) = Transcript.request(text.replacing("VERSION", with: version))
        return try await ExampleService.requestDecoder().decode(message, body: body).request.body
    }

    /// Returns the tags of an entity and of all entities within it.
    private func tags(_ entity: ODataEntity) -> [String?] {
        [entity.control.etag]
            + entity.related.sorted { $0.key < $1.key }.flatMap { _, related -> [String?] in
                switch related {
                case .one(let other): tags(other)
                case .many(let others, _, _): others.flatMap(tags)
                default: []
                }
            }
    }

    @Test("11.4.3.1 Nulls of nested entities are omitted or kept like those of the outer entity")
    func nested() async throws {
        let text = #"""
            METHOD /service/Categories
            Content-Type: application/json
            OData-Version: VERSION

            {"@odata.etag":"1","Products":[{"ID":1,"@odata.etag":"2","Category":{"ID":1,"@odata.etag":"3"}}]}
            """#
        // A 4.0 update has no nested entities.
        for (version, method, expected) in [("4.01", "PATCH", ["1", "2", "3"]), ("4.0", "POST", [nil, nil, nil])] {
            let text = text.replacing(
                "METHOD /service/Categories", with: "\(method) /service/Categories\(method == "POST" ? "" : "(1)")")
            guard case .entity(let entity) = try await body(text, version: version) else {
                throw ODataError.notFound("entity")
            }
            #expect(tags(entity) == expected)
        }
    }

    @Test("11.4.12 Nulls of collection members are omitted or kept like those of the outer entity")
    func members() async throws {
        let text = #"""
            PATCH /service/Products
            Content-Type: application/json
            OData-Version: VERSION

            {"@odata.context":"#$delta","value":[{"ID":1,"@odata.etag":"1"},{"ID":2,"@odata.etag":"2"},
             {"@removed":{"reason":"deleted"},"@odata.id":"Products(3)","@odata.etag":"3"}]}
            """#
        for (version, expected) in [("4.01", ["1", "2", "3"]), ("4.0", [nil, nil, nil])] {
            guard case .delta(let page) = try await body(text, version: version) else {
                throw ODataError.notFound("delta")
            }
            #expect(page.entities.flatMap(tags) + page.removed.map(\.etag) == expected)
        }
    }
}
