import ODataHTTP
import Tracing

extension ServiceContext {
    /// The trace of this context: that of a request, or that of the span in which the code runs. The parent id is that
    /// of the span.
    public var traceContext: TraceContext? {
        get { self[TraceContextKey.self] }
        set { self[TraceContextKey.self] = newValue }
    }

    /// The value of `tracestate`, which goes on unchanged (Trace Context, 3.3).
    var traceState: String? {
        get { self[TraceStateKey.self] }
        set { self[TraceStateKey.self] = newValue }
    }
}

private enum TraceContextKey: ServiceContextKey {
    typealias Value = TraceContext
}

private enum TraceStateKey: ServiceContextKey {
    typealias Value = String
}
