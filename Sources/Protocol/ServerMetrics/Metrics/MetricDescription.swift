/// The meaning of a metric for people and for collectors: its help text, its unit and its buckets.
///
/// swift-metrics gives a metric a label and dimensions only. Pass descriptions by label to ``PrometheusMetrics``.
public struct MetricDescription: Hashable, Sendable {
    /// A unit of the Unified Code for Units of Measure, as OpenTelemetry uses it.
    public enum Unit: String, Hashable, Sendable, CaseIterable {
        /// Seconds: the suffix `_seconds` in Prometheus.
        case seconds = "s"
        /// Bytes: the suffix `_bytes` in Prometheus.
        case bytes = "By"

        /// The suffix of a name in Prometheus.
        var suffix: String {
            switch self {
            case .seconds: "_seconds"
            case .bytes: "_bytes"
            }
        }
    }

    /// The text after `# HELP`.
    public var help: String
    /// The unit of the values; `nil` for a plain number. A timer is always in seconds.
    public var unit: Unit?
    /// The upper bounds of the buckets of a timer or recorder, in the unit of the values; `nil` for the default.
    public var buckets: [Double]?

    /// Creates a description.
    public init(help: String, unit: Unit? = nil, buckets: [Double]? = nil) {
        self.help = help
        self.unit = unit
        self.buckets = buckets
    }

    /// The buckets of timers, in seconds: those of OpenTelemetry's `http.server.request.duration`.
    public static let durationBuckets: [Double] = [
        0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
    ]

    /// The buckets of sizes, in bytes: powers of four from 256 bytes to 64 MiB.
    public static let sizeBuckets: [Double] = (0...9).map { Double(256 << (2 * $0)) }

    /// The buckets of recorders without a description: those of OpenTelemetry's explicit buckets.
    public static let valueBuckets: [Double] = [
        0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10_000,
    ]

    /// The metrics of an HTTP server by label (OpenTelemetry, semantic conventions for HTTP metrics).
    public static let httpServer: [String: MetricDescription] = [
        "http.server.request.duration": MetricDescription(
            help: "Duration of HTTP server requests.", unit: .seconds, buckets: durationBuckets),
        "http.server.active_requests": MetricDescription(help: "Number of active HTTP server requests."),
        "http.server.response.body.size": MetricDescription(
            help: "Size of HTTP server response bodies.", unit: .bytes, buckets: sizeBuckets),
    ]
}
