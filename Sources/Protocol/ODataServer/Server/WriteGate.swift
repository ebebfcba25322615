import Synchronization

/// Keeps a streamed response from running ahead of the client.
///
/// The handler produces chunks in its own task, and the connection reports back pressure only after its event
/// loop has processed earlier chunks. Without a count of pending bytes, a client that reads nothing would
/// occupy tens of megabytes, on each of a hundred streams of HTTP/2.
final class WriteGate: Sendable {
    /// The number of pending bytes from which the next chunk waits.
    static let limit = 256 << 10

    private struct State {
        var onTheWay = 0
        var isOpen = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Waits until there is room for a chunk. A cancelled task or an ended connection is always admitted,
    /// because the write that follows fails.
    func enter(_ bytes: Int) async {
        if !takeRoom(bytes) {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let hasRoom = state.withLock { state in
                        if state.isOpen || Task.isCancelled || state.onTheWay < Self.limit { return true }
                        state.waiting = continuation
                        return false
                    }
                    if hasRoom { continuation.resume() }
                }
            } onCancel: {
                resume { _ in true }
            }
            state.withLock { $0.onTheWay += bytes }
        }
    }

    private func takeRoom(_ bytes: Int) -> Bool {
        state.withLock { state in
            guard state.isOpen || state.onTheWay < Self.limit else { return false }
            state.onTheWay += bytes
            return true
        }
    }

    /// Records that bytes were sent. Bytes that did not pass the gate are ignored.
    func leave(_ bytes: Int) {
        resume { state in
            state.onTheWay = max(0, state.onTheWay - bytes)
            return state.onTheWay < Self.limit
        }
    }

    /// Records that nothing more is sent, and admits all waiting chunks.
    func open() {
        resume { state in
            state.isOpen = true
            return true
        }
    }

    private func resume(_ mayGoOn: (inout State) -> Bool) {
        let waiting = state.withLock { state in
            guard mayGoOn(&state) else { return nil as CheckedContinuation<Void, Never>? }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }
}
