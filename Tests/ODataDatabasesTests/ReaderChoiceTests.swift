import Testing

@testable import ODataDatabases

@Suite("The choice of a reading connection")
struct ReaderChoiceTests {
    @Test("Reads go to the free connection while a long one runs, and take turns afterwards")
    func quietest() async {
        let choice = ReaderChoice(count: 2)
        let (started, start) = AsyncStream.makeStream(of: Int.self)
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        async let long: Void = choice.reading { index in
            start.yield(index)
            for await _ in ended { break }
        }
        var first: Int?
        for await index in started {
            first = index
            break
        }
        for _ in 0..<6 {
            let other = await choice.reading { $0 }
            #expect(other != first, "the connection is busy")
        }
        end.finish()
        await long
        var seen: Set<Int> = []
        for _ in 0..<4 { seen.insert(await choice.reading { $0 }) }
        #expect(seen == [0, 1])
    }

    @Test("A read that fails leaves its connection free")
    func failure() async {
        struct Failure: Error {}
        let choice = ReaderChoice(count: 2)
        for _ in 0..<3 {
            await #expect(throws: Failure.self) {
                try await choice.reading { (_: Int) async throws -> Void in throw Failure() }
            }
        }
        var seen: [Int] = []
        for _ in 0..<4 { seen.append(await choice.reading { $0 }) }
        #expect(seen == [1, 0, 1, 0] || seen == [0, 1, 0, 1])
    }
}
