import Dispatch
import Foundation
import OfflineOData
import Synchronization

/// A line on the terminal that says what is being done and how far it is, once it takes longer than a second, and each second
/// from then on: also where nothing is reported for long, so that nobody takes what is slow for stuck. Quiet where nobody looks.
final class ProgressLine: Sendable {
    private struct State {
        var text: TerminalText
        var isFinished: Bool
    }

    private let start = ContinuousClock.now
    private let state: Mutex<State>
    private let listening = Mutex<Task<Void, Never>?>(nil)

    /// Begins to show what is done.
    init(_ text: TerminalText) {
        state = Mutex(State(text: text, isFinished: !Terminal.isInteractive(.error)))
        tick()
    }

    /// Begins to show what a store reports of a synchronisation.
    convenience init(_ store: OfflineStore) {
        self.init("Working")
        let reports = store.observe.progress()
        let task = Task { [weak self] in
            var done: [String: Int] = [:]
            for await report in reports {
                done[report.query ?? ""] = report.done
                guard let self else { return }
                update(report.text(rows: done.values.reduce(0, +)))
            }
        }
        listening.withLock { $0 = task }
    }

    /// Shows a line while something is done.
    static func during<Value>(_ text: TerminalText, _ body: (ProgressLine) async throws -> Value) async rethrows
        -> Value
    {
        let line = ProgressLine(text)
        defer { line.finish() }
        return try await body(line)
    }

    /// Says what is done from now on.
    func update(_ text: TerminalText) { state.withLock { $0.text = text } }

    /// Clears the line.
    func finish() {
        listening.withLock { $0?.cancel() }
        state.withLock { $0.isFinished = true }
        Terminal.clearLine()
    }

    /// Draws the line a second from now, and so on. Not in a task: where there is one thread for tasks, what takes long may
    /// have it.
    private func tick() {
        guard !state.withLock({ $0.isFinished }) else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + 1) { [weak self] in
            self?.draw()
            self?.tick()
        }
    }

    private func draw() {
        // Within the lock, so that nothing is drawn behind the end.
        state.withLock { state in
            guard !state.isFinished else { return }
            Terminal.showLine("\(state.text) … \((ContinuousClock.now - start).components.seconds) s")
        }
    }
}

extension SyncProgress {
    /// - Parameter rows: how many are done of all queries.
    fileprivate func text(rows: Int) -> TerminalText {
        let what = query.map { " \($0)" } ?? ""
        let part = total.map { " (\(Terminal.number(done)) of \(Terminal.number($0)))" } ?? ""
        return "\(phase.verb)\(what): \(Terminal.number(rows))\(part)"
    }
}

extension SyncProgress.Phase {
    fileprivate var verb: String {
        switch self {
        case .loadingMetadata: "Reading metadata"
        case .downloading: "Downloading"
        case .loadingStreams: "Loading streams"
        case .applying: "Applying"
        case .uploading: "Uploading"
        case .finished: "Done"
        }
    }
}
