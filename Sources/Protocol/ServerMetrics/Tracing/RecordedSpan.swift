import Synchronization
import Tracing

/// A span of ``InstrumentationTracer``, which is exported once it has ended.
public final class RecordedSpan: Span {
    /// The context with the trace of the span.
    public let context: ServiceContext
    private let receive: (@Sendable (FinishedSpan) -> Void)?
    private let state: Mutex<(span: FinishedSpan, isOpen: Bool)>

    init(_ span: FinishedSpan, context: ServiceContext, receive: (@Sendable (FinishedSpan) -> Void)?) {
        self.context = context
        self.receive = receive
        state = Mutex((span: span, isOpen: receive != nil))
    }

    /// Whether the span is recorded and has not ended.
    public var isRecording: Bool { state.withLock { $0.isOpen } }

    /// The name.
    public var operationName: String {
        get { state.withLock { $0.span.name } }
        set { change { $0.name = newValue } }
    }

    /// The attributes. At most 128 are exported.
    public var attributes: SpanAttributes {
        get { state.withLock { $0.span.attributes } }
        set { change { $0.attributes = newValue } }
    }

    /// Sets the status.
    public func setStatus(_ status: SpanStatus) { change { $0.status = status } }

    /// Adds an event, up to 128.
    public func addEvent(_ event: SpanEvent) {
        add(.init(name: event.name, time: event.nanosecondsSinceEpoch, attributes: event.attributes))
    }

    /// Adds an event `exception` with the type of an error. The text of the error is left out, because it may quote
    /// data.
    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        var all = attributes
        all["exception.type"] = String(reflecting: type(of: error))
        add(.init(name: "exception", time: instant().nanosecondsSinceEpoch, attributes: all))
    }

    /// Adds a link to another trace, up to 128. A link to a context without a trace is ignored.
    public func addLink(_ link: SpanLink) {
        guard let trace = link.context.traceContext else { return }
        change { span in
            guard span.links.count < FinishedSpan.maxParts else {
                span.droppedLinks += 1
                return
            }
            span.links.append(.init(trace: trace, attributes: link.attributes))
        }
    }

    /// Ends the span. Later changes, and a second end, are ignored.
    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let time = instant().nanosecondsSinceEpoch
        let finished: FinishedSpan? = state.withLock { state in
            guard state.isOpen else { return nil }
            state.isOpen = false
            state.span.end = max(time, state.span.start)
            return state.span
        }
        if let finished { receive?(finished) }
    }

    private func add(_ event: FinishedSpan.Event) {
        change { span in
            guard span.events.count < FinishedSpan.maxParts else {
                span.droppedEvents += 1
                return
            }
            span.events.append(event)
        }
    }

    private func change(_ change: (inout FinishedSpan) -> Void) {
        state.withLock { state in
            guard state.isOpen else { return }
            change(&state.span)
        }
    }
}
