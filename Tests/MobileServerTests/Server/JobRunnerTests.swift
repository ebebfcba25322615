import Foundation
import Logging
import ServerState
import Synchronization
import Testing

@testable import MobileServer

@Suite("The jobs of a node")
struct JobRunnerTests {
    private struct Worker: JobWorker {
        let body: @Sendable (LeasedJob) async throws -> JobOutcome
        func run(_ job: LeasedJob) async throws -> JobOutcome { try await body(job) }
    }

    private static let times = JobRunner.Times(
        lease: .milliseconds(300), renewal: .milliseconds(50), patience: .milliseconds(250), poll: .milliseconds(20))

    private static func state() async throws -> SQLiteServerState {
        let state = try SQLiteServerState.inMemory()
        _ = try await state.migrate(dryRun: false)
        return state
    }

    private static func runner(
        _ state: any ServerState, owner: String = "a",
        _ body: @escaping @Sendable (LeasedJob) async throws -> JobOutcome
    ) -> JobRunner {
        JobRunner(
            state: state, workers: [.refresh: Worker(body: body)], owner: owner,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), times: times)
    }

    /// Waits for a condition, at most ten seconds.
    private static func wait(_ condition: @Sendable () async throws -> Bool) async throws {
        for _ in 0..<500 {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("the condition never held")
    }

    @Test("Two nodes run each job once")
    func once() async throws {
        let state = try await Self.state()
        let count = Mutex<[String: Int]>([:])
        let work: @Sendable (LeasedJob) async throws -> JobOutcome = { job in
            count.withLock { $0[job.target, default: 0] += 1 }
            return .done
        }
        let runners = ["a", "b"].map { Self.runner(state, owner: $0, work) }
        for runner in runners { await runner.start() }
        for index in 0..<20 { try await state.jobs.add(NewJob(kind: .refresh, target: "\(index)")) }
        try await Self.wait { try await state.jobs.all().isEmpty }
        for runner in runners { await runner.stop(within: .seconds(1)) }
        #expect(count.withLock { $0.count } == 20 && count.withLock { $0.values.allSatisfy { $0 == 1 } })
        await state.close()
    }

    @Test("A long job renews its lease")
    func renewal() async throws {
        let state = try await Self.state()
        let starts = Mutex(0)
        let runner = Self.runner(state) { _ in
            starts.withLock { $0 += 1 }
            try await Task.sleep(for: .milliseconds(900))
            return .done
        }
        await runner.start()
        try await state.jobs.add(NewJob(kind: .refresh, target: "1"))
        try await Self.wait { try await state.jobs.all().isEmpty }
        await runner.stop(within: .seconds(1))
        #expect(starts.withLock { $0 } == 1)
        await state.close()
    }

    @Test("A job is cancelled when its lease is lost (point 14)")
    func lost() async throws {
        let state = try await Self.state()
        let wasCancelled = Mutex(false)
        let hasStarted = Mutex(false)
        let runner = Self.runner(state) { _ in
            hasStarted.withLock { $0 = true }
            do {
                try await Task.sleep(for: .seconds(20))
            } catch {
                wasCancelled.withLock { $0 = true }
            }
            return .again(at: .current() + .seconds(3600))
        }
        await runner.start()
        try await state.jobs.add(NewJob(kind: .refresh, target: "1"))
        try await Self.wait { hasStarted.withLock { $0 } }
        _ = try await state.beginIncarnation()
        try await Self.wait { wasCancelled.withLock { $0 } }
        await runner.stop(within: .zero)
        await state.close()
    }

    @Test("At shutdown, a running job is returned and does not count as a try")
    func drain() async throws {
        let state = try await Self.state()
        let hasStarted = Mutex(false)
        let runner = Self.runner(state) { _ in
            hasStarted.withLock { $0 = true }
            try await Task.sleep(for: .seconds(20))
            return .done
        }
        await runner.start()
        try await state.jobs.add(NewJob(kind: .refresh, target: "1"))
        try await Self.wait { hasStarted.withLock { $0 } }
        await runner.stop(within: .milliseconds(50))
        let jobs = try await state.jobs.all()
        #expect(jobs.map(\.tries) == [0] && jobs.allSatisfy { $0.leaseUntil == nil })
        await state.close()
    }

    @Test("Delays after failures are between a second and 15 minutes")
    func delays() {
        for tries in 0..<40 {
            let delay = JobRunner.delay(after: tries)
            #expect(delay >= .seconds(1) && delay <= .seconds(900))
        }
    }
}
