import Foundation
import HTTPTypes
import InMemoryTracing
import Logging
import MetricsTestKit
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Supportability
import Synchronization
import Testing

@testable import ODataClient

/// Logs, metrics and traces of a client, and the secrets that they never contain.
@Suite struct DiagnosticsTests {
    private static let orders = "{\"@odata.context\":\"$metadata#Orders\",\"value\":[{\"ID\":1,\"City\":\"Graz\"}]}"

    /// Records log messages as text.
    private final class Lines: LogHandler, @unchecked Sendable {
        // `lines` is protected by a lock; metadata and level do not change after the logger was created.
        private let lines = Mutex<[String]>([])
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        var text: String { lines.withLock { $0.joined(separator: "\n") } }

        func log(event: LogEvent) {
            lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
        }
    }

    @Test("The header of a stored log contains service, language and user") func logHeader() async throws {
        let folder = NSTemporaryDirectory() + "outpost-log-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let log = try StoredLog(folder: folder)
        try log.setHeader(
            LogHeader(
                systemVersion: "1", appName: "Shop", appVersion: "2", hardwareVersion: "x", timeZone: "UTC",
                language: "en"))
        var configuration = ODataClient.Configuration(language: "de-AT")
        configuration.diagnostics.storedLog = log
        let authentication = Authentication.basic(user: "ann", password: "geheim").then(.header("X-Tenant", "7"))
        _ = try ODataClient(
            serviceRoot: "http://shop.test/service/", transport: WireScript { _, _ in throw CancellationError() },
            authentication: authentication,
            configuration: configuration)
        let header = try #require(try log.header)
        #expect(header.baseURL == "http://shop.test/service/" && header.language == "de-AT" && header.user == "ann")
        #expect(header.appName == "Shop" && header.timeZone == "UTC", "the rest stays")
    }

    private func logged(
        _ level: Diagnostics.TraceLevel,
        _ answer: WireScript.Answer = .json(DiagnosticsTests.orders, ["Set-Cookie": "SID=secretcookie"]),
        values: Bool = true
    ) async throws -> String {
        let lines = Lines()
        var configuration = ODataClient.Configuration()
        configuration.diagnostics.logger = Logger(label: "test") { _ in lines }
        configuration.diagnostics.traceLevel = level
        configuration.diagnostics.tracesValues = values
        configuration.headers = ["X-Harmless": "secretfield"]
        let transport = WireScript(metadata: ShopMetadata.v4()) { _, _ in answer }
        let client = try ODataClient(
            serviceRoot: WireScript.root, transport: transport,
            authentication: .bearer { "secrettoken" }, configuration: configuration)
        let service = DataService(client).header("Authorization", "Bearer secretheader")
            .header("X-Quiet", "secretrequest").option("access_token", "secretoption")
        _ = try? await service.entities(ResourceQuery("Orders").filter(.property("City") == "Graz"))
        var order = try await ShopMetadata.entity(["ID": 1], of: client)
        order.markUnchanged()
        order["City"] = "Linz"
        _ = try? await service.update(order, in: "Orders")
        return lines.text
    }

    @Test func `each trace level tells more, and none tells a secret`() async throws {
        let none = try await logged(.none)
        let low = try await logged(.low)
        let medium = try await logged(.medium)
        let high = try await logged(.high)
        #expect(none.isEmpty)
        #expect(low.contains("→ GET /shop/Orders") && low.contains("← 200 GET /shop/Orders"))
        #expect(!low.contains("$filter") && !low.contains("Accept"))
        #expect(medium.contains("Accept: application/json") && !medium.contains("Linz"))
        #expect(high.contains("Linz") && high.contains("Graz"))
        for text in [none, low, medium, high] { #expect(!text.contains("secret"), "\(text)") }
    }

    @Test func `a trace without values has the names of options and fields and the sizes of bodies`() async throws {
        let body = #"{"value":[{"ID":1,"City":"secretcity"}],"secretname":"Authorization: Basic secretvalue"}"#
        for level in Diagnostics.TraceLevel.allCases {
            let text = try await logged(level, .json(body, ["X-Odd": "secretanswer"]), values: false)
            for value in ["secret", "Graz", "Linz", "(1)", "application/json", "shop"] {
                #expect(!text.contains(value), "\(level): \(value) in \(text)")
            }
        }
        let low = try await logged(.low, values: false)
        #expect(low.contains("→ GET /Orders") && low.contains("← 200 GET /Orders") && !low.contains("$filter"))
        #expect(low.contains("GET /Orders took "))
        let high = try await logged(.high, .json(body, ["X-Odd": "secretanswer"]), values: false)
        for name in [
            "→ GET /Orders?$filter&access_token", "PATCH /Orders(…)", "X-Harmless", "X-Odd", "Authorization",
            "\(body.utf8.count) bytes",
        ] {
            #expect(high.contains(name), "\(name) is not in \(high)")
        }
    }

    @Test(arguments: [
        ("/s/Orders?$filter=A%20eq%201&$top=2", "/Orders?$filter&$top"), ("/s/Orders('a/b')/Items", "/Orders(…)/Items"),
        ("/s/Orders(%27a)/SECRET%27)/Items(2)/N.F(p='(')", "/Orders(…)/Items(…)/N.F(…)"),
        ("/s/Orders('a)/SECRET')/$value", "/Orders(…)/$value"), ("/s/Orders/SECRET/Items/4", "/Orders/…/…/…"),
        ("/s/Orders(1)/Items/SECRET/$ref", "/Orders(…)/Items/…/$ref"), ("/s/$metadata", "/$metadata"), ("/s/", "/"),
        ("/s", "/"), ("/other/SECRET?x=1", "/…"), ("/s/Orders?SECRET&=SECRET&a%20b=SECRET", "/Orders?…&…&…"),
        ("/s/$crossjoin(A,B)", "/$crossjoin(…)"), ("/s/SEC%20RET", "/…"), ("/S/Orders", "/…"),
    ])
    func `the address in a trace has no value`(path: String, shown: String) {
        #expect(TracedAddress(path, root: "/s/").pathAndOptions == shown)
    }

    @Test("a trace with bodies contains no token, neither from query options of links nor from bodies")
    func bodiesAreRedacted() async throws {
        let text = try await logged(
            .high,
            .json(
                """
                {"@odata.context":"$metadata#Orders","@shop.self":"\(WireScript.root)Orders?access_token=secretoption",
                "value":[{"ID":1,"City":"Graz","Token":"secretvalue"}]}
                """))
        #expect(text.contains("← body") && text.contains("Graz"), "\(text)")
        #expect(!text.contains("secret"), "\(text)")
        let refusal = try await logged(
            .high, .json(#"{"error":{"code":"E1","message":"bad access_token=secretoption"}}"#, status: 400))
        #expect(refusal.contains("E1") && !refusal.contains("secret"), "\(refusal)")
    }

    @Test func `a failure is logged at every level, without the words of the service`() async throws {
        let text = try await logged(
            .none, .json("{\"error\":{\"code\":\"E1\",\"message\":\"Anna Huber is no customer\"}}", status: 400))
        #expect(text.contains("warning GET /shop/Orders failed: 400 E1"), "\(text)")
        let plain = try await logged(
            .none, .json("{\"error\":{\"code\":\"E1\",\"message\":\"Anna\"}}", status: 400), values: false)
        #expect(plain.contains("warning GET /Orders failed: 400 ") && !plain.contains("E1"), "\(plain)")
        #expect(text.contains("service.bad-request"))
        #expect(!text.contains("Huber"))
    }

    @Test func `times are told at four levels, with documents and bytes`() async throws {
        let all = Mutex<[RequestTimings]>([])
        var configuration = ODataClient.Configuration()
        configuration.diagnostics.onTimings = { timings in all.withLock { $0.append(timings) } }
        let transport = SlowTransport(
            base: WireScript(metadata: ShopMetadata.v4()) { _, _ in .json(Self.orders) })
        let client = try ODataClient(serviceRoot: WireScript.root, transport: transport, configuration: configuration)
        _ = try await DataService(client).entities("Orders")
        let timings = all.withLock { $0 }
        #expect(timings.map(\.operation) == ["GET /shop/$metadata", "GET /shop/Orders"])
        for timing in timings {
            #expect(timing.status == 200)
            #expect(timing.requestID != nil)
            #expect(timing.network >= SlowTransport.delay)
            #expect(timing.transport >= timing.network)
            #expect(timing.client >= timing.transport)
            #expect(timing.endToEnd >= timing.client)
            #expect(timing.codec == timing.endToEnd - timing.client)
            #expect(timing.session == timing.client - timing.transport)
            #expect(timing.receivedBytes > 0)
            let document = try #require(timing.documents.first)
            #expect(document.bytes == timing.receivedBytes)
            #expect(document.duration < SlowTransport.delay, "waiting is not reading")
        }
        #expect(timings.flatMap(\.documents).map(\.kind) == [.metadata, .response])
    }

    @Test func `a stream's times are told when it ends`() async throws {
        let all = Mutex<[RequestTimings]>([])
        var configuration = ODataClient.Configuration()
        configuration.diagnostics.onTimings = { timings in all.withLock { $0.append(timings) } }
        let transport = WireScript(metadata: ShopMetadata.v4()) { _, _ in
            .init(fields: ["Content-Type": "image/png"], body: "bytes")
        }
        let client = try transport.client(configuration)
        let photo = try await ShopMetadata.entity(["ID": 1], set: "Photos", of: client)
        let (stream, _) = try await DataService(client).media(of: photo)
        #expect(all.withLock { $0.count } == 1, "that of the metadata")
        _ = try await stream.collect(limit: 100)
        #expect(all.withLock { $0.last?.receivedBytes } == 5)
        #expect(all.withLock { $0.count } == 2)
    }

    @Test("W3C Trace Context 3.2: requests of one action share a trace with different parents")
    func traces() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { _, _ in .json(Self.orders) }
        var configuration = ODataClient.Configuration()
        configuration.diagnostics.propagatesTraces = true
        configuration.diagnostics.correlationID = { "action-1" }
        let service = try transport.service(configuration)
        let context = TraceContext()
        try await TraceContext.$current.withValue(context) {
            _ = try await service.entities("Orders")
            _ = try await service.entities("Orders")
        }
        _ = try await service.entities("Orders")
        let sent = try transport.sent.map { try #require($0["traceparent"].flatMap { TraceContext(traceparent: $0) }) }
        #expect(sent[0].traceID == context.traceID && sent[1].traceID == context.traceID)
        #expect(sent[0].parentID != sent[1].parentID && sent[0].parentID != context.parentID)
        #expect(sent[2].traceID != context.traceID)
        #expect(transport.sent.allSatisfy { $0["X-CorrelationID"] == "action-1" })
        let plain = WireScript(metadata: ShopMetadata.v4()) { _, _ in .json(Self.orders) }
        _ = try await plain.service().entities("Orders")
        #expect(plain.sent[0]["traceparent"] == nil && plain.sent[0]["X-CorrelationID"] == nil)
    }

    @Test func `with a tracer each request is a span, and carries the fields of the tracer`() async throws {
        let tracer = InMemoryTracer()
        let transport = WireScript(metadata: ShopMetadata.v4()) { _, _ in .json(Self.orders) }
        var configuration = ODataClient.Configuration()
        configuration.diagnostics.propagatesTraces = true
        configuration.diagnostics.tracer = tracer
        _ = try await transport.service(configuration).entities(
            ResourceQuery("Orders").filter(.property("City") == "Graz"))
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["OData GET", "OData GET"])
        #expect(spans.last?.kind == .client)
        #expect(spans.last?.attributes["url.path"]?.toSpanAttribute() == .string("/Orders"))
        #expect(tracer.performedContextInjections.count == 2)
        #expect(transport.sent[0]["traceparent"] == nil, "the tracer has its own fields")
    }

    @Test("Request, log lines, metrics, span, response and error have the same correlation id")
    func correlation() async throws {
        let lines = Lines()
        let all = Mutex<[RequestTimings]>([])
        let tracer = InMemoryTracer()
        let numbers = Mutex(0)
        var configuration = ODataClient.Configuration()
        configuration.diagnostics.logger = Logger(label: "test") { _ in lines }
        configuration.diagnostics.traceLevel = .high
        configuration.diagnostics.propagatesTraces = true
        configuration.diagnostics.tracer = tracer
        configuration.diagnostics.onTimings = { timings in all.withLock { $0.append(timings) } }
        configuration.diagnostics.correlationID = {
            numbers.withLock { number in
                number += 1
                return "made-\(number)"
            }
        }
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            sent.message.method == .get ? .json(Self.orders) : .refusal(404)
        }
        let client = try transport.client(configuration)
        let order = try await ShopMetadata.entity(["ID": 1], of: client)
        let before = (lines.text, transport.sent.count)
        let response = try await client.execute(ODataRequest(.read, ODataURL(set: "Orders")))
        let id = try #require(response.correlationID)
        #expect(transport.sent.dropFirst(before.1).allSatisfy { $0["X-CorrelationID"] == id })
        let error = await #expect(throws: ODataError.self) { try await DataService(client).create(order, in: "Orders") }
        let other = try #require(error?.correlationID)
        #expect(other != id)
        #expect(ErrorDiagnosis(try #require(error)).correlationID == other)
        #expect(transport.sent.last?["X-CorrelationID"] == other)
        let told = lines.text.dropFirst(before.0.count).split(separator: "\n")
        #expect(told.allSatisfy { $0.contains("correlation-id") && ($0.contains(id) || $0.contains(other)) }, "\(told)")
        #expect(all.withLock { $0.suffix(2).map(\.correlationID) } == [id, other])
        let spans = tracer.finishedSpans.suffix(2)
        #expect(spans.map { $0.attributes["correlation.id"]?.toSpanAttribute() } == [.string(id), .string(other)])
        try await Diagnostics.$currentCorrelationID.withValue("checkout") {
            for _ in 0..<2 {
                let grouped = try await client.execute(ODataRequest(.read, ODataURL(set: "Orders")))
                #expect(grouped.correlationID == "checkout")
            }
        }
    }

    @Test("A span has the status of the response, and 4xx, 5xx and lost connections mark it as failed")
    func spanStatus() async throws {
        let tracer = InMemoryTracer()
        var configuration = ODataClient.Configuration()
        configuration.diagnostics.propagatesTraces = true
        configuration.diagnostics.tracer = tracer
        for status in [200, 404, 503] {
            let transport = WireScript(metadata: ShopMetadata.v4()) { _, _ in
                status == 200 ? .json(Self.orders) : .refusal(status)
            }
            _ = try? await transport.service(configuration).entities("Orders")
            let span = try #require(tracer.finishedSpans.last)
            #expect(span.attributes["http.response.status_code"]?.toSpanAttribute() == .int64(Int64(status)))
            #expect((span.status?.code == .error) == (status != 200), "\(status)")
        }
        let lost = WireScript(metadata: ShopMetadata.v4()) { _, _ in
            throw TransportError.untrustedCertificate(host: "h", reason: "r")
        }
        _ = try? await lost.service(configuration).entities("Orders")
        let span = try #require(tracer.finishedSpans.last)
        #expect(span.status?.code == .error)
        #expect(span.attributes["error.type"]?.toSpanAttribute() == .string("transport.untrusted-certificate"))
    }

    @Test func `requests, their time and their bytes are counted`() async throws {
        let metrics = TestMetrics()
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            sent.message.method == .get ? .json(Self.orders) : .refusal(404)
        }
        var configuration = ODataClient.Configuration()
        configuration.diagnostics.metricsPrefix = "shop"
        configuration.diagnostics.metricsFactory = metrics
        let client = try transport.client(configuration)
        let service = DataService(client)
        _ = try await service.entities("Orders")
        _ = try await service.entities("Orders")
        let order = try await ShopMetadata.entity(["ID": 1], of: client)
        _ = try? await service.create(order, in: "Orders")
        let reads = try metrics.expectCounter("shop_requests_total", [("method", "GET"), ("status", "200")])
        #expect(reads.totalValue == 3, "with the metadata")
        let refused = try metrics.expectCounter("shop_requests_total", [("method", "POST"), ("status", "404")])
        #expect(refused.totalValue == 1)
        let times = try metrics.expectTimer(
            "shop_request_duration_seconds", [("method", "GET"), ("status", "200")])
        #expect(times.values.count == 3)
        #expect(try metrics.expectCounter("shop_sent_bytes_total").totalValue == 8)
        #expect(try metrics.expectCounter("shop_received_bytes_total").totalValue > 200)
    }

    @Test(arguments: [
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", true),
        ("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-future", true),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-extra", false),
        ("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false),
        ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", false),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false),
        ("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", false),
        ("00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01", false), ("", false),
    ])
    func `traceparent is read as the standard says`(text: String, isValid: Bool) {
        let context = TraceContext(traceparent: text)
        #expect((context != nil) == isValid)
        if isValid, text.hasPrefix("00") { #expect(context?.traceparent == text) }
    }
}

/// A transport that delays each response.
private struct SlowTransport: HTTPTransport {
    /// A time greater than a busy machine needs to read a document of a few lines.
    static let delay: Duration = .seconds(1)

    let base: any HTTPTransport

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        options.report?(.requestSent(.now))
        try await Task.sleep(for: Self.delay)
        var silent = options
        silent.report = nil
        let (response, stream) = try await base.send(request, body: body, options: silent)
        options.report?(.firstByte(.now))
        return (
            response,
            ByteStream(length: stream.length) {
                let chunk = try await stream.next()
                if chunk == nil { options.report?(.lastByte(.now)) }
                return chunk
            }
        )
    }
}
