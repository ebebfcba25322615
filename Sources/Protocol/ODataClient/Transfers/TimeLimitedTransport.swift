import HTTPTypes
import ODataHTTP
import ODataService

/// Limits the duration of an exchange, from its start to the last byte of the response.
///
/// Retries, redirects and authentication count towards the limit; waiting in a queue does not.
public struct TimeLimitedTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let limit: Duration?

    /// Wraps a transport.
    ///
    /// - Parameter limit: The limit for requests whose options set none; `nil` for no limit.
    public init(_ base: any HTTPTransport, limit: Duration?) {
        self.base = base
        self.limit = limit
    }

    /// Sends a request within the limit.
    ///
    /// - Throws: `TransportError.timedOut`, also from the stream of the body; the exchange is then cancelled.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        guard let limit = options.wholeTimeout ?? limit else {
            return try await base.send(request, body: body, options: options)
        }
        let deadline = Deadline(at: .now + limit, host: request.authority ?? "")
        let (response, stream) = try await deadline.within {
            try await base.send(request, body: body, options: options)
        }
        return (response, ByteStream(length: stream.length) { try await deadline.within { try await stream.next() } })
    }

    private enum Outcome<Value: Sendable>: Sendable {
        case done(Value)
        case late
    }

    private struct Deadline: Sendable {
        let at: ContinuousClock.Instant
        let host: String

        func within<Value: Sendable>(
            _ work: @escaping @Sendable () async throws -> Value
        ) async throws -> Value {
            try await withThrowingTaskGroup(of: Outcome<Value>.self) { group in
                group.addTask { .done(try await work()) }
                group.addTask {
                    try await Task.sleep(until: at, clock: .continuous)
                    return .late
                }
                defer { group.cancelAll() }
                guard case .done(let value)? = try await group.next() else {
                    throw TransportError.timedOut(host: host)
                }
                return value
            }
        }
    }
}
