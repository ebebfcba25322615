/// A request for `/v1/metrics` (`ExportMetricsServiceRequest`). All values are cumulative.
struct OTLPMetrics: Encodable {
    /// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
    static let cumulative = 2

    struct ResourceMetrics: Encodable {
        var resource: OTLPPayload.Resource
        var scopeMetrics: [ScopeMetrics]
    }

    struct ScopeMetrics: Encodable {
        var scope = OTLPPayload.Scope()
        var metrics: [Metric]
    }

    struct Metric: Encodable {
        var name: String
        var description: String
        var unit: String?
        var sum: Sum?
        var gauge: Gauge?
        var histogram: Histogram?
    }

    struct Sum: Encodable {
        var dataPoints: [NumberPoint] = []
        var aggregationTemporality = OTLPMetrics.cumulative
        var isMonotonic = true
    }

    struct Gauge: Encodable {
        var dataPoints: [NumberPoint] = []
    }

    struct Histogram: Encodable {
        var dataPoints: [HistogramPoint] = []
        var aggregationTemporality = OTLPMetrics.cumulative
    }

    struct NumberPoint: Encodable {
        var attributes: [OTLPAttribute]
        var startTimeUnixNano: String
        var timeUnixNano: String
        var asInt: String?
        var asDouble: Double?
    }

    struct HistogramPoint: Encodable {
        var attributes: [OTLPAttribute]
        var startTimeUnixNano: String
        var timeUnixNano: String
        var count: String
        var sum: Double
        var bucketCounts: [String]
        var explicitBounds: [Double]
    }

    var resourceMetrics: [ResourceMetrics]

    /// - Parameter now: The time in nanoseconds since 1970.
    init(_ families: [MetricFamily], resource: [OTLPAttribute], at now: UInt64, _ redaction: OTLPRedaction) {
        let time = Time(now: now)
        let metrics = families.map { Metric($0, at: time, redaction) }
        resourceMetrics = [
            ResourceMetrics(resource: .init(attributes: resource), scopeMetrics: [ScopeMetrics(metrics: metrics)])
        ]
    }

    /// The same instant on both clocks.
    struct Time {
        let now: UInt64
        private let instant = ContinuousClock.now

        init(now: UInt64) { self.now = now }

        /// Returns an earlier instant in nanoseconds since 1970.
        func text(of earlier: ContinuousClock.Instant) -> String {
            let (seconds, attoseconds) = earlier.duration(to: instant).components
            let age = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
            let passed = age.overflow ? now : age.partialValue &+ UInt64(clamping: attoseconds / 1_000_000_000)
            return String(now - min(now, passed))
        }
    }
}

extension OTLPMetrics.Metric {
    init(_ family: MetricFamily, at time: OTLPMetrics.Time, _ redaction: OTLPRedaction) {
        name = family.name.label
        description = family.help
        unit = family.name.unit?.rawValue
        switch family.name.kind {
        case .counter: sum = .init()
        case .gauge: gauge = .init()
        case .histogram: histogram = .init()
        }
        for series in family.series {
            let attributes = series.labels.map { redaction.attribute($0.key, .string($0.value)) }
            let (start, now) = (time.text(of: series.start), String(time.now))
            switch series.point {
            case .count(let whole, let fractions):
                let integer = fractions == 0 ? Int64(exactly: whole).map { String($0) } : nil
                let double = integer == nil ? series.point.double : nil
                sum?.dataPoints.append(
                    .init(
                        attributes: attributes, startTimeUnixNano: start, timeUnixNano: now, asInt: integer,
                        asDouble: double))
            case .value(let value):
                gauge?.dataPoints.append(
                    .init(attributes: attributes, startTimeUnixNano: start, timeUnixNano: now, asDouble: value))
            case .distribution(let distribution):
                histogram?.dataPoints.append(
                    .init(
                        attributes: attributes, startTimeUnixNano: start, timeUnixNano: now,
                        count: String(distribution.count), sum: distribution.sum,
                        bucketCounts: distribution.counts.map { String($0) }, explicitBounds: distribution.bounds))
            }
        }
    }
}
