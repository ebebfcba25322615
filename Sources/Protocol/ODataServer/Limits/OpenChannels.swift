import NIOCore
import Synchronization

/// The HTTP channels of a server: connections of HTTP/1.1 and streams of HTTP/2.
final class OpenChannels: Sendable {
    private let states = Mutex<[ObjectIdentifier: ChannelState]>([:])
    private let stopping = Mutex(false)

    /// Whether the server was told to stop.
    var isStopping: Bool { stopping.withLock { $0 } }

    func beginStop() { stopping.withLock { $0 = true } }

    /// Returns the state of a channel without a switch to its event loop.
    func state(of channel: any Channel) -> ChannelState? { states.withLock { $0[ObjectIdentifier(channel)] } }

    func add(_ state: ChannelState, for channel: any Channel) {
        states.withLock { $0[ObjectIdentifier(channel)] = state }
    }

    func remove(_ channel: any Channel) { states.withLock { $0[ObjectIdentifier(channel)] = nil } }

    /// Cancels all running requests, so that their responses end.
    func cancelRequests() {
        let all = states.withLock { Array($0.values) }
        for state in all { state.cancelRequest() }
    }

    func closeAll() {
        let all = states.withLock { Array($0.values) }
        for state in all { state.close() }
    }
}

/// The state that a channel's event loop shares with the task of its request.
final class ChannelState: Sendable {
    private struct State {
        var request: RunningRequest?
        /// Whether the caller disconnected before the request began to run.
        var isCallerGone = false
        var awaitsBody = false
    }

    private let channel: any Channel
    private let state = Mutex(State())

    init(of channel: any Channel) { self.channel = channel }

    /// Whether a request waits for bytes of its body.
    var awaitsBody: Bool {
        get { state.withLock { $0.awaitsBody } }
        set { state.withLock { $0.awaitsBody = newValue } }
    }

    func begin(_ request: RunningRequest) {
        let isGone = state.withLock { state in
            state.request = request
            return state.isCallerGone
        }
        if isGone { request.cancel() }
    }

    func cancelRequest() { state.withLock { $0.request }?.cancel() }

    func callerHasGone() {
        state.withLock { $0.isCallerGone = true }
        cancelRequest()
    }

    /// Closes the channel, even if its response still waits for the client.
    func close() {
        channel.triggerUserOutboundEvent(CloseAtOnce(), promise: nil)
        channel.close(promise: nil)
    }
}
