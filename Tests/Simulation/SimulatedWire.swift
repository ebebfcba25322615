import Foundation
import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// A message that waits at the wire until the simulation decides about it.
struct Message: Sendable {
    let request: HTTPRequest
    let body: [UInt8]
    /// The requests in the message.
    let parts: MessageParts
    /// Resumes the client.
    let resume: @Sendable (Result<Answer, any Error>) -> Void

    init(request: HTTPRequest, body: [UInt8], resume: @escaping @Sendable (Result<Answer, any Error>) -> Void) {
        self.request = request
        self.body = body
        self.resume = resume
        parts = MessageParts(request, body)
    }

    /// The message as a line of the trace.
    var text: String { parts.text }
}

/// A response on the wire.
struct Answer: Sendable {
    var response: HTTPResponse
    var body: [UInt8]
    /// Whether the connection ends within the body.
    var isCut = false
}

/// The state at which a client stops.
enum Halt: Sendable {
    /// The client waits for the response to a message.
    case message(Message)
    /// The client's action is complete.
    case done
}

/// A transport between client and service that stops every message.
final class SimulatedWire: HTTPTransport {
    private let halts: AsyncStream<Halt>.Continuation
    private let isDead = Mutex(false)

    init(_ halts: AsyncStream<Halt>.Continuation) {
        self.halts = halts
    }

    /// Ends all traffic of a client after the end of its process.
    func die() { isDead.withLock { $0 = true } }

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        var bytes: [UInt8] = []
        while let chunk = try await body?.next() { bytes += chunk }
        let sent = bytes
        guard !isDead.withLock({ $0 }) else { throw TransportError.cannotConnect(host: "service", reason: "dead") }
        let answer = try await withCheckedThrowingContinuation { continuation in
            halts.yield(.message(Message(request: request, body: sent) { continuation.resume(with: $0) }))
        }
        guard answer.isCut else { return (answer.response, ByteStream(answer.body)) }
        let rest = Mutex<[UInt8]?>(Array(answer.body.prefix(answer.body.count / 2)))
        return (
            answer.response,
            ByteStream {
                if let first = rest.withLock({ rest in
                    defer { rest = nil }
                    return rest
                }) {
                    return first
                }
                throw TransportError.truncated(host: "service", reason: "the wire was cut")
            }
        )
    }
}
