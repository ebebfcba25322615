import HTTPTypes
import MobileServer
import ODataTransportNIO
import ServerMetrics
import ToolLanguage

/// The export of metrics to an OpenTelemetry collector.
struct MetricsExport {
    private let exporter: OTLPExporter
    private let transport: NIOTransport

    /// Begins to export; `nil` without a collector.
    init?(_ settings: CollectorSettings, secrets: SecretResolver, metrics: PrometheusMetrics) async throws {
        guard let url = settings.url else { return nil }
        var fields = HTTPFields()
        for (name, reference) in settings.fields {
            guard let name = HTTPField.Name(name) else {
                throw ServerFailure("otlp.fields: '\(name)' is no name of a header field.", status: .misused)
            }
            fields[name] = try await secrets.value(of: reference).reveal()
        }
        transport = try NIOTransport()
        exporter = try OTLPExporter(
            to: OTLPEndpoint(url), over: transport,
            options: OTLPOptions(resource: ["service.name": "outpost-server"], fields: fields), metrics: metrics)
        exporter.start()
    }

    /// Sends the last values.
    func stop() async {
        await exporter.shutdown(within: .seconds(5))
        try? await transport.shutdown()
    }
}
