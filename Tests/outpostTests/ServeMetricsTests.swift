import ForeignPrograms
import Foundation
import Testing

/// The health and the metrics of `outpost serve`, as a supervisor and a monitoring system see them.
@Suite struct ServeMetricsTests {
    private func status(_ arguments: String...) async throws -> String {
        try await Command.curl(["--output", "/dev/null", "--write-out", "%{http_code}"] + arguments)
    }

    @Test("--metrics serves Prometheus metrics to this machine only")
    func metrics() async throws {
        let site = try Site()
        try await site.serve(nil, port: 0, "--metrics")
        for _ in 0..<3 { #expect(try await status(site.url + "Customers?$top=1") == "200") }
        let text = try await Command.curl("--include", site.url + "metrics")
        #expect(text.lowercased().contains("content-type: text/plain; version=0.0.4; charset=utf-8"))
        let labels = #"{http_request_method="GET",http_response_status_code="200",url_scheme="http"}"#
        #expect(text.contains("# TYPE http_server_request_duration_seconds histogram"))
        #expect(text.contains("http_server_request_duration_seconds_count\(labels) 3"), "\(text)")
        #expect(
            text.contains(#"http_server_active_requests{http_request_method="GET",url_scheme="http"} 1"#), "\(text)")
        #expect(!text.contains("Customers"), "no names of the service")
        #expect(try await status("--header", "X-Forwarded-For: 192.0.2.1", site.url + "metrics") == "403")
    }

    @Test("Without --metrics, /metrics is an address of the service")
    func off() async throws {
        let site = try Site()
        try await site.serve()
        #expect(try await status(site.url + "metrics") == "404")
    }

    @Test("--metrics-token requires a token, which does not admit callers to the data")
    func token() async throws {
        let site = try Site()
        let (file, token) = (site.path("token"), String(repeating: "7f", count: 32))
        try (token + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        chmod(file, 0o600)
        try await site.addUsers(["ann": "secret"])
        try await site.serve(nil, port: 0, "--metrics-token", file, "--auth", site.path("users"))
        #expect(try await status(site.url + "metrics") == "401")
        #expect(try await status("--header", "Authorization: Bearer \(token)", site.url + "metrics") == "200")
        #expect(try await status("--user", "ann:secret", site.url + "metrics") == "401")
        #expect(try await status("--header", "Authorization: Bearer \(token)", site.url + "Customers") == "401")
    }

    @Test(
        "serve refuses a short metrics token, an entity set named metrics, and metrics behind a proxy without a token")
    func refusals() async throws {
        let site = try Site()
        try SQLite.execute("CREATE TABLE metrics (ID INTEGER PRIMARY KEY)", in: site.database)
        try "short\n".write(toFile: site.path("token"), atomically: true, encoding: .utf8)
        chmod(site.path("token"), 0o600)
        for (arguments, message) in [
            (["--metrics"], "an entity set has that name"),
            (["--metrics", "--trust-proxy"], "--metrics-token"),
            (["--metrics", "--base-url", "https://api.example/"], "--metrics-token"),
        ] {
            let result = try await site.tool.run(["serve", site.database, "--host", "192.0.2.1"] + arguments)
            #expect(result.code == 2 && result.errors.contains(message), "\(result.errors)")
        }
        let other = site.path("other.db")
        try SQLite.execute("CREATE TABLE T (ID INTEGER PRIMARY KEY)", in: other)
        let result = try await site.tool.run(
            "serve", other, "--host", "192.0.2.1", "--metrics-token", site.path("token"))
        #expect(result.code == 2 && result.errors.contains("16 characters"), "\(result.errors)")
    }

    @Test("A service that cannot read its data stays alive but is not ready")
    func health() async throws {
        let site = try Site()
        try SQLite.execute("CREATE TABLE T (ID INTEGER PRIMARY KEY); INSERT INTO T VALUES (1)", in: site.database)
        try await site.serve(path: site.database)
        for path in ["livez", "readyz", "startupz", "health"] {
            #expect(try await Command.curl(site.url + path) == #"{"status":"pass"}"#, "\(path)")
        }
        try SQLite.execute("DROP TABLE T", in: site.database)
        // A finding is given again for a second.
        try await Task.sleep(for: .milliseconds(1200))
        #expect(try await status(site.url + "readyz") == "503")
        #expect(try await status(site.url + "livez") == "200")
        #expect(try await status(site.url + "startupz") == "200")
    }

    @Test("A table named like a health probe is served in place of the probe")
    func names() async throws {
        let site = try Site()
        try SQLite.execute("CREATE TABLE readyz (ID INTEGER PRIMARY KEY)", in: site.database)
        try await site.serve(path: site.database)
        #expect(try await Command.curl(site.url + "readyz").contains("$metadata#readyz"))
        #expect(try await Command.curl(site.url + "livez") == #"{"status":"pass"}"#)
    }

    @Test("--log writes the address and user of each request")
    func log() async throws {
        let site = try Site()
        try await site.addUsers(["ann": "secret"])
        try await site.serve(nil, port: 0, "--auth", site.path("users"), "--log")
        #expect(try await status("--user", "ann:secret", site.url + "Customers?$top=1") == "200")
        site.stop()
        #expect(site.errors.contains("address=127.0.0.1") && site.errors.contains("user=ann"), "\(site.errors)")
    }
}
