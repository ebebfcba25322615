import HTTPTypes
import Logging
import Metrics
import ODataService

/// The data for the access log and the metrics, which are written when a response has been sent.
///
/// The metrics have the names of OpenTelemetry: the timer `http.server.request.duration` and the counter
/// `http.server.response.bytes`, both by method and status.
struct AccessRecord: Sendable {
    private let logger: Logger?
    private let metricsFactory: any MetricsFactory
    private let method: String
    private let target: String
    private let requestID: String?
    private let start = ContinuousClock.now
    var principal: Principal?
    /// The place among the requests of the address, held until the response has been written.
    var place: AddressLimiter.Place?

    init(request: HTTPRequest, configuration: ODataServer.Configuration) {
        logger = configuration.accessLog
        metricsFactory = configuration.metricsFactory ?? MetricsSystem.factory
        method = request.method.rawValue
        let path = request.path ?? "/"
        target = configuration.logsQueries ? path : String(path.prefix { $0 != "?" })
        requestID = HTTPField.Name("X-Request-ID").flatMap { request.headerFields[$0] }
    }

    func write(status: Int, bytes: Int, failure: (any Error)?) {
        let duration = start.duration(to: .now)
        measure(status, bytes, duration: duration)
        guard let logger else { return }
        let (seconds, attoseconds) = duration.components
        var metadata: Logger.Metadata = [
            "status": "\(status)", "bytes": "\(bytes)",
            "ms": "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)",
        ]
        if let principal { metadata["user"] = "\(LogText.value(principal.name))" }
        if let requestID { metadata["request"] = "\(LogText.value(requestID.prefix(100)))" }
        // Only the type of an error is logged, because its text may quote sent data.
        if let failure { metadata["failed"] = "\(type(of: failure))" }
        logger.info("\(LogText.target(method)) \(LogText.target(target))", metadata: metadata)
    }

    private func measure(_ status: Int, _ bytes: Int, duration: Duration) {
        let dimensions = [("method", Self.known(method)), ("status", "\(status)")]
        Timer(label: "http.server.request.duration", dimensions: dimensions, factory: metricsFactory)
            .record(duration: duration)
        Counter(label: "http.server.response.bytes", dimensions: dimensions, factory: metricsFactory)
            .increment(by: bytes)
    }

    /// Returns the name of a method in metrics. Unknown methods are combined, because a client could otherwise
    /// create any number of metrics.
    private static func known(_ method: String) -> String {
        ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS", "MERGE"].contains(method) ? method : "other"
    }
}
