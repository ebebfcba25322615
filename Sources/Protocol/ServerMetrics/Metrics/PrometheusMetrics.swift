import CoreMetrics

/// The metrics of a process in memory, for Prometheus and for an OpenTelemetry collector.
///
/// ```swift
/// let metrics = PrometheusMetrics()
/// MetricsSystem.bootstrap(metrics)
/// Counter(label: "shop.orders", dimensions: [("kind", "express")]).increment()
/// print(metrics.text)    // shop_orders_total{kind="express"} 1
/// ```
///
/// A counter becomes a counter, a meter and a gauge become a gauge, and a timer or recorder becomes a histogram with
/// fixed buckets. Labels become names as OpenTelemetry defines it: `http.server.request.duration` of a timer is
/// `http_server_request_duration_seconds`.
///
/// All methods may be called from any thread. A counter is one atomic addition.
public final class PrometheusMetrics: MetricsFactory, Sendable {
    /// The settings of a factory.
    public struct Options: Sendable {
        /// The meaning of metrics by label.
        public var descriptions: [String: MetricDescription]
        /// The maximum number of time series; see ``PrometheusMetrics/dropped(_:)``.
        public var seriesLimit: Int
        /// The upper bounds of the buckets of timers, in seconds.
        public var timerBuckets: [Double]
        /// The upper bounds of the buckets of recorders.
        public var recorderBuckets: [Double]

        /// The default limit of 2,000 time series.
        public static let defaultSeriesLimit = 2000

        /// Creates settings.
        public init(
            descriptions: [String: MetricDescription] = MetricDescription.httpServer,
            seriesLimit: Int = Options.defaultSeriesLimit,
            timerBuckets: [Double] = MetricDescription.durationBuckets,
            recorderBuckets: [Double] = MetricDescription.valueBuckets
        ) {
            self.descriptions = descriptions
            self.seriesLimit = seriesLimit
            self.timerBuckets = timerBuckets
            self.recorderBuckets = recorderBuckets
        }
    }

    /// The reason why a time series is not kept.
    public enum DropReason: String, Hashable, Sendable, CaseIterable {
        /// There are as many time series as the limit allows.
        case seriesLimit = "series_limit"
        /// Another metric of another kind uses the name.
        case nameConflict = "name_conflict"
    }

    /// The media type of ``text``: version 0.0.4 of the text exposition format.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The name of the counter of dropped time series, which has the label `reason`.
    public static let droppedName = "outpost_metrics_dropped_series_total"

    private let registry: MetricRegistry
    private let options: Options

    /// Creates a factory without metrics.
    public init(options: Options = Options()) {
        self.options = options
        registry = MetricRegistry(limit: max(0, options.seriesLimit))
    }

    /// The metrics in the text exposition format 0.0.4, sorted by name and label.
    public var text: String { PrometheusText.text(of: families) }

    /// All metrics, sorted by name and label.
    var families: [MetricFamily] { registry.families }

    /// Returns how often a time series was asked for that is not kept. Its values are lost.
    public func dropped(_ reason: DropReason) -> UInt64 { registry.dropped(reason) }

    // MARK: MetricsFactory

    /// Returns the counter of a label and its dimensions.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        counter(label, dimensions)
    }

    /// Returns the counter of a label and its dimensions, which takes fractions.
    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        counter(label, dimensions)
    }

    /// Returns the gauge of a label and its dimensions.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(label, dimensions)
    }

    /// Returns the histogram of a label and its dimensions; a gauge if the values are not aggregated.
    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        guard aggregate else { return gauge(label, dimensions) }
        let bounds = options.descriptions[label]?.buckets ?? options.recorderBuckets
        return histogram(identity(label, dimensions, kind: .histogram), bounds: bounds)
    }

    /// Returns the histogram of a label and its dimensions, in seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let bounds = options.descriptions[label]?.buckets ?? options.timerBuckets
        return histogram(identity(label, dimensions, kind: .histogram, unit: .seconds), bounds: bounds)
    }

    /// Removes the time series of a counter. Its handlers keep working, and nobody sees their values.
    public func destroyCounter(_ handler: any CounterHandler) { registry.remove(handler) }
    /// Removes the time series of a counter that takes fractions.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { registry.remove(handler) }
    /// Removes the time series of a gauge.
    public func destroyMeter(_ handler: any MeterHandler) { registry.remove(handler) }
    /// Removes the time series of a histogram or gauge.
    public func destroyRecorder(_ handler: any RecorderHandler) { registry.remove(handler) }
    /// Removes the time series of a timer.
    public func destroyTimer(_ handler: any TimerHandler) { registry.remove(handler) }

    private func counter(_ label: String, _ dimensions: [(String, String)]) -> CounterSeries {
        registry.series(identity(label, dimensions, kind: .counter)) { CounterSeries() }
    }

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> GaugeSeries {
        registry.series(identity(label, dimensions, kind: .gauge)) { GaugeSeries() }
    }

    private func histogram(_ identity: SeriesIdentity, bounds: [Double]) -> HistogramSeries {
        registry.series(identity) { HistogramSeries(bounds: bounds) }
    }

    private func identity(
        _ label: String, _ dimensions: [(String, String)], kind: MetricKind, unit: MetricDescription.Unit? = nil
    ) -> SeriesIdentity {
        let description = options.descriptions[label]
        return SeriesIdentity(
            label: label, kind: kind, unit: unit ?? description?.unit, help: description?.help,
            dimensions: dimensions)
    }
}
