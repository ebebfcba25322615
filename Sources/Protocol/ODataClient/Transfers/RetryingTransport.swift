import ErrorCodes
import HTTPTypes
import ODataHTTP
import ODataService

/// Sends a request again after temporary failures, according to a ``RetryPolicy``.
public struct RetryingTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let policy: RetryPolicy

    /// Creates a transport that retries the requests of another one.
    public init(_ base: any HTTPTransport, policy: RetryPolicy = RetryPolicy()) {
        self.base = base
        self.policy = policy
    }

    /// Sends a request, and again if the policy allows it. The caller receives the last failure.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let mayRepeat = body?.isRepeatable ?? true
        var attempt = 0
        // The error of an attempt that may have taken effect. A later attempt that was certainly not sent does
        // not change that.
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
                // A short response is read to its end, so that the connection can be reused.
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
    /// Whether the service states that it has not processed the request.
    fileprivate var isNotLetIn: Bool { status.code == 429 || status.code == 503 && headerFields[.retryAfter] != nil }
}

/// The reason for a repeat that the status of a response allows.
///
/// ```swift
/// do {
///     try await store.sync()
/// } catch let error as ServiceUnavailable {
///     show("The service answers \(error.status).")
/// }
/// ```
public struct ServiceUnavailable: Error, Hashable, Sendable, CustomStringConvertible {
    /// The status of the response, such as 503.
    public let status: Int

    /// A sentence with the status.
    public var description: String { "The service is not available for the moment (\(status))." }
}

extension ServiceUnavailable: CodedError {
    /// `service.unavailable`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "service.unavailable") }
    /// It passes.
    public var failureKind: FailureKind { .transient }
}
