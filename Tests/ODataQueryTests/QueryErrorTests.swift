import Testing

@testable import ODataQuery

@Suite("Query errors name the place and the fault")
struct QueryErrorTests {
    @Test("The position counts from one, and suggestions follow")
    func description() {
        let error = QueryError(
            .unknownName, "Order has no property Frieght.", offset: 4, part: "$filter", suggestions: ["Freight"])
        #expect(error.description == "$filter: Order has no property Frieght. (at character 5) Did you mean Freight?")
    }
}

@Suite("Mistakes are marked at their place")
struct MisspellingTests {
    @Test(
        "A misspelt word is marked, and the right one suggested",
        arguments: [
            ("Orders?$filter=Freight gtt 5", 23, "gt"), ("Orders?$filter=(Freight eqq 5)", 24, "eq"),
            ("Orders?$filter=A eq 1 adn B eq 2", 22, "and"), ("Orders?$filter=Items/any(i:i/A modd 2 eq 1)", 31, "mod"),
            ("Orders?$orderby=Freight dsc", 24, "desc"), ("Orders?$fliter=A", 7, "$filter"),
            ("Orders?$expand=Items($fliter=A)", 21, "$filter"),
            ("Orders?$apply=agregate(A with sum as S)", 14, "aggregate"),
            ("Orders?$apply=aggregate(A wiht sum as S)", 26, "with"),
            ("Orders?$apply=aggregate(A with summ as S)", 31, "sum"),
            ("Orders?$filter=$itt/A eq 1", 15, "$it"),
            ("Orders?$filter=rond(A mul 2) eq 1", 21, "round"),
        ])
    func misspelt(url: String, offset: Int, suggestion: String) throws {
        let error = try #require(throws: QueryError.self) { try ODataURL(parsing: url) }
        #expect(error.offset == offset, "\(error)")
        #expect(error.suggestions.contains(suggestion), "\(error)")
    }
}
