import Testing

@Suite("The events of a row")
struct ReplayEventTests {
    @Test("keep the state table, for each order of two events", arguments: ReplayEvent.allCases, ReplayEvent.allCases)
    func pairs(first: ReplayEvent, second: ReplayEvent) async throws {
        let row = try await ReplayRow()
        try await row.prepare(for: first)
        try await row.happen(first)
        try await row.prepare(for: second)
        try await row.happen(second)
        try await row.reopen()
    }
}
