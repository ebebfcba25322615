import ServerMetrics
import Synchronization
import Testing

@Suite("The report of a server's health")
struct HealthReportTests {
    private struct Broken: Error {}

    @Test("a server is ready from the end of its start to the beginning of its stop")
    func phases() async {
        let health = HealthReport(checks: [.init("data") {}])
        #expect(await !health.isReady && !health.hasStarted)
        health.finishStart()
        #expect(await health.isReady && health.hasStarted)
        health.beginStop()
        #expect(await !health.isReady)
        #expect(health.isStopping && health.hasStarted)
    }

    @Test("one failing check makes a server unready, and the finding contains only the error type")
    func failure() async {
        let health = HealthReport(checks: [.init("good") {}, .init("bad") { throw Broken() }])
        health.finishStart()
        #expect(await !health.isReady)
        let findings = await health.findings
        #expect(findings.map(\.name) == ["good", "bad"])
        #expect(findings.map(\.outcome) == [.passed, .failed(errorType: "Broken")])
    }

    @Test("a check that never ends fails at its limit and is not started again while it runs")
    func endless() async {
        let starts = Atomic<Int>(0)
        let health = HealthReport(
            checks: [
                .init("stuck", within: .milliseconds(50)) {
                    starts.wrappingAdd(1, ordering: .relaxed)
                    // Ignores its cancellation, as a blocked call does.
                    await withCheckedContinuation { (waiting: CheckedContinuation<Void, Never>) in
                        Task.detached {
                            try? await Task.sleep(for: .seconds(2))
                            waiting.resume()
                        }
                    }
                }
            ], maximumAge: .zero)
        health.finishStart()
        let start = ContinuousClock.now
        for _ in 0..<3 { #expect(await health.findings.map(\.outcome) == [.timedOut]) }
        #expect(start.duration(to: .now) < .seconds(1.5))
        #expect(starts.load(ordering: .relaxed) == 1)
    }

    @Test("a finding is reused up to its age, and many callers share one check")
    func age() async throws {
        let runs = Atomic<Int>(0)
        let check = HealthReport.Check("data") {
            runs.wrappingAdd(1, ordering: .relaxed)
            try await Task.sleep(for: .milliseconds(20))
        }
        let health = HealthReport(checks: [check], maximumAge: .seconds(60))
        health.finishStart()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 { group.addTask { await health.isReady } }
            for await isReady in group { #expect(isReady) }
        }
        #expect(runs.load(ordering: .relaxed) == 1)
        let fresh = HealthReport(checks: [check], maximumAge: .zero)
        for _ in 0..<2 { _ = await fresh.findings }
        #expect(runs.load(ordering: .relaxed) == 3)
    }

    @Test("a check that recovers makes the server ready again")
    func recovery() async {
        let isBroken = Atomic<Bool>(true)
        let health = HealthReport(
            checks: [.init("data") { if isBroken.load(ordering: .relaxed) { throw Broken() } }], maximumAge: .zero)
        health.finishStart()
        #expect(await !health.isReady)
        isBroken.store(false, ordering: .relaxed)
        #expect(await health.isReady)
    }
}
