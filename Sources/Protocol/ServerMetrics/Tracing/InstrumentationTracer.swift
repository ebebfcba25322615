import ODataHTTP
import Tracing

/// A tracer of swift-distributed-tracing that continues W3C traces and hands finished spans to an ``OTLPExporter``.
///
/// ```swift
/// InstrumentationSystem.bootstrap(exporter.tracer)
/// ```
///
/// The fields `traceparent` and `tracestate` of a request are read and written (W3C Trace Context). A span of a trace
/// that its creator does not record is not recorded either.
public struct InstrumentationTracer: Tracer {
    /// The maximum length of `tracestate`, in bytes (Trace Context, 3.3.1.5); a longer one is left out.
    static let maxStateLength = 512

    private let share: Double
    private let receive: @Sendable (FinishedSpan) -> Void
    private let wakeUp: @Sendable () -> Void

    /// - Parameters:
    ///   - share: The share of new traces that are recorded, 0 to 1.
    ///   - receive: Receives each finished span, and returns at once.
    ///   - wakeUp: Asks for the export of the spans so far.
    init(
        share: Double = 1, receive: @escaping @Sendable (FinishedSpan) -> Void,
        wakeUp: @escaping @Sendable () -> Void = {}
    ) {
        self.share = share
        self.receive = receive
        self.wakeUp = wakeUp
    }

    /// Starts a span as a child of the context's trace, or in a new trace.
    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> RecordedSpan {
        var own = context()
        let parent = own.traceContext ?? TraceContext.current
        let trace = parent?.child() ?? TraceContext(isSampled: Double.random(in: 0..<1) < share)
        own.traceContext = trace
        return RecordedSpan(
            FinishedSpan(
                name: operationName, kind: kind, trace: trace, parentID: parent?.parentID,
                start: instant().nanosecondsSinceEpoch),
            context: own, receive: trace.isSampled ? receive : nil)
    }

    /// Asks for the export of the spans so far, without waiting for it.
    public func forceFlush() { wakeUp() }

    /// Reads `traceparent` and `tracestate`. A malformed `traceparent` begins a new trace, without the state of the old
    /// one.
    public func extract<Carrier, Extract>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract: Extractor, Extract.Carrier == Carrier {
        guard let text = extractor.extract(key: "traceparent", from: carrier),
            let trace = TraceContext(traceparent: text)
        else { return }
        context.traceContext = trace
        context.traceState = extractor.extract(key: "tracestate", from: carrier).flatMap { state in
            state.isEmpty || state.utf8.count > Self.maxStateLength ? nil : state
        }
    }

    /// Writes `traceparent` and `tracestate`.
    public func inject<Carrier, Inject>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject: Injector, Inject.Carrier == Carrier {
        guard let trace = context.traceContext else { return }
        injector.inject(trace.traceparent, forKey: "traceparent", into: &carrier)
        if let state = context.traceState { injector.inject(state, forKey: "tracestate", into: &carrier) }
    }
}
