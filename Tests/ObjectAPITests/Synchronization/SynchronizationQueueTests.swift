import Testing

@testable import ObjectAPI

@Suite("The queue of synchronizations")
struct SynchronizationQueueTests {
    enum Step: Sendable {
        /// A call with a context, over groups; over all groups if none is named.
        case begin(String, Set<String>)
        /// Wait until the n-th exchange runs.
        case running(Int)
        /// The exchange that runs succeeds.
        case finish
        /// The exchange that runs fails.
        case fail
        case cancel(String)
        case closeGate
        case openGate
        /// Wait until a call has ended.
        case ended(String)
    }

    struct Sequence: Sendable, CustomTestStringConvertible {
        let name: String
        let steps: [Step]
        let log: [String]
        let exchanges: [[String]]
        let results: [String: String]

        var testDescription: String { name }
    }

    /// The statuses of a running exchange with some calls.
    private static func statuses(_ contexts: String...) -> [String] {
        ["uploading", "downloading"].flatMap { status in contexts.map { "\($0) \(status)" } }
    }

    private static func lines(_ parts: [String]...) -> [String] { parts.flatMap { $0 } }

    static let sequences: [Sequence] = [
        Sequence(
            name: "one call", steps: [.begin("a", ["sales"]), .running(1), .finish, .ended("a")],
            log: lines(["a starting"], statuses("a"), ["a finished"]),
            exchanges: [["sales"]], results: ["a": "done"]),
        Sequence(
            name: "three calls have three pairs of start and finish, and two exchanges",
            steps: [
                .begin("a", ["sales"]), .running(1), .begin("b", ["sales"]), .begin("c", ["system"]), .finish,
                .running(2), .finish, .ended("c"),
            ],
            log: lines(
                ["a starting"], statuses("a"), ["b starting", "c starting", "a finished"], statuses("b", "c"),
                ["b finished", "c finished"]),
            exchanges: [["sales"], ["sales", "system"]], results: ["a": "done", "b": "done", "c": "done"]),
        Sequence(
            name: "a call over all groups makes the shared exchange one over all groups",
            steps: [
                .begin("a", []), .running(1), .begin("b", ["sales"]), .begin("c", []), .finish, .running(2), .finish,
                .ended("c"),
            ],
            log: lines(
                ["a starting"], statuses("a"), ["b starting", "c starting", "a finished"], statuses("b", "c"),
                ["b finished", "c finished"]),
            exchanges: [[], []], results: ["a": "done", "b": "done", "c": "done"]),
        Sequence(
            name: "a waiting call is cancelled alone",
            steps: [
                .begin("a", []), .running(1), .begin("b", ["x"]), .begin("c", ["y"]), .cancel("b"), .finish,
                .running(2), .finish, .ended("c"),
            ],
            log: lines(
                ["a starting"], statuses("a"), ["b starting", "c starting", "b failed", "a finished"], statuses("c"),
                ["c finished"]),
            exchanges: [[], ["y"]], results: ["a": "done", "b": "cancelled", "c": "done"]),
        Sequence(
            name: "one of two calls of a running exchange is cancelled, and the exchange goes on",
            steps: [
                .begin("a", []), .running(1), .begin("b", ["x"]), .begin("c", ["y"]), .finish, .running(2),
                .cancel("b"), .ended("b"), .finish, .ended("c"),
            ],
            log: lines(
                ["a starting"], statuses("a"), ["b starting", "c starting", "a finished"], statuses("b", "c"),
                ["b failed", "c finished"]),
            exchanges: [[], ["x", "y"]], results: ["a": "done", "b": "cancelled", "c": "done"]),
        Sequence(
            name: "the exchange is cancelled with its last call, and the next one runs",
            steps: [
                .begin("a", []), .running(1), .cancel("a"), .ended("a"), .begin("b", []), .running(2), .finish,
                .ended("b"),
            ],
            log: lines(["a starting"], statuses("a"), ["a failed", "b starting"], statuses("b"), ["b finished"]),
            exchanges: [[], []], results: ["a": "cancelled", "b": "done"]),
        Sequence(
            name: "the closed gate ends the running and the waiting calls, and refuses new ones",
            steps: [
                .begin("a", []), .running(1), .begin("b", []), .closeGate, .begin("c", []), .ended("c"), .openGate,
                .begin("d", []), .running(2), .finish, .ended("d"),
            ],
            log: lines(
                ["a starting"], statuses("a"),
                ["b starting", "a failed", "b failed", "c starting", "c failed", "d starting"], statuses("d"),
                ["d finished"]),
            exchanges: [[], []], results: ["a": "disabled", "b": "disabled", "c": "disabled", "d": "done"]),
        Sequence(
            name: "a failure ends only the calls of its exchange",
            steps: [
                .begin("a", []), .running(1), .begin("b", []), .fail, .running(2), .finish, .ended("b"),
            ],
            log: lines(["a starting"], statuses("a"), ["b starting", "a failed"], statuses("b"), ["b finished"]),
            exchanges: [[], []], results: ["a": "failed", "b": "done"]),
    ]

    @Test("gives each call its own statuses", arguments: sequences)
    func sequence(_ sequence: Sequence) async throws {
        let bench = QueueBench()
        for step in sequence.steps {
            switch step {
            case .begin(let context, let groups): bench.begin(context, groups)
            case .running(let number): try await bench.waitForExchange(number)
            case .finish: bench.end()
            case .fail: bench.end(.failure(QueueBench.Refusal()))
            case .cancel(let context): bench.cancel(context)
            case .closeGate: bench.queue.setEnabled(false)
            case .openGate: bench.queue.setEnabled(true)
            case .ended(let context): _ = await bench.result(context)
            }
        }
        #expect(bench.log == sequence.log)
        #expect(bench.exchanges == sequence.exchanges)
        for (context, result) in sequence.results { #expect(await bench.result(context) == result, "\(context)") }
    }

    @Test("runs a subscription change alone, between the calls before and behind it")
    func job() async throws {
        let bench = QueueBench()
        bench.begin("a", [])
        try await bench.waitForExchange(1)
        bench.begin("b", ["x"])
        async let job: Void = bench.queue.perform { bench.note("job") }
        try await bench.wait { $0.queue.waitingCount == 2 }
        bench.begin("c", ["y"])
        bench.end()
        try await bench.waitForExchange(2)
        #expect(bench.exchanges == [[], ["x"]])
        #expect(!bench.log.contains("job"))
        bench.end()
        try await job
        try await bench.waitForExchange(3)
        bench.end()
        #expect(await bench.result("c") == "done")
        let log = bench.log
        let (before, change, behind) = (
            log.firstIndex(of: "b finished"), log.firstIndex(of: "job"), log.firstIndex(of: "c uploading")
        )
        #expect(try #require(before) < #require(change))
        #expect(try #require(change) < #require(behind))
    }

    @Test("lets no more exchanges of a process run than there are permits")
    func permits() async throws {
        #expect(SynchronizationPermits.process.limit == 32)
        let permits = SynchronizationPermits(limit: 32)
        let benches = (0..<33).map { _ in QueueBench(permits: permits) }
        for bench in benches { bench.begin("a", []) }
        let last = try await started(32, of: benches)
        #expect(benches.map(\.log).count { $0 == ["a starting"] } == 1)
        benches.first { $0.isWaiting }?.end()
        try await last.waitForExchange(1)
        for bench in benches { bench.end() }
        for bench in benches { #expect(await bench.result("a") == "done") }
    }

    /// Waits until some exchanges run, and returns the bench whose exchange waits.
    private func started(_ count: Int, of benches: [QueueBench]) async throws -> QueueBench {
        for _ in 0..<10_000 {
            if benches.count(where: \.isWaiting) == count { break }
            try await Task.sleep(for: .milliseconds(1))
        }
        return try #require(benches.first { !$0.isWaiting })
    }

    @Test("gives a permit back, also when the exchange that waits for one is cancelled")
    func cancelledPermit() async throws {
        let permits = SynchronizationPermits(limit: 1)
        let (first, second, third) = (
            QueueBench(permits: permits), QueueBench(permits: permits), QueueBench(permits: permits)
        )
        first.begin("a", [])
        try await first.waitForExchange(1)
        second.begin("b", [])
        second.cancel("b")
        #expect(await second.result("b") == "cancelled")
        third.begin("c", [])
        first.end()
        try await third.waitForExchange(1)
        #expect(second.exchanges.isEmpty)
        third.end()
        #expect(await third.result("c") == "done")
    }
}
