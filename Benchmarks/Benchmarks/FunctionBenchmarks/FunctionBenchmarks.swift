import Benchmark
import HotPaths

/// The hot paths, sampled: `make bench-functions`.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.cpuTotal, .wallClock, .throughput], maxDuration: .seconds(2))
    do {
        for path in try HotPath.all() {
            Benchmark(path.name) { benchmark in
                for _ in benchmark.scaledIterations { try await path.run() }
            }
        }
    } catch {
        fatalError("\(error)")
    }
}
