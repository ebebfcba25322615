import ODataHTTP
import Tracing

/// The data of a span. Times are nanoseconds since 1970.
struct FinishedSpan: Sendable {
    /// The maximum number of attributes, events and links of a span, each; the rest is counted and left out.
    static let maxParts = 128

    struct Event: Sendable {
        var name: String
        var time: UInt64
        var attributes: SpanAttributes
    }

    struct Link: Sendable {
        var trace: TraceContext
        var attributes: SpanAttributes
    }

    var name: String
    let kind: SpanKind
    /// The trace, whose parent id is the id of this span.
    let trace: TraceContext
    /// The id of the parent span.
    let parentID: [UInt8]?
    let start: UInt64
    var end: UInt64 = 0
    var attributes: SpanAttributes = [:]
    var events: [Event] = []
    var links: [Link] = []
    var status: SpanStatus?
    var droppedEvents = 0
    var droppedLinks = 0

    init(name: String, kind: SpanKind, trace: TraceContext, parentID: [UInt8]?, start: UInt64) {
        (self.name, self.kind, self.trace, self.parentID, self.start) = (name, kind, trace, parentID, start)
    }
}
