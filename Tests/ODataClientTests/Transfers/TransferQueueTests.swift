import HTTPTypes
import ODataClient
import ODataHTTP
import ODataService
import Synchronization
import Testing

@Suite("The queue of requests") struct TransferQueueTests {
    private final class Order: Sendable {
        private let kept = Mutex<[String]>([])
        var all: [String] { kept.withLock { $0 } }
        func add(_ text: String) { kept.withLock { $0.append(text) } }
    }

    /// Queues requests with these names while the queue is paused, and returns the order in which they run.
    private func order(_ names: [String]) async throws -> [String] {
        let queue = try TransferQueue(limit: 1)
        queue.pause()
        let order = Order()
        var tasks: [Task<Void, any Error>] = []
        for (index, name) in names.enumerated() {
            tasks.append(
                Task {
                    let slot = try await queue.enter(name, priority: name.hasPrefix("H") ? .high : .normal)
                    order.add(name)
                    slot.release()
                })
            while queue.size <= index { await Task.yield() }
        }
        #expect(queue.entries.map(\.label).sorted() == names.sorted())
        #expect(queue.entries.allSatisfy { !$0.isRunning })
        queue.resume()
        for task in tasks { try await task.value }
        return order.all
    }

    @Test("Waiting requests are served in order") func fifo() async throws {
        let names = (1...20).map { "n\($0)" }
        #expect(try await order(names) == names)
    }

    @Test("High priority goes first, but every fifth place goes to an older request") func priorities() async throws {
        let names = ["n1", "n2", "H1", "H2", "H3", "H4", "H5", "H6", "H7", "H8", "H9", "n3"]
        #expect(
            try await order(names) == ["H1", "H2", "H3", "H4", "n1", "H5", "H6", "H7", "H8", "n2", "H9", "n3"])
    }

    @Test(
        "The limit is 1 to 255 requests, and other values are errors",
        arguments: [(0, false), (1, true), (255, true), (256, false), (-1, false)])
    func limits(limit: Int, isPossible: Bool) throws {
        if isPossible {
            let queue = try TransferQueue(limit: limit)
            #expect(queue.limit == limit)
            #expect(throws: TransferQueueError.limit(256)) { try queue.setLimit(256) }
        } else {
            #expect(throws: TransferQueueError.limit(limit)) { _ = try TransferQueue(limit: limit) }
        }
        #expect(TransferQueue.standard().limit == 5)
    }

    @Test("Waiting requests can be cancelled singly and all at once") func cancelling()
        async throws
    {
        let queue = try TransferQueue(limit: 1)
        let slot = try await queue.enter("first")
        let waiting = (0..<3).map { number in Task { _ = try await queue.enter("w\(number)") } }
        while queue.size < 4 { await Task.yield() }
        waiting[1].cancel()
        await #expect(throws: CancellationError.self) { try await waiting[1].value }
        #expect(queue.size == 3)
        queue.cancelWaiting()
        for task in [waiting[0], waiting[2]] {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(queue.entries.map(\.label) == ["first"])
        slot.release()
        #expect(queue.size == 0)
        let cancelled = Task {
            try? await Task.sleep(for: .seconds(60))
            _ = try await queue.enter("late")
        }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(queue.size == 0)
    }

    @Test("A released place is given to the next request") func dropped() async throws {
        let queue = try TransferQueue(limit: 1)
        for _ in 0..<3 { _ = try await queue.enter("x") }
        let transport = QueuedTransport(ScriptedWire { _, _ in answer(200, [:], "body") }, queue: queue)
        for _ in 0..<3 { _ = try await transport.send(request(), body: nil) }
        #expect(queue.size == 0)
    }

    @Test("Raising the limit starts more requests at once") func raised() async throws {
        let queue = try TransferQueue(limit: 1)
        let first = try await queue.enter("1")
        async let second = queue.enter("2")
        while queue.size < 2 { await Task.yield() }
        try queue.setLimit(2)
        try await second.release()
        first.release()
    }

    @Test("The requests of a bundle run one after another, beside other requests") func bundles()
        async throws
    {
        let order = Order()
        let wire = ScriptedWire { _, request in
            order.add("> \(request.path ?? "")")
            try await Task.sleep(for: .milliseconds(request.path == "/1" ? 30 : 1))
            if request.path == "/2" { throw TransportError.timedOut(host: "h") }
            return answer(200, [:], request.path ?? "")
        }
        let session = try HTTPSession(
            wire, serviceRoot: "https://service.test/",
            configuration: .init(retry: .none, queue: try TransferQueue(limit: 4)))
        var bundle = TransferBundle(label: "three")
        for number in 1...4 { bundle.add(request(.post, "https://service.test/\(number)"), body: ByteStream([1])) }
        bundle.remove(at: 3)
        bundle.remove(at: 30)
        async let others: Void = withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 {
                group.addTask { _ = try await session.send(request(.get, "https://service.test/o"), body: nil) }
            }
            try await group.waitForAll()
        }
        try await session.send(bundle) { number, answer in
            #expect(session.queue.entries.contains { $0.label == "three" && $0.isRunning })
            switch answer {
            case .success(let (_, stream)): order.add("< \(number) \(try await stream.text)")
            case .failure: order.add("< \(number) failed")
            }
        }
        try await others
        #expect(order.all.filter { !$0.hasSuffix("/o") } == ["> /1", "< 0 /1", "> /2", "< 1 failed", "> /3", "< 2 /3"])
        bundle.clear()
        #expect(bundle.requests.isEmpty)
    }
}
