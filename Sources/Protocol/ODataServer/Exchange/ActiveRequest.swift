import Metrics

/// The place of a request in the metric `http.server.active_requests`, from its arrival until its response has been
/// sent or given up.
final class ActiveRequest: Sendable {
    private let meter: Meter

    init(_ dimensions: [(String, String)], factory: any MetricsFactory) {
        meter = Meter(label: "http.server.active_requests", dimensions: dimensions, factory: factory)
        meter.increment()
    }

    deinit { meter.decrement() }
}
