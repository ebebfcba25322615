import Foundation
import HTTPTypes
import ODataHTTP
import Synchronization

#if !canImport(Darwin)
    import FoundationNetworking
#endif

/// A running request: buffers received bytes until they are read, and suspends the task if there are too many.
///
/// FoundationNetworking disconnects a suspended task and repeats the request when it is resumed, so the body
/// would start again. There, tasks are never suspended, and unread bytes stay in memory.
final class Transfer: Sendable {
    /// The number of buffered bytes from which the task is suspended.
    static let highWater = 1 << 20
    #if canImport(Darwin)
        private static let canSuspend = true
    #else
        private static let canSuspend = false
    #endif

    private struct State {
        var head: Result<HTTPResponse, any Error>?
        var headWaiter: CheckedContinuation<HTTPResponse, any Error>?
        var chunks: [[UInt8]] = []
        var waiting = 0
        var isSuspended = false
        var end: Result<Void, any Error>?
        var chunkWaiter: CheckedContinuation<[UInt8]?, any Error>?
    }

    private let state = Mutex(State())
    private let task: URLSessionTask
    private let host: String
    let options: TransferOptions
    /// The reason why the server's certificate was refused. The error of the system contains less detail.
    let refusal = Mutex<String?>(nil)

    init(task: URLSessionTask, host: String, options: TransferOptions) {
        self.task = task
        self.host = host
        self.options = options
    }

    func head() async throws -> HTTPResponse {
        try await withCheckedThrowingContinuation { continuation in
            let ready = state.withLock { state -> Result<HTTPResponse, any Error>? in
                if state.head == nil { state.headWaiter = continuation }
                return state.head
            }
            if let ready { continuation.resume(with: ready) }
        }
    }

    /// Waits for the next part of the body; returns `nil` at its end.
    func nextChunk() async throws -> [UInt8]? {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<[UInt8]?, any Error>) in
            let ready = state.withLock { state -> Result<[UInt8]?, any Error>? in
                if !state.chunks.isEmpty {
                    let all = state.chunks.count == 1 ? state.chunks[0] : Array(state.chunks.joined())
                    state.chunks = []
                    state.waiting = 0
                    if state.isSuspended {
                        state.isSuspended = false
                        task.resume()
                    }
                    return .success(all)
                }
                if let end = state.end { return end.map { nil } }
                guard state.chunkWaiter == nil else {
                    return .failure(TransportError.truncated(host: host, reason: "two readers of one body"))
                }
                state.chunkWaiter = continuation
                return nil
            }
            if let ready { continuation.resume(with: ready) }
        }
    }

    func receive(head response: URLResponse) {
        guard let response = response as? HTTPURLResponse else {
            return finish(TransportError.malformed(host: host, reason: "it is not HTTP"))
        }
        var head = HTTPResponse(status: .init(code: response.statusCode))
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String, let field = HTTPField.Name(name) else {
                continue
            }
            head.headerFields[field] = value
        }
        let result = head
        let waiter = state.withLock { state in
            state.head = .success(result)
            defer { state.headWaiter = nil }
            return state.headWaiter
        }
        waiter?.resume(returning: result)
    }

    func receive(chunk: [UInt8]) {
        guard !chunk.isEmpty else { return }
        let waiter = state.withLock { state -> CheckedContinuation<[UInt8]?, any Error>? in
            if let waiter = state.chunkWaiter {
                state.chunkWaiter = nil
                return waiter
            }
            state.chunks.append(chunk)
            state.waiting += chunk.count
            if Self.canSuspend, state.waiting > Self.highWater, !state.isSuspended {
                // Suspending and resuming happen under the lock; in the wrong order, the task would stay
                // suspended.
                state.isSuspended = true
                task.suspend()
            }
            return nil
        }
        waiter?.resume(returning: chunk)
    }

    func finish(_ error: (any Error)?) {
        let mapped = error.map { map($0) }
        let end: Result<Void, any Error> = mapped.map { .failure($0) } ?? .success(())
        let missingHead: any Error = mapped ?? TransportError.connectionLost(host: host, reason: "no answer")
        let waiters = state.withLock { state in
            state.end = end
            if state.head == nil { state.head = .failure(missingHead) }
            defer {
                state.headWaiter = nil
                state.chunkWaiter = nil
            }
            return (state.headWaiter, state.chunkWaiter)
        }
        waiters.0?.resume(throwing: missingHead)
        waiters.1?.resume(with: end.map { nil })
    }

    private func map(_ error: any Error) -> any Error {
        guard let error = error as? URLError else { return error }
        let began = state.withLock { $0.head != nil }
        if let refusal = refusal.withLock({ $0 }) {
            return TransportError.untrustedCertificate(host: host, reason: refusal)
        }
        let reason = error.localizedDescription
        switch error.code {
        case .cancelled: return CancellationError()
        // The URL was checked before, so these errors concern the response.
        case .badURL, .unsupportedURL:
            return TransportError.malformed(host: host, reason: "it is not HTTP (\(reason))")
        case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet,
            .secureConnectionFailed, .internationalRoamingOff, .dataNotAllowed:
            return TransportError.cannotConnect(host: host, reason: reason)
        case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
            .serverCertificateHasUnknownRoot:
            return TransportError.untrustedCertificate(host: host, reason: reason)
        case .clientCertificateRejected, .clientCertificateRequired:
            return TransportError.clientCertificateRefused(host: host, reason: reason)
        case .timedOut: return TransportError.timedOut(host: host)
        case _ where began: return TransportError.truncated(host: host, reason: reason)
        default: return TransportError.connectionLost(host: host, reason: reason)
        }
    }
}
