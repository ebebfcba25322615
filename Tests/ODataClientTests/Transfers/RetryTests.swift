import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization
import Testing

@testable import ODataClient

@Suite("Repeated requests") struct RetryTests {
    private final class Waits: Sendable {
        private let kept = Mutex<[Duration]>([])
        var all: [Duration] { kept.withLock { $0 } }
        var policy: RetryPolicy {
            RetryPolicy(random: { 1 }, now: { 784_111_777 }, sleep: { time in self.kept.withLock { $0.append(time) } })
        }
    }

    private func attempts(
        _ method: HTTPRequest.Method, isRepeatable: Bool? = nil, body: ByteStream? = nil,
        _ failing: @escaping @Sendable () throws -> (HTTPResponse, ByteStream)
    ) async throws -> (count: Int, waits: [Duration], status: Int?) {
        let wire = ScriptedWire { _, _ in try failing() }
        let waits = Waits()
        let result = try? await RetryingTransport(wire, policy: waits.policy).send(
            request(method), body: body, options: TransferOptions(isRepeatable: isRepeatable))
        return (wire.sent.count, waits.all, result?.0.status.code)
    }

    @Test("A read is tried four times with doubled delays") func reading() async throws {
        let result = try await attempts(.get) { throw TransportError.connectionLost(host: "h", reason: "") }
        #expect(result.count == 4)
        #expect(result.waits == [.milliseconds(250), .milliseconds(500), .seconds(1)])
    }

    @Test(
        "A request with a possible effect is repeated only if the service recognises repeats",
        arguments: [
            TransportError.timedOut(host: "h"), .connectionLost(host: "h", reason: ""),
            .truncated(host: "h", reason: ""),
        ])
    func inDoubt(error: TransportError) async throws {
        for method in [HTTPRequest.Method.post, .put, .patch, .delete] {
            #expect(try await attempts(method) { throw error }.count == 1)
            #expect(try await attempts(method, isRepeatable: true) { throw error }.count == 4)
        }
        #expect(try await attempts(.get, isRepeatable: false) { throw error }.count == 1)
    }

    @Test("A request that was certainly not sent is repeated, also a change") func unsent() async throws {
        let error = TransportError.cannotConnect(host: "h", reason: "")
        #expect(try await attempts(.post, body: ByteStream([1])) { throw error }.count == 4)
    }

    @Test(
        "A request with a possible effect stays unknown if the last try does not reach the service",
        arguments: [true, false])
    func inDoubtBefore(isLost: Bool) async throws {
        let count = Mutex(0)
        let wire = ScriptedWire { _, _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number == 1 else { throw TransportError.cannotConnect(host: "h", reason: "") }
            guard isLost else { return answer(502) }
            throw TransportError.timedOut(host: "h")
        }
        let error = await #expect(throws: TransportError.self) {
            try await RetryingTransport(wire, policy: Waits().policy).send(
                request(.post), body: nil, options: TransferOptions(isRepeatable: true))
        }
        #expect(wire.sent.count == 4)
        #expect(error?.isCertainlyUnsent == false)
    }

    @Test("A body that cannot be repeated is sent once") func unrepeatable() async throws {
        let body = ByteStream(length: nil) { nil }
        let result = try await attempts(.post, body: body) { throw TransportError.cannotConnect(host: "h", reason: "") }
        #expect(result.count == 1)
    }

    @Test(
        "A failure that a repeat cannot fix is not repeated",
        arguments: [
            TransportError.invalidURL("x"), .untrustedCertificate(host: "h", reason: ""),
            .clientCertificateRefused(host: "h", reason: ""), .proxyAuthenticationRequired(proxy: "p"),
        ])
    func hopeless(error: TransportError) async throws {
        #expect(try await attempts(.get) { throw error }.count == 1)
    }

    @Test(
        "Statuses are repeated if the service cannot have acted",
        arguments: [
            (429, nil, 4, 4), (503, "0", 4, 4), (503, nil, 4, 1), (408, nil, 4, 1), (502, nil, 4, 1), (504, nil, 4, 1),
            (500, nil, 1, 1), (501, nil, 1, 1), (401, nil, 1, 1), (412, nil, 1, 1), (200, nil, 1, 1),
        ] as [(Int, String?, Int, Int)])
    func statuses(status: Int, after: String?, reading: Int, changing: Int) async throws {
        let fields: [HTTPField.Name: String] = after.map { [.retryAfter: $0] } ?? [:]
        #expect(try await attempts(.get) { answer(status, fields) }.count == reading)
        let change = try await attempts(.post, body: ByteStream([1])) { answer(status, fields) }
        #expect(change.count == changing)
        #expect(change.status == status)
    }

    @Test(
        "Retry-After is the minimum delay; a delay that is too long ends the retries",
        arguments: [
            ("7", Duration.seconds(7)), ("Sun, 06 Nov 1994 08:49:47 GMT", .seconds(10)),
            ("Sunday, 06-Nov-94 08:49:47 GMT", .seconds(10)), ("Sun, 06 Nov 1994 08:00:00 GMT", .milliseconds(250)),
            ("120", .seconds(120)), ("121", nil), ("99999999999999999999999", nil), ("-1", .milliseconds(250)),
            ("soon", .milliseconds(250)),
        ] as [(String, Duration?)])
    func retryAfter(text: String, expected: Duration?) async throws {
        let result = try await attempts(.get) { answer(429, [.retryAfter: text]) }
        #expect(result.waits.first == expected)
    }

    @Test("Delays are random up to a maximum") func jitter() {
        for number in 1...12 {
            #expect(RetryPolicy(random: { 0 }).delay(before: number) == .zero)
            #expect(RetryPolicy(random: { 1 }).delay(before: number) <= .seconds(20))
        }
        #expect(Set((0..<20).map { _ in RetryPolicy().delay(before: 5) }).count > 1)
    }

    @Test("Cancelling during a delay ends the retries") func cancelled() async throws {
        let wire = ScriptedWire { _, _ in answer(429, [.retryAfter: "100"]) }
        let task = Task { try await RetryingTransport(wire).send(request(), body: nil) }
        while wire.sent.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        #expect(wire.sent.count == 1)
    }
}
