import ForeignPrograms
import Foundation
import HTTPTypes
import ODataServer
import ODataService
import Synchronization
import Testing

/// Disconnected callers, slow peers, and a server that is told to stop.
@Suite struct RequestLimitTests {
    /// Records the events of a request.
    private final class Trace: Sendable {
        private let state = Mutex<[String]>([])

        func note(_ event: String) { state.withLock { $0.append(event) } }
        var events: [String] { state.withLock { $0 } }

        /// Waits for an event and returns whether it occurred in time.
        func wait(for event: String, atMost limit: Duration) async throws -> Bool {
            let end = ContinuousClock.now + limit
            while !events.contains(event) {
                guard .now < end else { return false }
                try await Task.sleep(for: .milliseconds(10))
            }
            return true
        }
    }

    /// Returns a handler that works until it is cancelled: in sleeping tasks, and like statements that check
    /// the budget.
    private static func working(_ trace: Trace) -> ODataServer.IdentifiedHandler {
        { request, _, _ in
            guard request.path == "/slow" || request.path == "/statement" else {
                return (HTTPResponse(status: .ok), ByteStream(Array("quick".utf8)))
            }
            trace.note("begun")
            let budget = RequestBudget.current
            if request.path == "/slow" {
                do { try await Task.sleep(for: .seconds(120)) } catch { trace.note("ended") }
            } else {
                while budget?.isCancelled == false { try? await Task.sleep(for: .milliseconds(5)) }
                trace.note("ended")
            }
            return (HTTPResponse(status: .ok), ByteStream(Array("late".utf8)))
        }
    }

    @Test(arguments: ["/slow", "/statement"])
    func `a request of a disconnected caller ends within a second`(_ path: String) async throws {
        let trace = Trace()
        try await withServer(handler: Self.working(trace)) { server in
            let connection = try RawConnection(port: server.port)
            connection.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
            #expect(try await trace.wait(for: "begun", atMost: .seconds(20)))
            connection.close()
            let start = ContinuousClock.now
            #expect(try await trace.wait(for: "ended", atMost: .seconds(20)))
            #expect(ContinuousClock.now - start < .seconds(10), "half a second, and what a busy machine adds")
        }
    }

    @Test func `a chunk of a response is not waited for when its caller has gone`() async throws {
        let trace = Trace()
        let handler: ODataServer.IdentifiedHandler = { _, _, _ in
            let count = Mutex(0)
            return (
                HTTPResponse(status: .ok),
                ByteStream {
                    guard
                        count.withLock({
                            $0 += 1; return $0
                        }) > 2
                    else { return [UInt8](repeating: 65, count: 70_000) }
                    trace.note("begun")
                    do { try await Task.sleep(for: .seconds(120)) } catch { trace.note("ended") }
                    return nil
                }
            )
        }
        try await withServer(handler: handler) { server in
            let connection = try RawConnection(port: server.port)
            connection.send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
            _ = await connection.read { $0.count > 140_000 }
            #expect(try await trace.wait(for: "begun", atMost: .seconds(20)))
            connection.close()
            #expect(try await trace.wait(for: "ended", atMost: .seconds(20)))
        }
    }

    @Test func `a body that drips is refused with 408, one that comes slowly is taken`() async throws {
        var configuration = ODataServer.Configuration()
        configuration.minimumTransfer = MinimumTransfer(bytes: 1024, period: .seconds(6))
        let handler: ODataServer.IdentifiedHandler = { _, body, _ in
            do {
                let bytes = try await body.collect(limit: 1 << 20)
                return (HTTPResponse(status: .ok), ByteStream(Array("\(bytes.count)".utf8)))
            } catch {
                let error = error as? ODataError
                return (
                    HTTPResponse(status: .init(code: error?.status ?? 500)), ByteStream(Array((error?.code ?? "").utf8))
                )
            }
        }
        try await withServer(configuration, handler: handler) { server in
            let head = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: 20000\r\n\r\n"
            let (dripping, slow) = (try RawConnection(port: server.port), try RawConnection(port: server.port))
            for connection in [dripping, slow] { connection.send(head.utf8) }
            let start = ContinuousClock.now
            async let refused = dripping.readToEnd()
            for _ in 0..<20 {
                dripping.send([65])
                slow.send([UInt8](repeating: 65, count: 1000))
                try await Task.sleep(for: .milliseconds(600))
            }
            let answer = await refused
            #expect(answer.hasPrefix("HTTP/1.1 408") && answer.contains("RequestTimeout"), "\(answer)")
            #expect(ContinuousClock.now - start < .seconds(60))
            #expect(await slow.readToEnd().hasSuffix("20000"))
            dripping.close()
            slow.close()
        }
    }

    @Test func `a server that is told to stop ends within its drain time, despite running requests`() async throws {
        var configuration = ODataServer.Configuration()
        configuration.drainTime = .seconds(2)
        let trace = Trace()
        let server = try await ODataServer(configuration: configuration, handler: Self.working(trace)).start()
        let (working, silent) = (try RawConnection(port: server.port), try RawConnection(port: server.port))
        working.send("GET /slow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
        silent.send("GET /slow HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: ".utf8)
        #expect(try await trace.wait(for: "begun", atMost: .seconds(20)))
        let start = ContinuousClock.now
        await server.stop()
        #expect(ContinuousClock.now - start < .seconds(15), "two seconds, and what a busy machine adds")
        #expect(trace.events == ["begun", "ended"])
        working.close()
        silent.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `a stream that takes longer than every limit of time arrives whole`() async throws {
        // With `OUTPOST_PROOFS=all`, the stream has 2 GB.
        let isLong = ProcessInfo.processInfo.environment["OUTPOST_PROOFS"] == "all"
        let size = isLong ? 2 << 30 : 60 << 20
        let rate = isLong ? 40 << 20 : 1 << 20
        // curl reads in bursts with pauses of seconds between them, which are longer on a busy machine.
        var configuration = ODataServer.Configuration(compresses: false, idleTimeout: .seconds(15))
        configuration.minimumTransfer.period = .seconds(20)
        configuration.requestBudget.statementTime = .milliseconds(500)
        let handler: ODataServer.IdentifiedHandler = { _, _, _ in
            let left = Mutex(size)
            return (
                HTTPResponse(status: .ok),
                ByteStream(length: Int64(size)) {
                    left.withLock { left in
                        guard left > 0 else { return nil }
                        left -= 1 << 16
                        return [UInt8](repeating: 65, count: 1 << 16)
                    }
                }
            )
        }
        try await withServer(configuration, handler: handler) { server in
            let start = ContinuousClock.now
            let outcome = try await Command.run(
                "curl", "--silent", "--limit-rate", "\(rate)", "--output", "/dev/null", "--write-out",
                "%{http_code} %{size_download}", server.url)
            #expect(outcome.output.hasSuffix("200 \(size)"), "\(outcome)")
            #expect(ContinuousClock.now - start > .seconds(10))
        }
    }
}
