import HTTPTypes
import ODataClient
import ODataHTTP
import ODataService
import Synchronization
import Testing

@Suite("A slow body")
struct MinimumRateTests {
    /// Returns a service that sends its body one byte at a time, with a pause before each.
    private func dripping(every pause: Duration, count: Int = .max) -> ScriptedWire {
        ScriptedWire { _, _ in
            let left = Mutex(count)
            return (
                HTTPResponse(status: .ok),
                ByteStream {
                    try await Task.sleep(for: pause)
                    let isMore = left.withLock { left in
                        left -= 1
                        return left >= 0
                    }
                    return isMore ? [0x20] : nil
                }
            )
        }
    }

    private func session(_ wire: ScriptedWire, _ rate: MinimumRate?) throws -> HTTPSession {
        try HTTPSession(wire, serviceRoot: "https://service.test/", configuration: .init(minimumRate: rate))
    }

    @Test("ends with an error that names the received and the required bytes")
    func drips() async throws {
        let rate = MinimumRate(bytes: 1024, within: .milliseconds(200))
        let session = try session(dripping(every: .milliseconds(5)), rate)
        let (_, body) = try await session.send(request(), body: nil)
        let error = await #expect(throws: TransportError.self) { try await body.collect(limit: 1 << 20) }
        guard case .tooSlow("service.test", let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("1024"))
    }

    @Test("is read to its end if it comes fast enough, is short, or has no limit")
    func comes() async throws {
        for (rate, count) in [(MinimumRate(bytes: 1, within: .milliseconds(50)), 40), (.standard, 3), (nil, 40)] {
            let session = try session(dripping(every: .milliseconds(5), count: count), rate)
            let (_, body) = try await session.send(request(), body: nil)
            #expect(try await body.collect(limit: 1 << 20).count == count)
        }
    }

    @Test("is not measured while the reader is busy")
    func reader() async throws {
        let wire = ScriptedWire { _, _ in answer(200, [:], String(repeating: "x", count: 100)) }
        let session = try session(wire, MinimumRate(bytes: 1024, within: .milliseconds(50)))
        let (_, body) = try await session.send(request(), body: nil)
        try await Task.sleep(for: .milliseconds(120))
        #expect(try await body.collect(limit: 1 << 20).count == 100)
    }
}
