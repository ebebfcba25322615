import Synchronization

/// Keeps a streamed response from running ahead of the client that takes it.
///
/// The handler is asked for the next chunk on a thread of its own, and the connection says that it is full only when its
/// event loop has come to the chunks before: without a count of what is on its way, a client that reads nothing would
/// be held tens of megabytes, on each of a hundred streams of HTTP/2.
final class WriteGate: Sendable {
    /// How many bytes may be on their way before the next chunk waits.
    static let limit = 256 << 10

    private struct State {
        var onTheWay = 0
        var isOpen = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Waits until there is room, and takes it. There is always room for whoever is cancelled, or when the connection has
    /// ended: the write that follows finds out.
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

    /// Says that so many bytes have gone out. Those of a response that did not enter are none on their way.
    func leave(_ bytes: Int) {
        resume { state in
            state.onTheWay = max(0, state.onTheWay - bytes)
            return state.onTheWay < Self.limit
        }
    }

    /// Says that nothing more goes out.
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
