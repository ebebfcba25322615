import CoreMetrics
import Synchronization

/// A distribution of values over fixed buckets.
///
/// A lock keeps the buckets and their sum together: a reader never sees a sum without its count.
final class HistogramSeries: MetricSeries, RecorderHandler, TimerHandler {
    private let distribution: Mutex<Distribution>

    init(bounds: [Double]) { distribution = Mutex(Distribution(bounds: bounds)) }

    var point: MetricPoint { .distribution(distribution.withLock { $0 }) }

    func record(_ value: Int64) { record(Double(value)) }

    /// Adds a value. A value that is not finite is ignored, because no later value would repair the sum.
    func record(_ value: Double) {
        guard value.isFinite else { return }
        distribution.withLock { $0.add(value) }
    }

    /// Adds a duration in seconds. A negative duration, of a clock that was set back, counts as 0.
    func recordNanoseconds(_ duration: Int64) { record(Double(max(0, duration)) / 1e9) }
}
