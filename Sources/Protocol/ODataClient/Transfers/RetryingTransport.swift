import ErrorCodes
import HTTPTypes
import ODataHTTP
import ODataService

/// Sends a request again after failures that may pass, as a ``RetryPolicy`` says.
public struct RetryingTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let policy: RetryPolicy

    /// Wraps a transport.
    public init(_ base: any HTTPTransport, policy: RetryPolicy = RetryPolicy()) {
        self.base = base
        self.policy = policy
    }

    /// Sends a request, and again where the policy allows it. The last failure is the caller's.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let mayRepeat = body?.isRepeatable ?? true
        var attempt = 0
        // An attempt that may have acted: that a later one certainly did not, does not undo it.
        var doubt: TransportError?
        while true {
            attempt += 1
            let isLast = attempt >= policy.maxAttempts || !mayRepeat
            let failure: any Error
            let least: Duration
            do {
                let upload = body.map { $0.fromStart() ?? $0 }
                let (response, stream) = try await base.send(request, body: upload, options: options)
                guard !isLast,
                    let wish = policy.leastDelay(after: response, to: request, isRepeatable: options.isRepeatable)
                else { return (response, stream) }
                // A short answer is read to its end so that its connection can be used again.
                _ = try? await stream.collect(limit: AuthenticatingTransport.pageSize)
                failure = ServiceUnavailable(status: response.status.code)
                least = wish
                if response.isNotLetIn {
                    options.departure?.comeBack()
                } else {
                    doubt = .connectionLost(host: request.authority ?? "", reason: "\(failure)")
                }
            } catch {
                guard !isLast, !Task.isCancelled,
                    policy.allowsRetry(after: error, of: request, isRepeatable: options.isRepeatable)
                else {
                    if let doubt, let last = error as? TransportError, last.isCertainlyUnsent { throw doubt }
                    throw error
                }
                if let lost = error as? TransportError, !lost.isCertainlyUnsent { doubt = lost }
                failure = error
                least = .zero
            }
            let delay = max(least, policy.delay(before: attempt))
            options.report?(.interrupted(failure, retryAfter: delay))
            try await policy.sleep(delay)
        }
    }
}

extension HTTPResponse {
    /// Whether the service says that it did not act, and when to come again.
    fileprivate var isNotLetIn: Bool { status.code == 429 || status.code == 503 && headerFields[.retryAfter] != nil }
}

/// The reason of an interruption that the service asked for.
public struct ServiceUnavailable: Error, Hashable, Sendable, CustomStringConvertible {
    /// The status of its answer, such as 503.
    public let status: Int

    /// The status in words.
    public var description: String { "The service is not available for the moment (\(status))." }
}

extension ServiceUnavailable: CodedError {
    /// `service.unavailable`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "service.unavailable") }
    /// It passes.
    public var failureKind: FailureKind { .transient }
}
