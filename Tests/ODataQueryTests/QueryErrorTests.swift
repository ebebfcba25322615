import Testing

@testable import ODataQuery

@Suite("Query errors say where and what")
struct QueryErrorTests {
    @Test("The position counts from one and suggestions follow")
    func description() {
        let error = QueryError(
            .unknownName, "Order has no property Frieght.", offset: 4, part: "$filter", suggestions: ["Freight"])
        #expect(error.description == "$filter: Order has no property Frieght. (at character 5) Did you mean Freight?")
    }
}
