import ODataService
import Synchronization
import Testing

@Suite("Reading the first chunk of a stream ahead")
struct ReadingAheadTests {
    /// A source of chunks that counts the requests for them.
    private final class Source: Sendable {
        private let state: Mutex<(chunks: [[UInt8]], count: Int)>
        init(_ chunks: [String]) { state = Mutex((chunks.map { Array($0.utf8) }, 0)) }
        var count: Int { state.withLock { $0.count } }
        func stream(length: Int64? = nil) -> ByteStream {
            ByteStream(length: length) {
                self.state.withLock { state in
                    state.count += 1
                    return state.chunks.isEmpty ? nil : state.chunks.removeFirst()
                }
            }
        }
    }

    private func text(_ stream: ByteStream) async throws -> String {
        String(decoding: try await stream.collect(limit: 1 << 20), as: UTF8.self)
    }

    @Test("happens once, even if several layers request it")
    func once() async throws {
        let source = Source(["ab", "cd", "ef"])
        var stream = source.stream()
        for _ in 0..<3 { stream = try await stream.readingAhead(findingEnd: false) }
        #expect(source.count == 1)
        stream = try await stream.readingAhead(findingEnd: true)
        #expect(source.count == 1 && stream.length == nil && stream.takeWhole() == nil)
        #expect(try await text(stream) == "abcdef")
        #expect(source.count == 4)
    }

    @Test("gives the length of a stream with a single chunk")
    func whole() async throws {
        let source = Source(["abc"])
        let stream = try await source.stream().readingAhead(findingEnd: true)
        #expect(stream.length == 3 && source.count == 2)
        #expect(stream.takeWhole() == Array("abc".utf8))
        #expect(try await stream.next() == nil)
        #expect(source.count == 2, "the producer is not asked behind its end")
        let announced = try await Source(["abc"]).stream(length: 3).readingAhead(findingEnd: false)
        #expect(announced.takeWhole() == Array("abc".utf8))
        let longer = try await Source(["abc"]).stream(length: 4).readingAhead(findingEnd: false)
        #expect(longer.takeWhole() == nil)
        #expect(try await longer.next() == Array("abc".utf8))
    }

    @Test("requests no second chunk behind a large one, or if the length is known")
    func large() async throws {
        let streams: [(chunk: String, length: Int64?)] = [(String(repeating: "x", count: 65_536), nil), ("abc", 6)]
        for (chunk, length) in streams {
            let source = Source([chunk, "def"])
            _ = try await source.stream(length: length).readingAhead(findingEnd: true)
            #expect(source.count == 1)
        }
    }

    @Test("leaves empty streams and complete bodies unchanged")
    func empty() async throws {
        let empty = try await Source([]).stream().readingAhead(findingEnd: true)
        #expect(empty.length == 0 && empty.takeWhole() == [])
        #expect(try await empty.next() == nil)
        let bytes = try await ByteStream([1, 2]).readingAhead(findingEnd: true)
        #expect(bytes.takeWhole() == [1, 2] && bytes.takeWhole() == [])
        #expect(try await ByteStream([1, 2, 3]).slice(1..<3)?.collect(limit: 9) == [2, 3])
    }

    @Test("throws the error of the first and of the second chunk")
    func errors() async throws {
        let failing = ByteStream { throw ODataError.notFound("The table") }
        await #expect(throws: ODataError.self) { _ = try await failing.readingAhead(findingEnd: false) }
        let left = Mutex(1)
        let second = ByteStream {
            let hasChunk = left.withLock { left in
                left -= 1
                return left == 0
            }
            guard hasChunk else { throw ODataError.notFound("The rest") }
            return [1]
        }
        await #expect(throws: ODataError.self) { _ = try await second.readingAhead(findingEnd: true) }
    }

    @Test("keeps the object of the stream and the chunk that was read")
    func holding() async throws {
        weak var kept: Source?
        var stream: ByteStream?
        do {
            let object = Source([])
            kept = object
            stream = try await Source(["ab", "cd"]).stream().readingAhead(findingEnd: false).holding(object)
        }
        #expect(kept != nil)
        #expect(try await stream?.next() == Array("ab".utf8))
        #expect(try await stream?.next() == Array("cd".utf8))
        stream = nil
        #expect(kept == nil)
    }
}
