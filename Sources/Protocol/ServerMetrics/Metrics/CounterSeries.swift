import CoreMetrics
import Synchronization

/// A counter of whole numbers, of fractions, or of both.
///
/// A count beyond 2^64 begins again at 0, which a reader takes for a restart.
final class CounterSeries: MetricSeries, CounterHandler, FloatingPointCounterHandler {
    private let whole = Atomic<UInt64>(0)
    private let fractions = AtomicNumber()

    var point: MetricPoint { .count(whole.load(ordering: .relaxed), fractions: fractions.value) }

    /// Adds a whole number. A counter never falls, so a negative number is ignored.
    func increment(by amount: Int64) {
        guard amount > 0 else { return }
        whole.wrappingAdd(UInt64(amount), ordering: .relaxed)
    }

    /// Adds a number. A number that is negative or not finite is ignored.
    func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        fractions.update { $0 + amount }
    }

    func reset() {
        whole.store(0, ordering: .relaxed)
        fractions.update { _ in 0 }
    }
}
