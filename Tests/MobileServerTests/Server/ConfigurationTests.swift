import Foundation
import MobileServer
import ServerState
import Testing

@Suite("The configuration of the server")
struct ConfigurationTests {
    private func problems(_ text: String) -> [String] {
        do throws(ConfigurationError) {
            _ = try ServerConfiguration(yaml: text, path: "s.yaml")
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test("An empty file gives the defaults")
    func defaults() throws {
        let configuration = try ServerConfiguration(yaml: "", path: "s.yaml")
        #expect(configuration == ServerConfiguration())
        #expect(configuration.server.listen == "127.0.0.1:8070" && configuration.retention.replay == 50)
        #expect(configuration.limits.upload == 32 << 20 && configuration.server.drain == .seconds(30))
    }

    @Test("All mistakes are reported at once, with line, column and the nearest key")
    func mistakes() {
        let found = problems(
            """
            server:
              lisen: 127.0.0.1:80
              drain: soon
            limits:
              upload: much
            applications:
              shop:
                destinations:
                  erp:
                    gate: 0
            """)
        #expect(
            found.map { $0.prefix { $0 != " " } } == [
                "s.yaml:2:3:", "s.yaml:3:10:", "s.yaml:5:11:", "s.yaml:10:9:", "s.yaml:10:15:",
            ], "\(found)")
        #expect(found.first?.contains("Did you mean listen?") == true)
        #expect(found.contains { $0.contains("needs the key 'url'") })
    }

    @Test("Every key of the specification is read and written back")
    func everyKey() throws {
        let text = try String(contentsOf: Self.file("every-key.yaml"), encoding: .utf8)
        let configuration = try ServerConfiguration(yaml: text, path: "every-key.yaml")
        let written = configuration.yaml
        let again = try ServerConfiguration(yaml: written, path: "written.yaml")
        #expect(again == configuration)
        // Each key of the file is written: none has its default, and none is lost.
        for line in text.split(separator: "\n") where !line.contains("#") {
            guard let key = line.split(separator: ":").first?.trimmingCharacters(in: [" ", "-"]) else { continue }
            #expect(written.contains("\(key):") || written.contains("\"\(key)\":"), "\(key)")
        }
    }

    static func file(_ name: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Files/\(name)")
    }

    @Test("A key without effect in this build is named with its place")
    func keysWithoutEffect() throws {
        var warnings: [ConfigurationProblem] = []
        _ = try ServerConfiguration(
            yaml: """
                database: {point: 3}
                operators: {oidc: {client_id: a}}
                images: {folder: /srv}
                push: {web_push_hosts: []}
                traces: {collector_url: 'https://a.example/'}
                compatibility: {smp: true}
                applications:
                  shop:
                    push: {apns: {topic: a}}
                    destinations:
                      erp:
                        url: https://erp.example/
                        prepopulate: shared
                        queries:
                          Q: {query: Q, bind: region, modified: At}
                """, path: "s", warnings: &warnings)
        #expect(warnings.map(\.line) == [1, 2, 3, 4, 5, 6, 9, 13, 15, 15], "\(warnings)")
        #expect(warnings.allSatisfy { $0.isWarning })
        _ = try ApplicationConfiguration(yaml: "push: {fcm: {account: a}}", path: "a", warnings: &warnings)
        #expect(warnings.count == 1)
        _ = try ServerConfiguration(yaml: "", path: "s", warnings: &warnings)
        #expect(warnings.isEmpty)
    }

    @Test(
        "A value that this build cannot keep is refused by name",
        arguments: [
            ("visibility: partitioned", "visibility"), ("tracking: etag", "tracking"),
            ("tracking: modified", "tracking"),
        ])
    func refusedValues(text: String, key: String) {
        let found = problems(
            """
            applications:
              shop:
                destinations:
                  erp:
                    url: https://erp.example/
                    authentication: {kind: propagation}
                    queries:
                      Q:
                        query: Q
                        \(text)
            """)
        #expect(found.count == 2, "\(found)")
        #expect(found[0].contains(":6:") && found[0].contains("propagation"))
        #expect(found.last?.contains(":10:") == true && found.last?.contains(key) == true)
    }

    @Test("A version is stored as canonical JSON that reads back the same")
    func versions() throws {
        let text = try String(contentsOf: Self.file("every-key.yaml"), encoding: .utf8)
        let configuration = try ServerConfiguration(yaml: text, path: "every-key.yaml")
        let application = try #require(configuration.applications["shop"])
        let body = application.canonicalJSON()
        #expect(try ApplicationConfiguration(canonicalJSON: body) == application)
        #expect(try ApplicationConfiguration(canonicalJSON: body).canonicalJSON() == body)
        #expect((try? JSONSerialization.jsonObject(with: Data(body))) != nil)
        #expect(String(decoding: ApplicationConfiguration().canonicalJSON(), as: UTF8.self) == "{}")
    }

    @Test("A listener that other machines reach needs TLS or a trusted proxy")
    func listeners() {
        #expect(problems("server: {listen: '0.0.0.0:80'}").count == 1)
        #expect(problems("server: {operator_listen: '[::]:80'}").count == 1)
        #expect(problems("server: {listen: '0.0.0.0:80', trusted_hops: 1, tls: {mode: behind-proxy}}").isEmpty)
        #expect(problems("server: {listen: '0.0.0.0:80', tls: {mode: own}}").count == 1)
        #expect(problems("server: {listen: '0.0.0.0:80', tls: {mode: own, certificate: a, key: b}}").isEmpty)
        #expect(problems("server: {listen: '', operator_listen: '[::1]:80'}").isEmpty)
    }

    @Test("A secret must be a reference, and the error for a plain value does not contain it")
    func secrets() {
        let found = problems("keys: {master: hunter2-hunter2}")
        #expect(found.count == 1 && found[0].contains("file:PATH"))
        #expect(!found[0].contains("hunter2"))
        #expect(problems("keys: {master: 'env:KEY'}").isEmpty)
    }

    @Test(
        "Invalid text is refused with its place",
        arguments: ["a: [", "a: b: c", "- a", "&a [*a]", "server: {listen: a, listen: b}", "x: \u{0}"])
    func hostile(text: String) {
        #expect(!problems(text).isEmpty)
    }

    @Test("Deep nesting and aliases are refused")
    func depth() {
        #expect(!problems(String(repeating: "[", count: 900) + String(repeating: "]", count: 900)).isEmpty)
        let bomb = "a: &a [x,x]\nb: &b [*a,*a]\napplications: *b\n"
        #expect(!problems(bomb).isEmpty)
    }

    @Test("Durations, sizes and days are read with their units")
    func units() throws {
        let configuration = try ServerConfiguration(
            yaml: """
                server: {drain: 2min}
                operators: {idle: 90, length: 1d}
                limits: {upload: 1GiB}
                retention: {logs: 3d, audit: 7}
                """, path: "s.yaml")
        #expect(configuration.server.drain == .seconds(120))
        #expect(configuration.operators.idle == .seconds(90 * 60) && configuration.operators.length == .seconds(86_400))
        #expect(configuration.limits.upload == 1 << 30)
        #expect(configuration.retention.logs == 3 && configuration.retention.audit == 7)
    }

    @Test("A plan names changed keys, affected queries and devices")
    func plan() throws {
        let old = try ApplicationConfiguration(
            yaml: """
                destinations:
                  erp:
                    url: https://a.example/
                    queries:
                      P: {query: Products, visibility: shared}
                """, path: "a")
        var new = old
        new.title = "Shop"
        new.destinations["erp"]?.queries["P"]?.refreshInterval = .seconds(60)
        var feed = FeedRecord(
            key: [], application: 1, destination: "erp", query: "P", configuration: 1, visibility: .shared,
            tracking: "compare")
        feed.rowCount = 100
        let plan = ConfigurationPlan(from: old, to: new, feeds: [feed], devices: 7)
        #expect(plan.changedKeys == ["destinations.erp.queries.P.refresh_interval", "title"])
        #expect(plan.queries.map(\.name) == ["erp/P"] && plan.queries[0].readsPerHour == 6000)
        #expect(plan.devices == 7)
        #expect(ConfigurationPlan(from: old, to: old, feeds: [feed], devices: 7).isEmpty)
    }
}
