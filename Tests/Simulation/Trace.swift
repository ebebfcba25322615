import Synchronization

/// The events of a run, with a hash that is equal for equal events in the same order.
public final class Trace: Sendable {
    private let state: Mutex<State>

    private struct State {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        var lines: [String] = []
        var count = 0
    }

    private let keepsLines: Bool

    /// - Parameter keepsLines: Whether to keep the text of the events too.
    init(keepsLines: Bool) {
        self.keepsLines = keepsLines
        state = Mutex(State())
    }

    /// Adds an event.
    func add(_ line: String) {
        state.withLock { state in
            // FNV-1a over the bytes and the end of the line.
            for byte in line.utf8 { state.hash = (state.hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            state.hash = (state.hash ^ 10) &* 0x100_0000_01b3
            state.count += 1
            if keepsLines { state.lines.append(line) }
        }
    }

    /// The hash of all events.
    public var hash: UInt64 { state.withLock { $0.hash } }

    /// The number of events.
    public var count: Int { state.withLock { $0.count } }

    /// The text of the events, if it is kept.
    public var lines: [String] { state.withLock { $0.lines } }
}
