import Dispatch
import Foundation
import OfflineOData
import Synchronization
import ToolLanguage

/// A line on the terminal about the current activity, after a second and each second from then on.
///
/// It is drawn also while nothing is reported, so that slow work does not look stuck. In a pipe nothing is
/// written.
final class ProgressLine: Sendable {
    private struct State {
        var text: TerminalText
        var transfer: TransferProgress?
        var isFinished: Bool
    }

    private let start = ContinuousClock.now
    private let state: Mutex<State>
    private let listening = Mutex<Task<Void, Never>?>(nil)

    /// Begins to show an activity.
    init(_ text: TerminalText, transfer: TransferProgress? = nil) {
        state = Mutex(State(text: text, transfer: transfer, isFinished: !Terminal.isInteractive(.error)))
        tick()
    }

    /// Begins to show the progress of a synchronisation.
    ///
    /// - Parameter kept: the kept rows of each interrupted first download.
    convenience init(_ store: OfflineStore, kept: [String: Int] = [:]) {
        self.init("", transfer: TransferProgress(kept: kept))
        let reports = store.observe.progress()
        let task = Task { [weak self] in
            for await report in reports {
                guard let self else { return }
                let time = seconds
                state.withLock { $0.transfer?.update(report, at: time) }
            }
        }
        listening.withLock { $0 = task }
    }

    /// Shows a line during an activity.
    static func during<Value>(_ text: TerminalText, _ body: (ProgressLine) async throws -> Value) async rethrows
        -> Value
    {
        let line = ProgressLine(text)
        defer { line.finish() }
        return try await body(line)
    }

    /// Replaces the description of the activity.
    func update(_ text: TerminalText) { state.withLock { $0.text = text } }

    /// Clears the line.
    func finish() {
        listening.withLock { $0?.cancel() }
        state.withLock { $0.isFinished = true }
        Terminal.clearLine()
    }

    /// The seconds since the start.
    private var seconds: Double { (ContinuousClock.now - start) / .seconds(1) }

    /// Draws the line a second from now, and so on. It needs a thread of its own: slow work may hold the only thread
    /// for tasks.
    private func tick() {
        guard !state.withLock({ $0.isFinished }) else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + 1) { [weak self] in
            self?.draw()
            self?.tick()
        }
    }

    private func draw() {
        let time = seconds
        // Within the lock, so that nothing is drawn behind the end.
        state.withLock { state in
            guard !state.isFinished else { return }
            Terminal.showLine(
                state.transfer?.text(at: time) ?? "\(state.text) \(TransferProgress.elapsed(time))")
        }
    }
}
