import CoreMetrics

/// A value that rises and falls.
final class GaugeSeries: MetricSeries, MeterHandler, RecorderHandler {
    private let number = AtomicNumber()

    var point: MetricPoint { .value(number.value) }

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { number.update { _ in value } }
    func increment(by amount: Double) { change(by: amount) }
    func decrement(by amount: Double) { change(by: -amount) }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }

    /// Adds a number. A number that is not finite is ignored, because no later change would repair the sum.
    private func change(by amount: Double) {
        guard amount.isFinite else { return }
        number.update { $0 + amount }
    }
}
