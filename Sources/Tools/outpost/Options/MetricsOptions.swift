import ArgumentParser
import ODataServer
import ServerMetrics
import ToolLanguage

/// The options for the readers of the metrics of `outpost serve`.
struct MetricsOptions: ParsableArguments {
    @Flag(
        help: .text(
            """
            Give metrics at /metrics in the format of Prometheus, to programs of this machine unless --metrics-token \
            is given.
            """))
    var metrics = false

    @Option(
        name: .customLong("metrics-token"),
        help: .text(
            "Give metrics at /metrics to every caller that sends the token in this file as bearer token.",
            valueName: "file"))
    var tokenFile: String?

    /// The minimum number of characters of a token.
    static let minTokenLength = 16

    /// Whether there are metrics.
    var isOn: Bool { metrics || tokenFile != nil }

    /// Returns the endpoint for metrics; `nil` if there are none.
    ///
    /// - Throws: ``Failure`` if the token cannot be used, or if an entity set has the name of the path.
    func endpoint(for metrics: PrometheusMetrics, sets: [String]) throws -> MetricsEndpoint? {
        guard isOn else { return nil }
        guard !sets.contains("metrics") else {
            throw Failure(
                message: "The metrics cannot be at /metrics, because an entity set has that name.",
                advice: "Leave out --metrics and --metrics-token.", status: .misused)
        }
        return MetricsEndpoint(token: try token(), contentType: PrometheusMetrics.contentType) { metrics.text }
    }

    private func token() throws -> String? {
        guard let tokenFile else { return nil }
        let token = try NamedFile.password(in: tokenFile)
        guard token.utf8.count >= Self.minTokenLength, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Failure(
                message:
                    """
                    The token in \(tokenFile) is not usable: it has fewer than \(Self.minTokenLength) characters, or \
                    others than visible ones of ASCII.
                    """,
                advice: "Make one: openssl rand -hex 32 > \(tokenFile.shellQuoted)", status: .misused)
        }
        return token
    }
}
