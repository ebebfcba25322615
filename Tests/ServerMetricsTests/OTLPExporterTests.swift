import HTTPTypes
import Metrics
import ODataHTTP
import ODataService
import Testing
import Tracing

@testable import ServerMetrics

@Suite("The export to an OpenTelemetry collector")
struct OTLPExporterTests {
    /// Settings whose exporter sends nothing by itself, and repeats after milliseconds.
    private func options(_ change: (inout OTLPOptions) -> Void = { _ in }) -> OTLPOptions {
        var options = OTLPOptions(resource: ["service.name": "shop"])
        options.interval = .seconds(600)
        options.firstDelay = .milliseconds(10)
        options.longestDelay = .milliseconds(100)
        change(&options)
        return options
    }

    private func exporter(
        _ collector: Collector, _ options: OTLPOptions, metrics: PrometheusMetrics? = nil
    ) throws -> OTLPExporter {
        let exporter = try OTLPExporter(
            to: OTLPEndpoint(collector.url), over: collector.transport, options: options, metrics: metrics)
        exporter.start()
        return exporter
    }

    private func spans(_ count: Int, of exporter: OTLPExporter) {
        for number in 0..<count { exporter.tracer.startSpan("span \(number)", context: .topLevel).end() }
    }

    private func attributes(_ value: Any?) -> [String: [String: Any]] {
        var found: [String: [String: Any]] = [:]
        for case let attribute as [String: Any] in value as? [Any] ?? [] {
            found[attribute["key"] as? String ?? ""] = attribute["value"] as? [String: Any]
        }
        return found
    }

    @Test("A span has the JSON encoding of OTLP: hexadecimal ids, integers as texts, kinds as numbers")
    func traces() async throws {
        try await Collector.run { collector in
            let exporter = try exporter(collector, options { $0.fields[.authorization] = "Bearer collector" })
            let tracer = exporter.tracer
            let parent = tracer.startSpan("outer", context: .topLevel, ofKind: .server)
            parent.attributes["http.response.status_code"] = 200
            parent.attributes["share"] = 0.5
            parent.attributes["is.cached"] = true
            parent.attributes["names"] = ["a", "b"]
            parent.setStatus(SpanStatus(code: .error, message: "late"))
            tracer.startSpan("inner", context: parent.context, ofKind: .client).end()
            parent.end()
            #expect(await exporter.shutdown())
            #expect(exporter.exported == 2)
            let request = try #require(collector.traces.first)
            #expect(request.fields[.contentType] == "application/json")
            #expect(request.fields[.authorization] == "Bearer collector")
            let resource = attributes(request.value("resourceSpans.0.resource.attributes"))
            #expect(resource["service.name"]?["stringValue"] as? String == "shop")
            let inner = try #require(request.spans.first { $0["name"] as? String == "inner" })
            let outer = try #require(request.spans.first { $0["name"] as? String == "outer" })
            #expect(outer["kind"] as? Int == 2 && inner["kind"] as? Int == 3)
            #expect((outer["traceId"] as? String)?.wholeMatch(of: /[0-9a-f]{32}/) != nil)
            #expect((outer["spanId"] as? String)?.wholeMatch(of: /[0-9a-f]{16}/) != nil)
            #expect(inner["parentSpanId"] as? String == outer["spanId"] as? String && outer["parentSpanId"] == nil)
            #expect(inner["traceId"] as? String == outer["traceId"] as? String)
            #expect((outer["startTimeUnixNano"] as? String)?.wholeMatch(of: /\d{19}/) != nil)
            #expect((outer["status"] as? [String: Any])?["code"] as? Int == 2)
            let values = attributes(outer["attributes"])
            #expect(values["http.response.status_code"]?["intValue"] as? String == "200")
            #expect(values["share"]?["doubleValue"] as? Double == 0.5)
            #expect(values["is.cached"]?["boolValue"] as? Bool == true)
            let names = values["names"]?["arrayValue"] as? [String: [[String: String]]]
            #expect(names?["values"]?.map { $0["stringValue"] } == ["a", "b"])
        }
    }

    @Test("Metrics are cumulative sums, gauges and histograms with their own names and units")
    func metrics() async throws {
        try await Collector.run { collector in
            let metrics = PrometheusMetrics(
                options: .init(descriptions: MetricDescription.httpServer, timerBuckets: [1, 2]))
            Counter(label: "orders", dimensions: [("http.request.method", "GET")], factory: metrics).increment(by: 3)
            Gauge(label: "queue", factory: metrics).record(1.5)
            let timer = Metrics.Timer(label: "work", factory: metrics)
            for seconds in [1, 2, 3] { timer.recordSeconds(seconds) }
            let exporter = try exporter(collector, options(), metrics: metrics)
            #expect(await exporter.shutdown())
            let request = try #require(collector.all.first { $0.path == "/v1/metrics" })
            func metric(_ name: String) throws -> [String: Any] {
                try #require(request.metrics.first { $0["name"] as? String == name })
            }
            let sum = try #require(try metric("orders")["sum"] as? [String: Any])
            #expect(sum["isMonotonic"] as? Bool == true && sum["aggregationTemporality"] as? Int == 2)
            let point = try #require((sum["dataPoints"] as? [[String: Any]])?.first)
            #expect(point["asInt"] as? String == "3")
            #expect(attributes(point["attributes"])["http.request.method"]?["stringValue"] as? String == "GET")
            let start = try #require((point["startTimeUnixNano"] as? String).flatMap { UInt64($0) })
            let now = try #require((point["timeUnixNano"] as? String).flatMap { UInt64($0) })
            #expect(start <= now && now > 1_600_000_000_000_000_000)
            let gauge = try metric("queue")["gauge"] as? [String: [[String: Any]]]
            #expect(gauge?["dataPoints"]?.first?["asDouble"] as? Double == 1.5)
            let work = try metric("work")
            let histogram = ((work["histogram"] as? [String: Any])?["dataPoints"] as? [[String: Any]])?.first
            #expect(work["unit"] as? String == "s")
            #expect(histogram?["count"] as? String == "3" && histogram?["sum"] as? Double == 6)
            #expect(histogram?["bucketCounts"] as? [String] == ["1", "1", "1"])
            #expect(histogram?["explicitBounds"] as? [Double] == [1, 2])
        }
    }

    @Test("No secret leaves the process in names, values, events, links or status")
    func secrets() async throws {
        try await Collector.run { collector in
            let exporter = try exporter(collector, options { $0.resource["db.password"] = "hunter2" })
            let span = exporter.tracer.startSpan("GET http://ann:hunter2@shop/", context: .topLevel)
            span.attributes["url.full"] = "https://shop/Orders?$filter=Name eq 'hunter2'"
            span.attributes["http.request.header.authorization"] = ["Basic hunter2", "Bearer hunter2"]
            span.attributes["pin"] = 4711
            span.attributes["note"] = "password=hunter2"
            span.attributes["rows"] = 42
            span.addEvent(SpanEvent(name: "token: hunter2", attributes: ["api-key": "hunter2"]))
            span.addLink(SpanLink(context: span.context, attributes: ["cookie": "hunter2"]))
            span.setStatus(SpanStatus(code: .error, message: "passphrase=hunter2"))
            span.end()
            #expect(await exporter.shutdown())
            let request = try #require(collector.traces.first)
            #expect(!request.text.contains("hunter2") && !request.text.contains("4711"), "\(request.text)")
            #expect(attributes(request.spans.first?["attributes"])["rows"]?["intValue"] as? String == "42")
        }
    }

    @Test("A full batch is sent at once, batches are limited, and all spans arrive")
    func batches() async throws {
        try await Collector.run { collector in
            let exporter = try exporter(collector, options { $0.batchSize = 10 })
            spans(25, of: exporter)
            try await collector.wait { $0.traces.reduce(0) { $0 + $1.spans.count } >= 10 }
            #expect(await exporter.shutdown())
            #expect(collector.traces.allSatisfy { $0.spans.count <= 10 })
            #expect(collector.traces.reduce(0) { $0 + $1.spans.count } == 25 && exporter.exported == 25)
        }
    }

    @Test("A partial batch and the metrics are sent after the interval")
    func interval() async throws {
        try await Collector.run { collector in
            let exporter = try exporter(
                collector, options { $0.interval = .milliseconds(50) }, metrics: PrometheusMetrics())
            spans(1, of: exporter)
            try await collector.wait { collector in
                !collector.traces.isEmpty && collector.all.contains { $0.path == "/v1/metrics" }
            }
            #expect(exporter.exported == 1)
            #expect(await exporter.shutdown())
        }
    }

    @Test("A busy collector gets the same batch again", arguments: [429, 502, 503, 504])
    func retry(_ status: Int) async throws {
        try await Collector.run(answer: { $0 < 2 ? (status, nil, "") : (200, nil, "{}") }) { collector in
            let exporter = try exporter(collector, options())
            spans(3, of: exporter)
            #expect(await exporter.shutdown())
            #expect(collector.traces.count == 3 && Set(collector.traces.map(\.text)).count == 1)
            #expect(exporter.exported == 3)
        }
    }

    @Test("A collector that refuses a batch does not get it again", arguments: [400, 401, 404, 413, 500, 301])
    func refusal(_ status: Int) async throws {
        try await Collector.run(answer: { _ in (status, nil, "") }) { collector in
            let exporter = try exporter(collector, options())
            spans(3, of: exporter)
            #expect(await exporter.shutdown())
            #expect(collector.traces.count == 1)
            #expect(exporter.exported == 0 && exporter.dropped(.refused) == 3)
        }
    }

    @Test("Rejected spans of a batch are counted")
    func partialSuccess() async throws {
        let text = #"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}"#
        try await Collector.run(answer: { _ in (200, nil, text) }) { collector in
            let exporter = try exporter(collector, options())
            spans(5, of: exporter)
            #expect(await exporter.shutdown())
            #expect(exporter.exported == 3 && exporter.dropped(.refused) == 2)
        }
    }

    @Test("If a collector stays busy, the batch is dropped and counted")
    func unreachable() async throws {
        try await Collector.run(answer: { _ in (503, nil, "") }) { collector in
            let metrics = PrometheusMetrics()
            let exporter = try exporter(collector, options { $0.attempts = 2 }, metrics: metrics)
            spans(4, of: exporter)
            await exporter.shutdown()
            #expect(exporter.dropped(.unreachable) == 4 && collector.traces.count == 2)
            #expect(
                try ExpositionText(metrics.text).value(
                    "outpost_otlp_dropped_spans_total", ["reason": "unreachable"]) == 4)
        }
    }

    @Test("The queue is limited: further spans are dropped and counted, and no caller waits")
    func boundedQueue() async throws {
        try await Collector.run { collector in
            let exporter = try OTLPExporter(
                to: OTLPEndpoint(collector.url), over: collector.transport, options: options { $0.queueLimit = 100 })
            spans(1000, of: exporter)
            #expect(exporter.dropped(.queueFull) == 900)
            exporter.start()
            #expect(await exporter.shutdown())
            #expect(exporter.exported == 100)
            spans(1, of: exporter)
            #expect(exporter.dropped(.queueFull) == 901, "the exporter has ended")
        }
    }

    @Test("The shutdown ends within its limit even without a response of the collector")
    func shutdownLimit() async throws {
        try await Collector.run(answer: { _ in nil }) { collector in
            let exporter = try exporter(collector, options())
            spans(3, of: exporter)
            let start = ContinuousClock.now
            #expect(await !exporter.shutdown(within: .milliseconds(300)))
            #expect(start.duration(to: .now) < .seconds(10))
            #expect(exporter.exported == 0)
        }
    }

    @Test("A slow request is cancelled and repeated")
    func requestLimit() async throws {
        try await Collector.run(answer: { $0 == 0 ? nil : (200, nil, "{}") }) { collector in
            let exporter = try exporter(collector, options { $0.requestLimit = .milliseconds(300) })
            spans(1, of: exporter)
            #expect(await exporter.shutdown(within: .seconds(20)))
            #expect(collector.traces.count == 2 && exporter.exported == 1)
        }
    }

    @Test("The delay doubles up to its limit, and Retry-After is a minimum")
    func delays() {
        let rule = RetryRule(attempts: 5, firstDelay: .seconds(1), longestDelay: .seconds(60))
        func delay(_ attempt: Int, _ field: String? = nil) -> Duration? {
            rule.delay(after: attempt, retryAfter: field, now: 0, random: 1)
        }
        #expect((1...4).map { delay($0) } == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(delay(5) == nil)
        #expect(delay(1, "7") == .seconds(7) && delay(4, "7") == .seconds(8))
        #expect(delay(1, "3600") == .seconds(60) && delay(1, "soon") == .seconds(1))
        #expect(rule.delay(after: 3, now: 0, random: 0) == .seconds(2))
        #expect(
            RetryRule(attempts: 100, firstDelay: .seconds(1), longestDelay: .seconds(60)).delay(after: 99, random: 1)
                == .seconds(60))
    }

    @Test(
        "An address of a collector is an absolute URL without user, query and fragment",
        arguments: [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318"), ("https://otel.example/in/", "https://otel.example/in"),
            ("http://[::1]:4318", "http://[::1]:4318"), ("otel.example", nil), ("ftp://otel.example", nil), ("", nil),
            ("http://", nil), ("http://ann:hunter2@otel.example", nil), ("https://otel.example/?key=hunter2", nil),
            ("https://otel.example/#a", nil), ("http://a b/", nil),
        ] as [(String, String?)])
    func endpoints(_ text: String, _ expected: String?) {
        do {
            #expect(try OTLPEndpoint(text).description == expected)
        } catch {
            #expect(expected == nil && !"\(error)".contains("hunter2"))
        }
    }

    @Test("Header fields are not sent unencrypted to another machine and are not printed")
    func plainHTTP() throws {
        var options = OTLPOptions()
        options.fields[.authorization] = "Bearer hunter2"
        let transport = LoopbackTransport(handle: { _, _ in (HTTPResponse(status: .ok), ByteStream([])) })
        #expect(throws: OTLPError.plainHTTP(host: "otel.example")) {
            try OTLPExporter(to: OTLPEndpoint("http://otel.example"), over: transport, options: options)
        }
        for url in ["https://otel.example", "http://localhost:4318", "http://[::1]:4318"] {
            _ = try OTLPExporter(to: OTLPEndpoint(url), over: transport, options: options)
        }
        #expect(!"\(options)".contains("hunter2") && !String(reflecting: options).contains("hunter2"))
    }
}
