import Metrics
import ServerMetrics
import Testing

@Suite("The metrics of a process")
struct PrometheusMetricsTests {
    private func value(_ metrics: PrometheusMetrics, _ name: String, _ labels: [String: String] = [:]) throws -> Double?
    {
        try ExpositionText(metrics.text).value(name, labels)
    }

    @Test("8 tasks that count 100,000 times each lose nothing during reads")
    func exactCounts() async throws {
        let metrics = PrometheusMetrics()
        let (tasks, times) = (8, 100_000)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<tasks {
                group.addTask {
                    let counter = Counter(label: "count", factory: metrics)
                    let fractions = FloatingPointCounter(label: "fractions", factory: metrics)
                    let meter = Meter(label: "meter", factory: metrics)
                    let recorder = Recorder(label: "recorder", factory: metrics)
                    for _ in 0..<times {
                        counter.increment()
                        fractions.increment(by: 0.5)
                        meter.increment(by: 2)
                        meter.decrement()
                        recorder.record(1)
                    }
                }
            }
            group.addTask {
                for _ in 0..<50 {
                    guard let read = try? ExpositionText(metrics.text) else {
                        Issue.record("the text is malformed")
                        return
                    }
                    #expect(read.value("recorder_count") == read.value("recorder_sum"))
                }
            }
        }
        let total = Double(tasks * times)
        #expect(try value(metrics, "count_total") == total)
        #expect(try value(metrics, "fractions_total") == total / 2)
        #expect(try value(metrics, "meter") == total)
        #expect(try value(metrics, "recorder_count") == total)
        #expect(try value(metrics, "recorder_bucket", ["le": "+Inf"]) == total)
    }

    @Test("further time series beyond the limit are counted and dropped, and known ones continue")
    func seriesLimit() throws {
        let metrics = PrometheusMetrics(options: .init(seriesLimit: 10))
        for number in 0..<100 {
            Counter(label: "a", dimensions: [("n", "\(number)")], factory: metrics).increment()
        }
        Counter(label: "a", dimensions: [("n", "0")], factory: metrics).increment()
        #expect(metrics.dropped(.seriesLimit) == 90 && metrics.dropped(.nameConflict) == 0)
        let read = try ExpositionText(metrics.text)
        #expect(read.families.first { $0.name == "a_total" }?.samples.count == 10)
        #expect(read.value("a_total", ["n": "0"]) == 2)
        #expect(read.value(PrometheusMetrics.droppedName, ["reason": "series_limit"]) == 90)
    }

    @Test("two kinds of metrics cannot share a name")
    func conflicts() throws {
        let metrics = PrometheusMetrics()
        Recorder(label: "a", factory: metrics).record(1)
        for label in ["a", "a_count", "a_sum", "a_bucket"] { Gauge(label: label, factory: metrics).record(2) }
        Gauge(label: "b_sum", factory: metrics).record(3)
        Recorder(label: "b", factory: metrics).record(4)
        Counter(label: "outpost_metrics_dropped_series", factory: metrics).increment(by: 1000)
        #expect(metrics.dropped(.nameConflict) == 6)
        let read = try ExpositionText(metrics.text)
        #expect(read.value("a_count") == 1 && read.value("b_sum") == 3 && read.value("b_count") == nil)
    }

    @Test("a destroyed time series disappears, and its name can be used again")
    func destroy() throws {
        let metrics = PrometheusMetrics(options: .init(seriesLimit: 1))
        let counter = Counter(label: "a", factory: metrics)
        counter.increment()
        counter.destroy()
        counter.increment()
        counter.destroy()
        #expect(try value(metrics, "a_total") == nil)
        Metrics.Timer(label: "a_total", factory: metrics).recordSeconds(1)
        #expect(metrics.dropped(.seriesLimit) == 0 && metrics.dropped(.nameConflict) == 0)
        #expect(try value(metrics, "a_total_seconds_count") == 1)
    }

    @Test("decreasing, non-finite and restarted counters are handled")
    func counts() throws {
        let metrics = PrometheusMetrics()
        let counter = Counter(label: "a", factory: metrics)
        counter.increment(by: -5)
        counter.increment(by: 7)
        let fractions = FloatingPointCounter(label: "b", factory: metrics)
        for amount in [1.5, -1, .nan, .infinity] { fractions.increment(by: amount) }
        #expect(try value(metrics, "a_total") == 7 && value(metrics, "b_total") == 1.5)
        counter.reset()
        fractions.reset()
        #expect(try value(metrics, "a_total") == 0 && value(metrics, "b_total") == 0)
        // A count beyond 2^53 is exact.
        counter.increment(by: Int64.max)
        #expect(metrics.text.contains("a_total 9223372036854775807\n"))
    }

    @Test("labels with equivalent spellings are one time series")
    func oneSeries() throws {
        let metrics = PrometheusMetrics()
        Counter(label: "a.b", dimensions: [("x", "1"), ("y", "2")], factory: metrics).increment()
        Counter(label: "a_b", dimensions: [("y", "2"), ("x", "1")], factory: metrics).increment()
        FloatingPointCounter(label: "a.b", dimensions: [("x", "1"), ("y", "2")], factory: metrics).increment(by: 0.5)
        #expect(try value(metrics, "a_b_total", ["x": "1", "y": "2"]) == 2.5)
    }
}
