import Testing

@Suite("The events of a row")
struct ReplayEventTests {
    @Test("leave the numbers of the table, in each order of two", arguments: ReplayEvent.allCases, ReplayEvent.allCases)
    func pairs(first: ReplayEvent, second: ReplayEvent) async throws {
        let row = try await ReplayRow()
        try await row.prepare(for: first)
        try await row.happen(first)
        try await row.prepare(for: second)
        try await row.happen(second)
        try await row.reopen()
    }
}
