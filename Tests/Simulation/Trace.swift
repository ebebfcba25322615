import Synchronization

/// What happened in a run, as a number that is the same when the same happened in the same order.
public final class Trace: Sendable {
    private let state: Mutex<State>

    private struct State {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        var lines: [String] = []
        var count = 0
    }

    private let keepsLines: Bool

    /// - Parameter keepsLines: Whether the text is kept too, to be read.
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

    /// The number.
    public var hash: UInt64 { state.withLock { $0.hash } }

    /// How many events there were.
    public var count: Int { state.withLock { $0.count } }

    /// The events, where they were kept.
    public var lines: [String] { state.withLock { $0.lines } }
}
