import ServerMetrics

func usesServerMetrics() async throws {
    let metrics = PrometheusMetrics()
    let counter = metrics.makeCounter(label: "consumer.runs", dimensions: [("kind", "first")])
    counter.increment(by: 1)
    let health = HealthReport(checks: [.init("metrics") { _ = metrics.text }])
    health.finishStart()
    print("\(await health.isReady): \(metrics.text.contains("consumer_runs_total{kind=\"first\"} 1"))")
}
