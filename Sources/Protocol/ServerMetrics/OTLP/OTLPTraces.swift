import ODataHTTP
import Tracing

/// A request for `/v1/traces` (`ExportTraceServiceRequest`). Ids are hexadecimal.
struct OTLPTraces: Encodable {
    struct ResourceSpans: Encodable {
        var resource: OTLPPayload.Resource
        var scopeSpans: [ScopeSpans]
    }

    struct ScopeSpans: Encodable {
        var scope = OTLPPayload.Scope()
        var spans: [Span]
    }

    struct Span: Encodable {
        var traceId: String
        var spanId: String
        var parentSpanId: String?
        var flags: UInt32
        var name: String
        var kind: Int
        var startTimeUnixNano: String
        var endTimeUnixNano: String
        var attributes: [OTLPAttribute]
        var droppedAttributesCount: Int?
        var events: [Event]
        var droppedEventsCount: Int?
        var links: [Link]
        var droppedLinksCount: Int?
        var status: Status?
    }

    struct Event: Encodable {
        var timeUnixNano: String
        var name: String
        var attributes: [OTLPAttribute]
    }

    struct Link: Encodable {
        var traceId: String
        var spanId: String
        var attributes: [OTLPAttribute]
    }

    struct Status: Encodable {
        var code: Int
        var message: String?
    }

    var resourceSpans: [ResourceSpans]

    init(_ spans: [FinishedSpan], resource: [OTLPAttribute], _ redaction: OTLPRedaction) {
        let spans = spans.map { Span($0, redaction) }
        resourceSpans = [
            ResourceSpans(resource: .init(attributes: resource), scopeSpans: [ScopeSpans(spans: spans)])
        ]
    }
}

extension OTLPTraces.Span {
    init(_ span: FinishedSpan, _ redaction: OTLPRedaction) {
        let (attributes, dropped) = redaction.attributes(span.attributes)
        traceId = TraceContext.hexadecimal(span.trace.traceID)
        spanId = TraceContext.hexadecimal(span.trace.parentID)
        parentSpanId = span.parentID.map { TraceContext.hexadecimal($0) }
        flags = span.trace.isSampled ? 1 : 0
        name = redaction.text(span.name)
        kind = Self.code(of: span.kind)
        startTimeUnixNano = String(span.start)
        endTimeUnixNano = String(span.end)
        self.attributes = attributes
        droppedAttributesCount = dropped > 0 ? dropped : nil
        events = span.events.map { event in
            OTLPTraces.Event(
                timeUnixNano: String(event.time), name: redaction.text(event.name),
                attributes: redaction.attributes(event.attributes).kept)
        }
        droppedEventsCount = span.droppedEvents > 0 ? span.droppedEvents : nil
        links = span.links.map { link in
            OTLPTraces.Link(
                traceId: TraceContext.hexadecimal(link.trace.traceID),
                spanId: TraceContext.hexadecimal(link.trace.parentID),
                attributes: redaction.attributes(link.attributes).kept)
        }
        droppedLinksCount = span.droppedLinks > 0 ? span.droppedLinks : nil
        status = span.status.map { status in
            OTLPTraces.Status(
                code: status.code == .error ? 2 : 1, message: status.message.map { redaction.text($0) })
        }
    }

    private static func code(of kind: SpanKind) -> Int {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }
}
