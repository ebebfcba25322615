import CoreMetrics
import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization
import Tracing

/// Sends traces and metrics to an OpenTelemetry collector by OTLP/HTTP with JSON.
///
/// ```swift
/// let exporter = try OTLPExporter(
///     to: OTLPEndpoint("http://127.0.0.1:4318"), over: transport,
///     options: OTLPOptions(resource: ["service.name": "shop"]), metrics: metrics)
/// InstrumentationSystem.bootstrap(exporter.tracer)
/// exporter.start()
/// …
/// await exporter.shutdown(within: .seconds(5))
/// ```
///
/// Spans wait in a bounded queue and are sent in batches. Metrics are sent at each interval with their values so far.
/// A request is repeated with a growing delay after 429, 502, 503, 504 and failures of the connection; after other
/// responses the batch is dropped. Dropped spans are counted, and no caller ever waits for the collector.
///
/// Names and values pass the redaction of the options first, so that no secret leaves the process.
public final class OTLPExporter: Sendable {
    /// The reason why a span is not exported.
    public enum DropReason: String, Hashable, Sendable, CaseIterable {
        /// As many spans as the limit allows wait already, or the exporter has been shut down.
        case queueFull = "queue_full"
        /// The collector refused the span.
        case refused
        /// The collector was not reached, or was busy, in all attempts.
        case unreachable
    }

    private struct Counts {
        var exported: UInt64 = 0
        var dropped: [DropReason: UInt64] = [:]
        /// The task that exports, once it was started.
        var worker: Task<Void, Never>?
        var ticker: Task<Void, Never>?
        var hasEnded = false
    }

    /// The outcome of a request.
    private enum Outcome {
        case taken(rejected: Int64)
        case refused
        case unreachable
    }

    /// The maximum number of bytes of a response that are read.
    private static let maxResponseSize = 64 << 10

    private let endpoint: OTLPEndpoint
    private let transport: any HTTPTransport
    private let options: OTLPOptions
    private let metrics: PrometheusMetrics?
    private let resource: [OTLPAttribute]
    private let redaction: OTLPRedaction
    private let retry: RetryRule
    private let queue: SpanQueue
    private let wakeUps = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let counts = Mutex(Counts())

    /// Creates an exporter, which sends nothing before ``start()``.
    ///
    /// - Parameters:
    ///   - endpoint: The address of the collector.
    ///   - transport: The transport, which is not shut down.
    ///   - options: The settings.
    ///   - metrics: The metrics to send; `nil` for traces only.
    /// - Throws: ``OTLPError/plainHTTP(host:)`` if header fields would be sent unencrypted to another machine.
    public init(
        to endpoint: OTLPEndpoint, over transport: any HTTPTransport, options: OTLPOptions = OTLPOptions(),
        metrics: PrometheusMetrics? = nil
    ) throws(OTLPError) {
        guard endpoint.isPrivate || options.fields.isEmpty else { throw .plainHTTP(host: endpoint.authority) }
        self.endpoint = endpoint
        self.transport = transport
        self.options = options
        self.metrics = metrics
        let redaction = OTLPRedaction(base: options.redaction)
        self.redaction = redaction
        resource = options.resource.sorted { $0.key < $1.key }.map { redaction.attribute($0, .string($1)) }
        retry = RetryRule(
            attempts: options.attempts, firstDelay: options.firstDelay, longestDelay: options.longestDelay)
        queue = SpanQueue(limit: options.queueLimit)
    }

    /// The tracer whose spans are exported.
    public var tracer: InstrumentationTracer {
        InstrumentationTracer(share: options.share) { [self] span in
            add(span)
        } wakeUp: { [self] in
            wakeUps.continuation.yield()
        }
    }

    /// The number of spans that the collector has taken.
    public var exported: UInt64 { counts.withLock { $0.exported } }

    /// Returns the number of spans that were dropped for a reason.
    public func dropped(_ reason: DropReason) -> UInt64 { counts.withLock { $0.dropped[reason] ?? 0 } }

    /// Begins to export. A second call, and a call after the shutdown, have no effect.
    public func start() {
        counts.withLock { counts in
            guard counts.worker == nil, !counts.hasEnded else { return }
            counts.worker = Task { [self] in
                for await _ in wakeUps.stream { await exportAll() }
                await exportAll()
            }
            counts.ticker = Task { [interval = options.interval, continuation = wakeUps.continuation] in
                while (try? await Task.sleep(for: interval)) != nil { continuation.yield() }
            }
        }
    }

    /// Sends the spans that wait and the metrics, and ends the exporter. Later spans are dropped.
    ///
    /// - Parameter limit: The maximum time. Requests and delays that take longer are cancelled.
    /// - Returns: Whether all was sent, or refused by the collector, within the limit.
    @discardableResult
    public func shutdown(within limit: Duration = .seconds(5)) async -> Bool {
        queue.close()
        let (worker, ticker) = counts.withLock { counts in
            defer { counts.hasEnded = true }
            return (counts.worker, counts.ticker)
        }
        ticker?.cancel()
        wakeUps.continuation.finish()
        guard let worker else { return true }
        let isDone = await TimeLimit.value(of: worker, within: limit) != nil
        let left = queue.take(options.queueLimit)
        if !left.isEmpty { drop(left.count, .unreachable) }
        return isDone && left.isEmpty
    }

    // MARK: Work

    private func add(_ span: FinishedSpan) {
        guard let count = queue.add(span) else { return drop(1, .queueFull) }
        if count >= options.batchSize { wakeUps.continuation.yield() }
    }

    private func exportAll() async {
        while !Task.isCancelled {
            let spans = queue.take(options.batchSize)
            guard !spans.isEmpty else { break }
            await export(spans)
        }
        guard let metrics, !Task.isCancelled else { return }
        let request = OTLPMetrics(
            metrics.families, resource: resource, at: DefaultTracerClock.now.nanosecondsSinceEpoch, redaction)
        // Values that are not taken are part of the next ones.
        _ = await send(request, to: "metrics")
    }

    private func export(_ spans: [FinishedSpan]) async {
        switch await send(OTLPTraces(spans, resource: resource, redaction), to: "traces") {
        case .taken(let rejected):
            let refused = min(max(0, Int(clamping: rejected)), spans.count)
            counts.withLock { $0.exported += UInt64(spans.count - refused) }
            if refused > 0 { drop(refused, .refused) }
        case .refused: drop(spans.count, .refused)
        case .unreachable: drop(spans.count, .unreachable)
        }
    }

    private func drop(_ count: Int, _ reason: DropReason) {
        counts.withLock { $0.dropped[reason, default: 0] += UInt64(count) }
        guard let metrics else { return }
        Counter(
            label: "outpost.otlp.dropped_spans", dimensions: [("reason", reason.rawValue)], factory: metrics
        ).increment(by: count)
    }

    private func send(_ request: some Encodable, to signal: String) async -> Outcome {
        guard let bytes = try? OTLPPayload.bytes(request) else { return .refused }
        var attempt = 0
        while true {
            attempt += 1
            let response = await TimeLimit.run(within: options.requestLimit) { [self] in
                await self.response(to: bytes, signal)
            }
            var retryAfter: String?
            if let (head, body) = response.flatMap({ $0 }) {
                if head.status.kind == .successful { return .taken(rejected: OTLPResponse.rejected(in: body)) }
                guard RetryRule.isRepeatable(head.status) else { return .refused }
                retryAfter = head.headerFields[.retryAfter]
            }
            guard !Task.isCancelled, let delay = retry.delay(after: attempt, retryAfter: retryAfter),
                (try? await Task.sleep(for: delay)) != nil
            else { return .unreachable }
        }
    }

    private func response(to bytes: [UInt8], _ signal: String) async -> (HTTPResponse, [UInt8])? {
        var request = endpoint.request(signal)
        request.headerFields = options.fields
        request.headerFields[.contentType] = "application/json"
        do {
            let (head, stream) = try await transport.send(
                request, body: ByteStream(bytes), options: TransferOptions(wholeTimeout: options.requestLimit))
            // The status counts, also if the text cannot be read.
            return (head, (try? await stream.collect(limit: Self.maxResponseSize)) ?? [])
        } catch {
            return nil
        }
    }
}
