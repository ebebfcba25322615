import Foundation
import HTTPTypes
import ODataHTTP
import ODataServer
import ODataService
import ODataTransportNIO
import Synchronization

/// A stand-in for an OpenTelemetry collector on a socket of this machine.
final class Collector: Sendable {
    struct Received: Sendable {
        var path: String
        var fields: HTTPFields
        var bytes: [UInt8]

        var text: String { String(decoding: bytes, as: UTF8.self) }
        /// The JSON as nested dictionaries and arrays.
        var json: Any? { try? JSONSerialization.jsonObject(with: Data(bytes)) }

        /// Returns the value at a path of names and indices, such as `resourceSpans.0.scopeSpans`.
        func value(_ path: String) -> Any? {
            path.split(separator: ".").reduce(json) { (value: Any?, part: Substring) -> Any? in
                if let index = Int(part) {
                    let array = value as? [Any]
                    return array.flatMap { $0.indices.contains(index) ? $0[index] : nil }
                }
                return (value as? [String: Any])?[String(part)]
            }
        }

        /// The spans of a request for traces.
        var spans: [[String: Any]] { value("resourceSpans.0.scopeSpans.0.spans") as? [[String: Any]] ?? [] }
        /// The metrics of a request for metrics.
        var metrics: [[String: Any]] { value("resourceMetrics.0.scopeMetrics.0.metrics") as? [[String: Any]] ?? [] }
    }

    /// The answer to a request: a status, `Retry-After` and a text; `nil` to wait until the caller has gone.
    typealias Answer = @Sendable (_ request: Int) -> (status: Int, retryAfter: String?, text: String)?

    private let box: Mailbox
    private let server: RunningServer
    let transport: NIOTransport

    private init(_ server: RunningServer, _ box: Mailbox) throws {
        self.server = server
        self.box = box
        transport = try NIOTransport()
    }

    /// All requests so far.
    var all: [Received] { box.requests.withLock { $0 } }
    var traces: [Received] { all.filter { $0.path == "/v1/traces" } }
    var url: String { "http://127.0.0.1:\(server.port)" }

    static func run<Result>(
        answer: @escaping Answer = { _ in (200, nil, "{}") }, _ body: (Collector) async throws -> Result
    ) async throws -> Result {
        let box = Mailbox()
        let handler: ODataServer.Handler = { request, stream in
            let bytes = (try? await stream.collect(limit: 16 << 20)) ?? []
            let number = box.add(Received(path: request.path ?? "", fields: request.headerFields, bytes: bytes))
            guard let (status, retryAfter, text) = answer(number) else {
                try? await Task.sleep(for: .seconds(60))
                return (HTTPResponse(status: .internalServerError), ByteStream([]))
            }
            var response = HTTPResponse(status: HTTPResponse.Status(code: status))
            response.headerFields[.retryAfter] = retryAfter
            return (response, ByteStream(Array(text.utf8)))
        }
        var configuration = ODataServer.Configuration()
        configuration.drainTime = .seconds(1)
        let server = try await ODataServer(configuration: configuration, handler: handler).start()
        let collector = try Collector(server, box)
        do {
            let result = try await body(collector)
            try await collector.stop()
            return result
        } catch {
            try await collector.stop()
            throw error
        }
    }

    private func stop() async throws {
        try await transport.shutdown()
        await server.stop()
    }

    /// Waits until a condition holds, up to 20 s.
    func wait(until condition: @Sendable (Collector) -> Bool) async throws {
        for _ in 0..<2000 where !condition(self) { try await Task.sleep(for: .milliseconds(10)) }
    }

    private final class Mailbox: Sendable {
        let requests = Mutex<[Received]>([])

        /// Keeps a request and returns its number from 0.
        func add(_ request: Received) -> Int {
            requests.withLock { requests in
                requests.append(request)
                return requests.count - 1
            }
        }
    }
}
