import ODataHTTP
import Synchronization
import Testing
import Tracing

@testable import ServerMetrics

@Suite("The tracer for W3C traces")
struct InstrumentationTracerTests {
    private struct Fields: Extractor, Injector {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    }

    private final class Finished: Sendable {
        private let spans = Mutex<[FinishedSpan]>([])
        var all: [FinishedSpan] { spans.withLock { $0 } }
        func add(_ span: FinishedSpan) { spans.withLock { $0.append(span) } }
    }

    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test("continues the trace of a request and forwards it with the span id")
    func propagation() throws {
        let finished = Finished()
        let tracer = InstrumentationTracer(receive: finished.add)
        var context = ServiceContext.topLevel
        tracer.extract(["traceparent": Self.parent, "tracestate": "a=1,b=2"], into: &context, using: Fields())
        var sent: [String: String] = [:]
        tracer.withSpan("GET /Orders", context: context, ofKind: .server) { span in
            tracer.inject(span.context, into: &sent, using: Fields())
        }
        let span = try #require(finished.all.first)
        #expect(span.trace.traceparent == sent["traceparent"])
        #expect(span.trace.traceID == TraceContext(traceparent: Self.parent)?.traceID)
        #expect(
            span.parentID == TraceContext(traceparent: Self.parent)?.parentID && span.trace.parentID != span.parentID)
        #expect(sent["tracestate"] == "a=1,b=2")
        #expect(span.end >= span.start && span.start > 1_600_000_000_000_000_000)
    }

    @Test(
        "a malformed parent starts a new trace without the old state",
        arguments: ["", "00-0-0-01", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"])
    func malformedParents(_ text: String) {
        let tracer = InstrumentationTracer(receive: { _ in })
        var context = ServiceContext.topLevel
        tracer.extract(["traceparent": text, "tracestate": "a=1"], into: &context, using: Fields())
        #expect(context.traceContext == nil)
        var sent: [String: String] = [:]
        tracer.inject(tracer.startSpan("a", context: context).context, into: &sent, using: Fields())
        #expect(sent["traceparent"] != nil && sent["tracestate"] == nil)
    }

    @Test("a tracestate beyond 512 bytes is dropped, and the trace continues")
    func longState() {
        let tracer = InstrumentationTracer(receive: { _ in })
        var context = ServiceContext.topLevel
        tracer.extract(
            ["traceparent": Self.parent, "tracestate": "a=" + String(repeating: "x", count: 511)], into: &context,
            using: Fields())
        #expect(context.traceContext != nil && context.traceState == nil)
    }

    @Test("an unsampled trace is forwarded and not recorded")
    func unsampled() {
        let finished = Finished()
        let tracer = InstrumentationTracer(receive: finished.add)
        var context = ServiceContext.topLevel
        tracer.extract(["traceparent": String(Self.parent.dropLast(2)) + "00"], into: &context, using: Fields())
        let span = tracer.startSpan("a", context: context)
        #expect(!span.isRecording && span.context.traceContext?.isSampled == false)
        span.end()
        let never = InstrumentationTracer(share: 0, receive: finished.add)
        never.startSpan("b", context: .topLevel).end()
        #expect(finished.all.isEmpty)
        tracer.startSpan("c", context: .topLevel).end()
        #expect(finished.all.map(\.name) == ["c"])
    }

    @Test("nested spans are children and share TraceContext.current of the task")
    func children() throws {
        let finished = Finished()
        let tracer = InstrumentationTracer(receive: finished.add)
        let action = TraceContext()
        TraceContext.$current.withValue(action) {
            tracer.withSpan("outer") { _ in tracer.withSpan("inner") { _ in } }
        }
        let (inner, outer) = (finished.all[0], finished.all[1])
        #expect(inner.parentID == outer.trace.parentID && outer.parentID == action.parentID)
        #expect(inner.trace.traceID == action.traceID)
    }

    @Test("a span ends once, keeps at most 128 events and links, and records only the error type")
    func limits() throws {
        struct Secretive: Error { var text = "hunter2" }
        let finished = Finished()
        let tracer = InstrumentationTracer(receive: finished.add)
        let span = tracer.startSpan("a", context: .topLevel)
        span.recordError(Secretive())
        for number in 0..<200 {
            span.addEvent(SpanEvent(name: "event \(number)"))
            span.addLink(SpanLink(context: span.context, attributes: [:]))
        }
        span.end()
        span.end()
        span.operationName = "later"
        let whole = try #require(finished.all.first)
        #expect(finished.all.count == 1 && whole.name == "a")
        #expect(whole.events.count == 128 && whole.droppedEvents == 73)
        #expect(whole.links.count == 128 && whole.droppedLinks == 72)
        #expect(
            !"\(whole.events)".contains("hunter2")
                && "\(whole.events[0].attributes.get("exception.type") as Any)".contains("Secretive"))
    }
}
