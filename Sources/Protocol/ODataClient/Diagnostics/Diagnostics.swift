import HTTPTypes
import Instrumentation
import Logging
import Metrics
import ODataHTTP
import ODataModel
import ODataService
import Supportability
import Tracing

/// The logs, metrics, traces and timings of a client. All outputs are off or cost nothing unless an app enables
/// them.
///
/// ```swift
/// import Logging
///
/// var configuration = ODataClient.Configuration()
/// configuration.diagnostics.logger = Logger(label: "shop.odata")
/// configuration.diagnostics.traceLevel = .medium
/// configuration.diagnostics.onTimings = { print($0.operation, $0.endToEnd, $0.network) }
/// ```
public struct Diagnostics: Sendable {
    /// The amount of detail about requests and responses in the log.
    public enum TraceLevel: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// Failures only.
        case none
        /// One line for each request and each response: method, path without keys and query, status, bytes and
        /// time.
        case low
        /// The names of the query options and of the header fields too.
        case medium
        /// The sizes of bodies too.
        case high

        /// Compares the amount of detail.
        public static func < (left: TraceLevel, right: TraceLevel) -> Bool { left.rawValue < right.rawValue }
    }

    /// The maximum number of bytes of a body in a log.
    public static let maxLoggedBody = 4096

    /// The logger; `nil` for no log.
    public var logger: Logger?
    /// The stored log whose header receives the root of the service, the language of requests and the user of
    /// basic authentication. A log without a header, or one that cannot be written, is not changed.
    public var storedLog: StoredLog?
    /// The amount of detail in the log.
    public var traceLevel: TraceLevel
    /// Whether the log contains values: whole paths, queries and header fields from ``TraceLevel/medium`` on, and
    /// textual bodies up to ``maxLoggedBody`` bytes and messages of the service at ``TraceLevel/high``.
    ///
    /// Such a log contains personal data. Known secrets are left out (``redaction``), but not every secret can be
    /// recognized. By default, a log contains names and sizes only.
    ///
    /// ```swift
    /// var configuration = ODataClient.Configuration()
    /// configuration.diagnostics.traceLevel = .high
    /// configuration.diagnostics.tracesValues = true
    /// ```
    public var tracesValues: Bool
    /// The secrets that are left out of logs with ``tracesValues``.
    public var redaction: SecretRedaction
    /// The prefix of the metric names `…_requests_total`, `…_request_duration_seconds`,
    /// `…_received_bytes_total` and `…_sent_bytes_total`; `nil` records no metrics.
    public var metricsPrefix: String?
    /// The factory of metrics; `nil` for the one that the process has bootstrapped.
    public var metricsFactory: (any MetricsFactory)?
    /// The tracer; `nil` for the one that the process has bootstrapped.
    public var tracer: (any Tracer)?
    /// Whether requests carry a trace context: that of the bootstrapped tracer, with one span for each request,
    /// or `TraceContext` if there is no tracer.
    public var propagatesTraces: Bool
    /// Returns the id that groups the messages of one request, sent as `X-CorrelationID`; `nil` sends none. The
    /// id appears in each log line (`correlation-id`), in spans (`correlation.id`), in ``RequestTimings``, in
    /// the response and in an `ODataError`.
    public var correlationID: (@Sendable () -> String)?
    /// The correlation id of all requests of the current task, in place of those that ``correlationID``
    /// returns. The id groups the requests of one user action.
    ///
    /// ```swift
    /// try await Diagnostics.$currentCorrelationID.withValue("checkout-17") {
    ///     try await service.update(order)
    ///     try await service.update(item)
    /// }
    /// ```
    @TaskLocal public static var currentCorrelationID: String?

    /// Receives the timings of each completed request.
    public var onTimings: (@Sendable (RequestTimings) -> Void)?

    /// Creates diagnostics; by default, everything is off.
    public init(
        logger: Logger? = nil, storedLog: StoredLog? = nil, traceLevel: TraceLevel = .none,
        tracesValues: Bool = false, redaction: SecretRedaction = SecretRedaction(),
        metricsPrefix: String? = nil, metricsFactory: (any MetricsFactory)? = nil, tracer: (any Tracer)? = nil,
        propagatesTraces: Bool = false,
        correlationID: (@Sendable () -> String)? = nil, onTimings: (@Sendable (RequestTimings) -> Void)? = nil
    ) {
        self.logger = logger
        self.storedLog = storedLog
        self.traceLevel = traceLevel
        self.tracesValues = tracesValues
        self.redaction = redaction
        self.metricsPrefix = metricsPrefix
        self.metricsFactory = metricsFactory
        self.tracer = tracer
        self.propagatesTraces = propagatesTraces
        self.correlationID = correlationID
        self.onTimings = onTimings
    }

    var needsTimings: Bool { onTimings != nil || metricsPrefix != nil || (logger != nil && traceLevel > .none) }

    // MARK: Logs and metrics

    /// Returns the metadata that all log lines about one message share.
    private static func metadata(_ requestID: String?, _ correlationID: String?) -> Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        metadata["request-id"] = requestID.map { "\($0)" }
        metadata[LogRecord.correlationKey] = correlationID.map { "\($0)" }
        return metadata
    }

    private static func metadata(_ requestID: String?, _ message: HTTPRequest) -> Logger.Metadata {
        metadata(requestID, message.headerFields[.correlationID])
    }

    /// Returns the path of a message as a log shows it.
    ///
    /// - Parameter root: The path of the service root.
    func shownPath(_ message: HTTPRequest, root: String) -> String {
        tracesValues
            ? redaction.redacted(Self.withoutQuery(message.path)) : TracedAddress(message.path, root: root).path
    }

    /// - Parameters:
    ///   - root: The path of the service root.
    ///   - secrets: The names of the header fields whose values are left out.
    func log(
        _ message: HTTPRequest, root: String, body: ByteStream?, id: String?, secrets: some Collection<String>
    ) async {
        guard let logger, traceLevel > .none else { return }
        var metadata = Self.metadata(id, message)
        var shown = shownPath(message, root: root)
        if traceLevel >= .medium {
            shown =
                tracesValues
                ? redaction.redacted(message.path ?? "/") : TracedAddress(message.path, root: root).pathAndOptions
            metadata["headers"] = headers(message.headerFields, secrets: Set(secrets.map { $0.lowercased() }))
        }
        if traceLevel >= .high, let body {
            if !tracesValues {
                metadata["body"] = body.length.map { "\($0) bytes" }
            } else if let length = body.length,
                let bytes = body.slice(0..<min(length, Int64(Self.maxLoggedBody)))
            {
                metadata["body"] = (try? await bytes.collect(limit: Self.maxLoggedBody)).map { .string(text($0)) }
            }
        }
        logger.debug("→ \(message.method) \(shown)", metadata: metadata)
    }

    func log(_ response: HTTPResponse, to message: HTTPRequest, root: String, id: String?) {
        guard let logger, traceLevel > .none else { return }
        var metadata = Self.metadata(id, message)
        if traceLevel >= .medium { metadata["headers"] = headers(response.headerFields, secrets: []) }
        logger.debug(
            "← \(response.status.code) \(message.method) \(shownPath(message, root: root))", metadata: metadata)
    }

    /// Returns the names of header fields, with their values if the log contains values.
    private func headers(_ fields: HTTPFields, secrets: Set<String>) -> Logger.MetadataValue {
        .array(
            fields.map { field in
                guard tracesValues else { return .string(field.name.rawName) }
                let value = secrets.contains(field.name.canonicalName) ? SecretRedaction.mark : field.value
                return .string(redaction.redacted("\(field.name): \(value)"))
            })
    }

    /// Returns a response body that is logged once: its first bytes when enough of them have arrived, or its size
    /// at its end.
    func logged(_ stream: ByteStream, of message: HTTPRequest, id: String?) -> ByteStream {
        guard let logger, traceLevel >= .high else { return stream }
        @Sendable func tell(_ body: String) {
            var metadata = Self.metadata(id, message)
            metadata["body"] = .string(body)
            logger.debug("← body", metadata: metadata)
        }
        guard tracesValues else {
            let size = BodySize()
            return ByteStream(length: stream.length) {
                let chunk: [UInt8]?
                do {
                    chunk = try await stream.next()
                } catch {
                    if let size = size.end() { tell("\(size) bytes") }
                    throw error
                }
                if let chunk { size.add(chunk.count) } else if let size = size.end() { tell("\(size) bytes") }
                return chunk
            }
        }
        let limit = stream.length.map { min(Int(clamping: $0), Self.maxLoggedBody) } ?? Self.maxLoggedBody
        let beginning = BodyBeginning(limit: limit)
        @Sendable func tell(_ bytes: [UInt8]?) {
            if let bytes, !bytes.isEmpty { tell(text(bytes)) }
        }
        return ByteStream(length: stream.length) {
            do {
                let chunk = try await stream.next()
                tell(chunk.map { beginning.add($0) } ?? beginning.end())
                return chunk
            } catch {
                tell(beginning.end())
                throw error
            }
        }
    }

    /// - Parameter root: The path of the service root.
    func log(_ error: any Error, _ message: HTTPRequest, root: String, id: String?) {
        guard let logger else { return }
        let code = ErrorCode(error).rawValue
        // Messages and codes of the service may quote user input, and errors may quote values of a response.
        let text =
            if tracesValues, traceLevel >= .high || !(error is ODataError) {
                redaction.redacted("\(error)")
            } else if let refusal = error as? ODataError {
                tracesValues ? "\(refusal.status) \(refusal.code)" : "\(refusal.status)"
            } else {
                code
            }
        var metadata = Self.metadata(id, message)
        metadata["error-code"] = "\(code)"
        logger.warning("\(message.method) \(shownPath(message, root: root)) failed: \(text)", metadata: metadata)
    }

    /// - Parameter shown: The method and the path as a log shows them.
    func record(_ timings: RequestTimings, as shown: @autoclosure () -> String) {
        onTimings?(timings)
        if let logger, traceLevel > .none {
            var metadata = Self.metadata(timings.requestID, timings.correlationID)
            metadata["client"] = "\(timings.client)"
            metadata["transport"] = "\(timings.transport)"
            metadata["network"] = "\(timings.network)"
            metadata["received"] = "\(timings.receivedBytes)"
            metadata["sent"] = "\(timings.sentBytes)"
            metadata["parsed"] = .array(
                timings.documents.map { "\($0.kind.rawValue) \($0.bytes) bytes in \($0.duration)" })
            logger.debug("\(shown()) took \(timings.endToEnd)", metadata: metadata)
        }
        guard let metricsPrefix else { return }
        let factory = metricsFactory ?? MetricsSystem.factory
        let method = String(timings.operation.prefix { $0 != " " })
        let dimensions = [("method", method), ("status", timings.status.map { String($0) } ?? "none")]
        Counter(label: "\(metricsPrefix)_requests_total", dimensions: dimensions, factory: factory).increment()
        Metrics.Timer(
            label: "\(metricsPrefix)_request_duration_seconds", dimensions: dimensions, factory: factory
        ).record(duration: timings.endToEnd)
        Counter(label: "\(metricsPrefix)_received_bytes_total", factory: factory)
            .increment(by: timings.receivedBytes)
        Counter(label: "\(metricsPrefix)_sent_bytes_total", factory: factory).increment(by: timings.sentBytes)
    }

    /// Returns the redacted text of a body, or its size if it is not text. Redaction is needed because links
    /// repeat the options of the request, and bodies may contain tokens.
    private func text(_ bytes: [UInt8]) -> String {
        // The bytes may end within a character.
        for cut in 0...min(3, bytes.count) {
            if let text = String(validating: bytes.dropLast(cut), as: UTF8.self) { return redaction.redacted(text) }
        }
        return "\(bytes.count) bytes"
    }

    /// Returns a path without its query, because literals in the query may be personal.
    static func withoutQuery(_ path: String?) -> String { String((path ?? "/").prefix { $0 != "?" }) }

    // MARK: Traces

    /// Sends a request within a span and adds the trace context. The span records the status of the response;
    /// from 400 on, the status counts as an error (OpenTelemetry, semantic conventions for HTTP clients). The path
    /// is the one in logs.
    func traced(
        _ message: HTTPRequest, root: String, _ body: (HTTPRequest) async throws -> (HTTPResponse, ByteStream)
    ) async throws -> (HTTPResponse, ByteStream) {
        guard propagatesTraces else { return try await body(message) }
        var message = message
        let bootstrapped = InstrumentationSystem.instrument is NoOpInstrument ? nil : InstrumentationSystem.tracer
        guard let tracer = tracer ?? bootstrapped else {
            if message.headerFields[.traceparent] == nil {
                message.headerFields[.traceparent] = (TraceContext.current?.child() ?? TraceContext()).traceparent
            }
            return try await body(message)
        }
        return try await tracer.withAnySpan("OData \(message.method)", ofKind: .client) { span in
            span.attributes["http.request.method"] = message.method.rawValue
            span.attributes["url.path"] = shownPath(message, root: root)
            span.attributes["server.address"] = message.authority ?? ""
            if let id = message.headerFields[.correlationID] { span.attributes["correlation.id"] = id }
            tracer.inject(span.context, into: &message.headerFields, using: HeaderFieldInjector())
            do {
                let answer = try await body(message)
                let code = answer.0.status.code
                span.attributes["http.response.status_code"] = code
                if code >= 400 {
                    span.attributes["error.type"] = "\(code)"
                    span.setStatus(SpanStatus(code: .error))
                }
                return answer
            } catch {
                let code = ErrorCode(error).rawValue
                span.attributes["error.type"] = code
                span.setStatus(SpanStatus(code: .error, message: code))
                throw error
            }
        }
    }
}

private struct HeaderFieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout HTTPFields) {
        guard let name = HTTPField.Name(key) else { return }
        carrier[name] = value
    }
}

extension HTTPField.Name {
    /// `traceparent` (W3C Trace Context, 3.2). The fallback is never reached.
    static let traceparent = HTTPField.Name("traceparent") ?? .accept
    /// `X-CorrelationID`, which groups the requests of one action. The fallback is never reached.
    static let correlationID = HTTPField.Name("X-CorrelationID") ?? .accept
}
