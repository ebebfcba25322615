import Foundation
import HTTPTypes
import ODataService
import Synchronization
import Testing

@testable import ODataServer

/// The limits for one address do not affect other addresses.
@Suite struct AddressLimitTests {
    private static let ok: ODataServer.IdentifiedHandler = { _, _, _ in
        (HTTPResponse(status: .ok), ByteStream([65]))
    }

    private func limiter(_ limits: AddressLimits = AddressLimits()) -> (AddressLimiter, Clock) {
        let clock = Clock()
        return (AddressLimiter(limits) { clock.now }, clock)
    }

    private final class Clock: Sendable {
        private let start = ContinuousClock.now
        private let passed = Mutex(Duration.zero)
        var now: ContinuousClock.Instant { start + passed.withLock { $0 } }
        func advance(_ time: Duration) { passed.withLock { $0 += time } }
    }

    @Test("request 601 within a minute is refused until the minute is over")
    func perMinute() throws {
        let (limiter, clock) = limiter()
        #expect(AddressLimits().requestsPerMinute == 600 && AddressLimits().requestsAtOnce == 64)
        for _ in 0..<300 { _ = try limiter.enter("a", isCounted: true).get() }
        clock.advance(.seconds(30))
        for _ in 0..<300 { _ = try limiter.enter("a", isCounted: true).get() }
        #expect(throws: AddressLimiter.LimitExceeded.perMinute(600, retryAfter: 30)) {
            try limiter.enter("a", isCounted: true).get()
        }
        _ = try limiter.enter("a", isCounted: false).get()
        _ = try limiter.enter("b", isCounted: true).get()
        clock.advance(.seconds(29))
        #expect(throws: AddressLimiter.LimitExceeded.self) { try limiter.enter("a", isCounted: true).get() }
        clock.advance(.seconds(1))
        for _ in 0..<300 { _ = try limiter.enter("a", isCounted: true).get() }
        #expect(throws: AddressLimiter.LimitExceeded.self) { try limiter.enter("a", isCounted: true).get() }
        clock.advance(.seconds(3600))
        for _ in 0..<600 { _ = try limiter.enter("a", isCounted: true).get() }
    }

    @Test("concurrent request 65 is refused until another response ends")
    func atOnce() throws {
        let (limiter, _) = limiter()
        var places = try (0..<64).map { _ in try limiter.enter("a", isCounted: false).get() }
        #expect(throws: AddressLimiter.LimitExceeded.atOnce(64)) { try limiter.enter("a", isCounted: false).get() }
        _ = try limiter.enter("b", isCounted: false).get()
        places.removeLast()
        _ = try limiter.enter("a", isCounted: false).get()
    }

    @Test("a flood of addresses shares one count")
    func manyAddresses() throws {
        let (limiter, clock) = limiter(AddressLimits(requestsAtOnce: nil, requestsPerMinute: 1))
        for number in 0..<AddressLimiter.maxAddresses { _ = try limiter.enter("\(number)", isCounted: true).get() }
        _ = try limiter.enter("one more", isCounted: true).get()
        #expect(throws: AddressLimiter.LimitExceeded.self) { try limiter.enter("another", isCounted: true).get() }
        clock.advance(.seconds(61))
        _ = try limiter.enter("another", isCounted: true).get()
    }

    @Test("excess requests get 429 with a delay, and the health is still reported")
    func refusal() async throws {
        var configuration = ODataServer.Configuration(health: HealthEndpoint())
        configuration.addressLimits = AddressLimits(requestsPerMinute: 2)
        try await withServer(configuration, handler: Self.ok) { (server: RunningServer) async throws in
            for _ in 0..<2 { #expect(try await server.send("/").response.status == .ok) }
            // Requests for further pages are not counted.
            #expect(try await server.send("/Items?$skiptoken=1").response.status == .ok)
            let refused = try await server.send("/")
            #expect(refused.response.status == .tooManyRequests)
            #expect(String(decoding: refused.bytes, as: UTF8.self).contains("TooManyRequests"))
            let seconds = try #require(refused.response.headerFields[.retryAfter].flatMap { Int($0) })
            #expect((1...60).contains(seconds))
            #expect(try await server.send("/health").response.status == .ok)
        }
    }

    @Test("a refused next page counts, so that forged tokens do not avoid the limit")
    func madeUpTokens() async throws {
        var configuration = ODataServer.Configuration()
        configuration.addressLimits = AddressLimits(requestsPerMinute: 3)
        let bad: ODataServer.IdentifiedHandler = { _, _, _ in (HTTPResponse(status: .badRequest), ByteStream([])) }
        try await withServer(configuration, handler: bad) { (server: RunningServer) async throws in
            for _ in 0..<3 { #expect(try await server.send("/Items?$skiptoken=x").response.status == .badRequest) }
            #expect(try await server.send("/").response.status == .tooManyRequests)
        }
    }

    @Test("a streamed response occupies its place until it was read")
    func streamed() async throws {
        var configuration = ODataServer.Configuration()
        configuration.addressLimits = AddressLimits(requestsAtOnce: 2)
        let endless: ODataServer.IdentifiedHandler = { request, _, _ in
            guard request.path == "/endless" else { return (HTTPResponse(status: .ok), ByteStream([65])) }
            return (HTTPResponse(status: .ok), ByteStream { [UInt8](repeating: 65, count: 65_536) })
        }
        try await withServer(configuration, handler: endless) { (server: RunningServer) async throws in
            let readers = try (0..<2).map { _ in try RawConnection(port: server.port) }
            for reader in readers {
                reader.send("GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
                #expect(await reader.readToEnd(untilHead: true).contains("200"))
            }
            #expect(try await server.send("/").response.status == .tooManyRequests)
            for reader in readers { reader.close() }
            for _ in 0..<100 where try await server.send("/").response.status != .ok {
                try await Task.sleep(for: .milliseconds(100))
            }
            #expect(try await server.send("/").response.status == .ok)
        }
    }

    @Test("clients behind a trusted proxy are counted separately")
    func proxies() async throws {
        var configuration = ODataServer.Configuration()
        configuration.addressLimits = AddressLimits(requestsPerMinute: 1)
        configuration.trustsForwarded = true
        let forwarded = try #require(HTTPField.Name("X-Forwarded-For"))
        let standard = try #require(HTTPField.Name("Forwarded"))
        try await withServer(configuration, handler: Self.ok) { (server: RunningServer) async throws in
            for (fields, status) in [
                ([forwarded: "192.0.2.1"], 200), ([forwarded: "192.0.2.1"], 429), ([forwarded: "192.0.2.2"], 200),
                // A client may put any text before the entry of the proxy.
                ([forwarded: "192.0.2.9, 192.0.2.2"], 429), ([standard: "for=\"[2001:db8::1]:80\""], 200),
                ([standard: "for=\"[2001:db8::2]\""], 429),
            ] as [(HTTPFields, Int)] {
                #expect(try await server.send("/", fields).response.status.code == status, "\(fields)")
            }
        }
    }
}
