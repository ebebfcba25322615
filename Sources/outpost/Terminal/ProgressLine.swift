import Foundation
import OfflineOData
import Synchronization

/// A line on the terminal that says how far a synchronisation is, once it takes longer than a second.
/// Quiet where nobody looks.
final class ProgressLine: Sendable {
    private let task: Task<Void, Never>

    /// Begins to show what a store reports.
    init(_ store: OfflineODataProvider) {
        let reports = store.progress()
        let isShown = Terminal.isInteractive(.error)
        task = Task {
            let start = ContinuousClock.now
            var done: [String: Int] = [:]
            var isDirty = false
            for await report in reports {
                guard isShown else { continue }
                done[report.query ?? ""] = report.done
                guard ContinuousClock.now - start > .seconds(1) else { continue }
                let rows = done.values.reduce(0, +)
                let what = report.query.map { " \($0)" } ?? ""
                Terminal.write(
                    "\r\u{1B}[K\(report.phase.verb)\(what): \(Terminal.number(rows))"
                        + (report.total.map { " (\(Terminal.number(report.done)) of \(Terminal.number($0)))" } ?? ""),
                    to: .error)
                isDirty = true
                if report.phase == .finished { break }
            }
            if isDirty { Terminal.clearLine() }
        }
    }

    /// Clears the line.
    func finish() async {
        task.cancel()
        await task.value
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
