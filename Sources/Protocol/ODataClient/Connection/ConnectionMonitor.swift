import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// Tells how the connection to a service stands, of what requests meet and what a probe finds.
///
/// What a probe finds in the way (flight mode, no coverage, low storage) counts until it says otherwise; else the last
/// request counts, and a loss of the network that the probe has noticed since. Roaming is told only while requests get
/// through.
///
/// ```swift
/// let monitor = ConnectionMonitor(probe: NetworkInterfaceProbe())
/// Task { for await state in monitor.states { banner.isHidden = state == .connected } }
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
                // Under the lock, so that everybody hears of changes in their order.
                for listener in state.listeners.values { listener.yield(now) }
            }
        }
    }

    /// Makes a monitor.
    ///
    /// - Parameters:
    ///   - probe: looks at the device; `nil` for none.
    ///   - bandwidth: learns from the probe whether the network costs by volume.
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

    /// How things stand now.
    public var state: ConnectionState { box.state.withLock { $0.current } }

    /// How things stand, at once and each time they change.
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

    /// Notes that the service has answered.
    public func noteAnswer() { box.change { $0.traffic = .connected } }

    /// Notes that a request did not get through.
    public func noteFailure() { box.change { $0.traffic = .disconnected } }

    /// Notes that a request did not get through and is tried again.
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

/// Tells a ``ConnectionMonitor`` how requests fare. It belongs below retries, each of which it sees.
public struct MonitoredTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let monitor: ConnectionMonitor

    /// Wraps a transport.
    public init(_ base: any HTTPTransport, monitor: ConnectionMonitor) {
        self.base = base
        self.monitor = monitor
    }

    /// Sends a request and notes what came of it.
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
