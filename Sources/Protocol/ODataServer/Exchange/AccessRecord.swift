import HTTPTypes
import Logging
import Metrics
import ODataService

/// The data for the access log and the metrics, which are written when a response has been sent.
///
/// The metrics have the names and attributes of OpenTelemetry's semantic conventions for HTTP servers: the timer
/// `http.server.request.duration`, the recorder `http.server.response.body.size` and the meter
/// `http.server.active_requests`.
struct AccessRecord: Sendable {
    private let logger: Logger?
    private let metricsFactory: any MetricsFactory
    private let method: String
    private let target: String
    private let requestID: String?
    private let address: String
    private let scheme: String
    private let active: ActiveRequest
    private let start = ContinuousClock.now
    var principal: Principal?
    /// The place among the requests of the address, held until the response has been written.
    var place: AddressLimiter.Place?
    /// The permit of the mount's admission class, held until the response has been written.
    var permit: AdmissionClass.Permit?

    /// - Parameter address: The address of the client; see ``ODataServer/Configuration/trustsForwarded``.
    init(request: HTTPRequest, from address: ClientAddress, configuration: ODataServer.Configuration) {
        logger = configuration.accessLog
        metricsFactory = configuration.metricsFactory ?? MetricsSystem.factory
        method = request.method.rawValue
        self.address = address.text
        scheme = configuration.tls == nil ? "http" : "https"
        active = ActiveRequest(Self.dimensions(method, scheme), factory: metricsFactory)
        let path = request.path ?? "/"
        target = configuration.logsQueries ? path : String(path.prefix { $0 != "?" })
        requestID = HTTPField.Name("X-Request-ID").flatMap { request.headerFields[$0] }
    }

    func write(status: Int, bytes: Int, failure: (any Error)?) {
        let duration = start.duration(to: .now)
        measure(status, bytes, duration: duration, failure: failure)
        guard let logger else { return }
        let (seconds, attoseconds) = duration.components
        var metadata: Logger.Metadata = [
            "status": "\(status)", "bytes": "\(bytes)", "address": "\(LogText.value(address))",
            "ms": "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)",
        ]
        if let principal { metadata["user"] = "\(LogText.value(principal.name))" }
        if let requestID { metadata["request"] = "\(LogText.value(requestID.prefix(100)))" }
        // Only the type of an error is logged, because its text may quote sent data.
        if let failure { metadata["failed"] = "\(type(of: failure))" }
        logger.info("\(LogText.target(method)) \(LogText.target(target))", metadata: metadata)
    }

    private func measure(_ status: Int, _ bytes: Int, duration: Duration, failure: (any Error)?) {
        var dimensions = Self.dimensions(method, scheme) + [("http.response.status_code", "\(status)")]
        if let failure {
            dimensions.append(("error.type", "\(type(of: failure))"))
        } else if status >= 500 {
            dimensions.append(("error.type", "\(status)"))
        }
        Timer(label: "http.server.request.duration", dimensions: dimensions, factory: metricsFactory)
            .record(duration: duration)
        Recorder(
            label: "http.server.response.body.size", dimensions: dimensions, aggregate: true, factory: metricsFactory
        ).record(bytes)
    }

    private static func dimensions(_ method: String, _ scheme: String) -> [(String, String)] {
        [("http.request.method", known(method)), ("url.scheme", scheme)]
    }

    /// Returns the name of a method in metrics. Unknown methods are combined, because a client could otherwise
    /// create any number of metrics.
    private static func known(_ method: String) -> String {
        ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS", "MERGE"].contains(method) ? method : "_OTHER"
    }
}
