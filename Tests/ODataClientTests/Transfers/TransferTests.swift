import Foundation
import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization
import Testing

@testable import ODataClient

@Suite("Chunks, files, bandwidth and progress") struct TransferTests {
    private func stream(_ sizes: [Int]) -> ByteStream {
        let left = Mutex(sizes[...])
        return ByteStream(length: Int64(sizes.reduce(0, +))) {
            left.withLock { $0.popFirst() }.map { [UInt8](repeating: 7, count: $0) }
        }
    }

    @Test(
        "Chunks have at most the requested size and are not delayed to fill up",
        arguments: [
            ([250], 100, [100, 100, 50]), ([10, 10, 10], 15, [10, 10, 10]), ([100, 100], 100, [100, 100]), ([], 5, []),
            ([1, 4, 1], 3, [1, 3, 1, 1]), ([300, 1], 100, [100, 100, 100, 1]),
        ] as [([Int], Int, [Int])])
    func chunks(sizes: [Int], size: Int, expected: [Int]) async throws {
        let cut = stream(sizes).chunks(of: try ChunkSize(size))
        #expect(cut.length == Int64(sizes.reduce(0, +)))
        var seen: [Int] = []
        while let chunk = try await cut.next() { seen.append(chunk.count) }
        #expect(seen == expected)
    }

    @Test("A chunk has 102,400 bytes by default, and from 1 to 204,800") func chunkSizes() throws {
        #expect(ChunkSize.standard.bytes == 102_400)
        #expect(try ChunkSize(204_800) == .maximum)
        #expect(throws: ChunkSizeError(bytes: 204_801)) { _ = try ChunkSize(204_801) }
        #expect(throws: ChunkSizeError(bytes: 0)) { _ = try ChunkSize(0) }
    }

    @Test("A file is sent in chunks, in parts, and again from its start") func files() async throws {
        let path = NSTemporaryDirectory() + "outpost-file-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let file = try ByteStream.file(path)
        #expect(file.length == 300_000)
        #expect(file.isRepeatable)
        #expect(try await file.next()?.count == 102_400)
        #expect(try await file.fromStart()?.collect(limit: 300_000) == bytes)
        #expect(try await file.slice(100..<200)?.slice(10..<20)?.collect(limit: 100) == Array(bytes[110..<120]))
        let early = try ByteStream.file(path)
        try Data(bytes.prefix(10)).write(to: URL(fileURLWithPath: path))
        await #expect(throws: FileStreamError.changed(path: path)) { _ = try await early.collect(limit: 300_000) }
        for wrong in ["/nowhere/file", NSTemporaryDirectory()] {
            #expect(throws: FileStreamError.unreadable(path: wrong)) { _ = try ByteStream.file(wrong) }
        }
    }

    /// A clock that is advanced by sleeping.
    private final class Time: Sendable {
        private let state = Mutex((now: ContinuousClock.now, slept: Duration.zero))
        var now: ContinuousClock.Instant { state.withLock { $0.now } }
        var slept: Duration { state.withLock { $0.slept } }
        func pass(_ duration: Duration, sleeping: Bool = false) {
            state.withLock { state in
                state.now += duration
                if sleeping { state.slept += duration }
            }
        }
    }

    @Test("Bandwidth is averaged over the last five seconds") func measured() async throws {
        let time = Time()
        let bandwidth = Bandwidth(now: { time.now }, sleep: { time.pass($0, sleeping: true) })
        for _ in 0..<5 {
            try await bandwidth.pass(1000)
            time.pass(.seconds(1))
        }
        #expect(bandwidth.bytesPerSecond == 1000)
        time.pass(.milliseconds(2500))
        #expect(bandwidth.bytesPerSecond == 400)
        time.pass(.seconds(10))
        #expect(bandwidth.bytesPerSecond == 0)
        #expect(time.slept == .zero)
    }

    @Test("A limit applies to all transfers together, and expensive networks have their own limit") func limited()
        async throws
    {
        let time = Time()
        let bandwidth = Bandwidth(
            limits: .init(standard: nil, expensive: 1000), now: { time.now }, sleep: { time.pass($0, sleeping: true) })
        #expect(!bandwidth.isLimited)
        let transport = ProgressTransport(
            ScriptedWire { _, _ in answer(200, [:], String(repeating: "x", count: 3000)) }, bandwidth: bandwidth)
        _ = try await transport.send(request(), body: nil).1.collect(limit: 4000)
        #expect(time.slept == .zero)
        bandwidth.isExpensive = true
        #expect(bandwidth.isLimited)
        _ = try await transport.send(request(.put), body: ByteStream([UInt8](repeating: 1, count: 2000))).1.collect(
            limit: 4000)
        #expect(abs(time.slept / .seconds(1) - 5) < 0.01)
    }

    @Test("The progress of a batch covers all its requests, and a repeated upload counts once") func progress()
        async throws
    {
        let progress = TransferProgress()
        let first = progress.listener(expectedUpload: 1000, expectedDownload: 100)
        let second = progress.listener(expectedUpload: 500, expectedDownload: 100)
        first(.sent(1000, of: 1000))
        second(.sent(250, of: 500))
        #expect(progress.snapshot.sent == 1250)
        #expect(progress.snapshot.fraction == 1250.0 / 1700)
        first(.sent(0, of: 1000))
        #expect(progress.snapshot.sent == 250)
        first(.sent(1000, of: 1000))
        first(.received(40, of: 100))
        first(.interrupted(TransportError.timedOut(host: "h"), retryAfter: .zero))
        #expect(progress.snapshot.received == 0)
        for listener in [first, second] {
            listener(.sent(500, of: nil))
            listener(.received(100, of: 100))
            listener(.lastByte(.now))
        }
        #expect(progress.snapshot.finished == 2)
        #expect(progress.snapshot.transfers == 2)
        var updates = progress.updates.makeAsyncIterator()
        #expect(await updates.next()?.received == 200)
        _ = progress.listener(expectedUpload: nil)
        #expect(progress.snapshot.fraction == nil)
    }

    @Test("An overflowing sum and a negative size are unknown") func sizesThatCannotBe() {
        let progress = TransferProgress()
        let first = progress.listener(expectedUpload: .max)
        let second = progress.listener(expectedUpload: 1)
        first(.received(1, of: .max))
        #expect(progress.snapshot.expectedToReceive == nil)
        second(.received(1, of: 1))
        #expect(progress.snapshot.expectedToSend == nil && progress.snapshot.expectedToReceive == nil)
        #expect(progress.snapshot.fraction == nil)

        let single = TransferProgress()
        let listener = single.listener(expectedUpload: .max, expectedDownload: 7)
        listener(.received(1, of: -5))
        #expect(single.snapshot.expectedToReceive == 7)
        listener(.received(1, of: .max))
        #expect(single.snapshot.fraction.map { $0 >= 0 && $0 < 0.001 } == true)
        let beyond = TransferProgress.Snapshot(sent: .max, received: .max, expectedToSend: 1, expectedToReceive: 0)
        #expect(beyond.fraction == 1)
    }

    @Test("A session reports progress in both directions") func session() async throws {
        let progress = TransferProgress()
        let wire = ScriptedWire { number, _ in number == 1 ? answer(401) : answer(200, [:], "1234") }
        let session = try HTTPSession(
            wire, serviceRoot: "https://service.test/",
            configuration: .init(authentication: Authentication(TokenAuthentication(.bearer) { $0 ? "new" : "old" })))
        let options = TransferOptions(report: progress.listener(expectedUpload: 10))
        _ = try await session.send(request(.put), body: ByteStream([UInt8](repeating: 0, count: 10)), options: options)
            .1.text
        let end = progress.snapshot
        #expect(end.sent == 10)
        #expect(end.received == 4)
        #expect(end.fraction == 1)
        #expect(wire.sent.count == 2)
    }
}
