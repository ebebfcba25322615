import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// Observes the connection to a service by the outcome of requests and the findings of a probe.
///
/// An obstacle that the probe finds (flight mode, no coverage, low storage) counts until the probe reports
/// another state. Otherwise the last request counts, or a later loss of the network that the probe has noticed.
/// Roaming is reported only while requests succeed.
///
/// ```swift
/// let monitor = ConnectionMonitor(probe: NetworkInterfaceProbe())
/// Task { for await state in monitor.states { show(state == .connected) } }
/// ```
public final class ConnectionMonitor: Sendable {
    fileprivate struct State {
        var traffic = ConnectionState.disconnected
        var finding: ConnectionFinding?
        var last = ConnectionState.disconnected
        var listeners: [UInt64: AsyncStream<ConnectionState>.Continuation] = [:]
        var lastListener: UInt64 = 0
    }

    private let box: Box
    private let watching: Task<Void, Never>?

    private final class Box: Sendable {
        let state = Mutex(State())

        func change(_ change: (inout State) -> Void) {
            state.withLock { state in
                change(&state)
                let now = state.current
                guard now != state.last else { return }
                state.last = now
                // Yields while holding the lock, so that every listener receives changes in order.
                for listener in state.listeners.values { listener.yield(now) }
            }
        }
    }

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - probe: Observes the device; `nil` for none.
    ///   - bandwidth: Receives whether the network is metered, as found by the probe.
    public init(probe: (any ConnectionProbe)? = nil, bandwidth: Bandwidth? = nil) {
        let box = Box()
        self.box = box
        watching = probe.map { probe in
            Task {
                for await finding in probe.findings() {
                    bandwidth?.isExpensive = finding.isExpensive
                    box.change { state in
                        state.finding = finding
                        if finding.state == .disconnected { state.traffic = .disconnected }
                    }
                }
            }
        }
    }

    deinit {
        watching?.cancel()
        for listener in box.state.withLock({ $0.listeners.values }) { listener.finish() }
    }

    /// The current state of the connection.
    public var state: ConnectionState { box.state.withLock { $0.current } }

    /// The current state of the connection, followed by each change.
    public var states: AsyncStream<ConnectionState> {
        let (stream, continuation) = AsyncStream.makeStream(of: ConnectionState.self)
        box.state.withLock { state in
            state.lastListener += 1
            let number = state.lastListener
            state.listeners[number] = continuation
            continuation.yield(state.current)
            continuation.onTermination = { [box] _ in
                box.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
            }
        }
        return stream
    }

    /// Records that the service has answered.
    public func noteAnswer() { box.change { $0.traffic = .connected } }

    /// Records that a request did not reach the service.
    public func noteFailure() { box.change { $0.traffic = .disconnected } }

    /// Records that a request did not reach the service and is going to be retried.
    public func noteWaiting() { box.change { $0.traffic = .waitingToConnect } }
}

extension ConnectionMonitor.State {
    fileprivate var current: ConnectionState {
        switch finding?.state {
        case nil, .connected?, .waitingToConnect?, .disconnected?: traffic
        case .roaming?: traffic == .connected ? .roaming : traffic
        case let state?: state
        }
    }
}

/// Reports the outcome of requests to a ``ConnectionMonitor``. Place it below retries, so that it sees each
/// attempt.
public struct MonitoredTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let monitor: ConnectionMonitor

    /// Creates a transport that reports the outcome of another one.
    public init(_ base: any HTTPTransport, monitor: ConnectionMonitor) {
        self.base = base
        self.monitor = monitor
    }

    /// Sends a request and reports its outcome to the monitor.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        do {
            let answer = try await base.send(request, body: body, options: options)
            monitor.noteAnswer()
            return answer
        } catch let error as TransportError {
            switch error {
            case .cannotConnect, .timedOut, .connectionLost, .truncated, .tooSlow: monitor.noteFailure()
            case .invalidURL, .untrustedCertificate, .clientCertificateRefused, .proxyAuthenticationRequired,
                .malformed,
                .tooLarge, .plainHTTP, .foreignLink, .insecureLink, .unsupportedOption:
                break
            }
            throw error
        }
    }
}
