import Metrics
import ServerMetrics
import Testing

@Suite("The text exposition format 0.0.4")
struct PrometheusTextTests {
    @Test("each metric has HELP and TYPE before its samples, sorted by name and label")
    func order() throws {
        let metrics = PrometheusMetrics()
        for kind in ["b", "a"] {
            Counter(label: "shop.orders", dimensions: [("kind", kind)], factory: metrics).increment(by: 2)
        }
        Gauge(label: "queue", factory: metrics).record(1.5)
        #expect(
            metrics.text == """
                # HELP outpost_metrics_dropped_series_total Time series that were asked for and are not kept.
                # TYPE outpost_metrics_dropped_series_total counter
                outpost_metrics_dropped_series_total{reason="name_conflict"} 0
                outpost_metrics_dropped_series_total{reason="series_limit"} 0
                # HELP queue queue
                # TYPE queue gauge
                queue 1.5
                # HELP shop_orders_total shop.orders
                # TYPE shop_orders_total counter
                shop_orders_total{kind="a"} 2
                shop_orders_total{kind="b"} 2

                """)
        #expect(metrics.text == metrics.text)
        #expect(PrometheusMetrics.contentType == "text/plain; version=0.0.4; charset=utf-8")
    }

    @Test(
        "values are escaped so that a strict reader returns them",
        arguments: [
            #"a"b"#, #"a\b"#, "a\nb", "\\n", "{a=\"1\"} 2", "a,b=c", "é 漢字 🏔", "\r", " ", "#", "\u{0}", "\u{2028}",
            "e\u{301}\"",
            "\\\u{301}", "\n\u{301}",
        ])
    func escaping(_ value: String) throws {
        let metrics = PrometheusMetrics(
            options: .init(descriptions: ["a": MetricDescription(help: "Help: \(value)")]))
        Counter(label: "a", dimensions: [("key", value)], factory: metrics).increment()
        let read = try ExpositionText(metrics.text)
        #expect(read.value("a_total", ["key": value]) == 1)
        #expect(read.families.first { $0.name == "a_total" }?.help == "Help: \(value)")
    }

    @Test(
        "OpenTelemetry names become Prometheus names",
        arguments: [
            ("http.server.active_requests", "http_server_active_requests"), ("9lives", "_9lives"), ("", "_"),
            ("größe", "gr__e"), ("a:b", "a:b"), ("a b\n# TYPE x", "a_b___TYPE_x"), ("_total", "_total"),
        ])
    func names(_ label: String, _ name: String) throws {
        let metrics = PrometheusMetrics()
        Gauge(label: label, factory: metrics).record(3)
        #expect(try ExpositionText(metrics.text).value(name) == 3)
    }

    @Test("a counter ends with _total once, and a timer with its unit once")
    func suffixes() throws {
        let metrics = PrometheusMetrics()
        Counter(label: "a.total", factory: metrics).increment()
        Counter(label: "b_total", factory: metrics).increment()
        Metrics.Timer(label: "c", factory: metrics).recordSeconds(1)
        Metrics.Timer(label: "d_seconds", factory: metrics).recordSeconds(1)
        let read = try ExpositionText(metrics.text)
        for name in ["a_total", "b_total", "c_seconds_count", "d_seconds_count"] {
            #expect(read.value(name) == 1, "\(name)")
        }
    }

    @Test("labels have valid and unique names")
    func labels() throws {
        let metrics = PrometheusMetrics()
        Counter(
            label: "a", dimensions: [("b.c", "1"), ("b_c", "2"), ("__x", "3"), ("empty", ""), ("9", "4")],
            factory: metrics
        ).increment()
        Recorder(label: "h", dimensions: [("le", "mine")], factory: metrics).record(1)
        let read = try ExpositionText(metrics.text)
        #expect(read.value("a_total", ["b_c": "1;2", "key__x": "3", "_9": "4"]) == 1)
        #expect(read.value("h_count", ["exported_le": "mine"]) == 1)
        // An empty value is no label, so both are one time series.
        Counter(label: "e", dimensions: [("x", "")], factory: metrics).increment()
        Counter(label: "e", factory: metrics).increment()
        #expect(try ExpositionText(metrics.text).value("e_total") == 2)
    }

    @Test("a value longer than 256 characters is cut")
    func longValues() throws {
        let metrics = PrometheusMetrics()
        Counter(label: "a", dimensions: [("b", String(repeating: "x", count: 1000))], factory: metrics).increment()
        #expect(
            try ExpositionText(metrics.text).value("a_total", ["b": String(repeating: "x", count: 256)]) == 1)
    }

    @Test("the buckets of a histogram are cumulative, and +Inf equals the count")
    func histogram() throws {
        let metrics = PrometheusMetrics(
            options: .init(descriptions: [
                "sizes": MetricDescription(help: "Sizes.", buckets: [10, 1, 5, 5, .infinity])
            ]))
        let sizes = Recorder(label: "sizes", factory: metrics)
        for value in [0.5, 1, 1.5, 5, 10, 11, 1e9, .nan, .infinity, -.infinity] { sizes.record(value) }
        let read = try ExpositionText(metrics.text)
        let family = try #require(read.families.first { $0.name == "sizes" })
        #expect(family.type == "histogram")
        #expect(
            family.samples.map(\.name) == Array(repeating: "sizes_bucket", count: 4) + ["sizes_sum", "sizes_count"])
        #expect(family.samples.prefix(4).map { $0.labels["le"] } == ["1", "5", "10", "+Inf"])
        #expect(family.samples.map(\.value) == [2, 4, 5, 7, 1_000_000_029, 7])
    }

    @Test("a timer has the buckets of OpenTelemetry in seconds")
    func timer() throws {
        let metrics = PrometheusMetrics()
        let timer = Metrics.Timer(
            label: "http.server.request.duration", dimensions: [("http.request.method", "GET")], factory: metrics)
        timer.recordMilliseconds(30)
        timer.recordNanoseconds(-5)
        let read = try ExpositionText(metrics.text)
        let name = "http_server_request_duration_seconds"
        let family = try #require(read.families.first { $0.name == name })
        #expect(family.help == "Duration of HTTP server requests.")
        #expect(
            family.samples.filter { $0.name == name + "_bucket" }.count == MetricDescription.durationBuckets.count + 1)
        #expect(read.value(name + "_bucket", ["http_request_method": "GET", "le": "0.025"]) == 1)
        #expect(read.value(name + "_bucket", ["http_request_method": "GET", "le": "0.05"]) == 2)
        #expect(read.value(name + "_sum", ["http_request_method": "GET"]) == 0.03)
    }

    @Test("non-finite numbers are written in the forms of the format")
    func numbers() throws {
        let metrics = PrometheusMetrics()
        let values: [(String, Double)] = [
            ("nan", .nan), ("more", .infinity), ("less", -.infinity), ("small", .leastNonzeroMagnitude),
            ("large", 1.5e300),
            ("whole", -0.0),
        ]
        for (name, value) in values { Gauge(label: name, factory: metrics).record(value) }
        let read = try ExpositionText(metrics.text)
        for (name, value) in values {
            let found = try #require(read.value(name))
            #expect(found == value || found.isNaN && value.isNaN, "\(name)")
        }
    }
}
