import Synchronization

/// The states of a registration and its connection, which anybody can read without waiting for the actor.
final class RegistrationStates: Sendable {
    private struct State {
        var registration = RegistrationPhase.unregistered
        var connection = ConnectionPhase.disconnected
        var id: String?
        var isReady = false
    }

    private let state = Mutex(State())
    let changes = Broadcast<RegistrationEvent>()
    /// `true` when the device has become ready, `false` after a final failure.
    let readiness = Broadcast<Bool?>()

    var registration: RegistrationPhase { state.withLock { $0.registration } }
    var connection: ConnectionPhase { state.withLock { $0.connection } }
    var id: String? { state.withLock { $0.id } }
    /// Whether the device is connected and its settings were received.
    var isReady: Bool { state.withLock { $0.isReady && $0.connection == .connected } }

    /// Takes over a registration of an earlier run.
    func begin(id: String) {
        state.withLock {
            $0.id = id
            $0.registration = .registered
        }
    }

    func setID(_ id: String?) { state.withLock { $0.id = id } }

    func set(_ phase: RegistrationPhase) {
        state.withLock { $0.registration = phase }
        changes.send(.registration(phase))
        if phase == .error || phase == .unregistered { readiness.send(false) }
    }

    func set(_ phase: ConnectionPhase) {
        state.withLock {
            $0.connection = phase
            if phase != .connected { $0.isReady = false }
        }
        changes.send(.connection(phase))
    }

    func setReady() {
        state.withLock { $0.isReady = true }
        readiness.send(true)
    }
}
