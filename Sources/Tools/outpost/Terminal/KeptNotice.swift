import Foundation
import OfflineOData
import ToolLanguage

/// Names the kept rows and the next command after Ctrl-C, then ends the process.
///
/// The store needs no end of its own: all complete data is in it already.
final class KeptNotice {
    private let interruption: Interruption

    /// The time for reaching the writer of the store, and then for counting the kept rows, in seconds.
    private static let patience = 2.0

    /// Watches for Ctrl-C.
    ///
    /// - Parameters:
    ///   - store: the store that is synchronised.
    ///   - command: the command that goes on.
    ///   - line: the line of progress.
    init(_ store: OfflineStore, goingOnWith command: String, _ line: ProgressLine) {
        interruption = Interruption { signal in
            line.finish()
            Self.stopWrites(to: store)
            let counted = DispatchSemaphore(value: 0)
            Task.detached(priority: .high) {
                let status = try? await store.observe.status()
                Terminal.error(Self.text(status, command))
                counted.signal()
            }
            if counted.wait(timeout: .now() + Self.patience) == .timedOut {
                Terminal.error(Self.text(nil, command))
            }
            Interruption.die(of: signal)
        }
    }

    /// Takes the writer of the store until the process ends, so that a download adds no rows to those counted.
    private static func stopWrites(to store: OfflineStore) {
        let (taken, never) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Task.detached(priority: .high) {
            try? await store.changes.transaction { _ in
                taken.signal()
                never.wait()
            }
        }
        // Without the writer, the count may be too small.
        _ = taken.wait(timeout: .now() + patience)
    }

    /// Lets Ctrl-C end the process again.
    func end() { interruption.end() }

    /// The notice.
    ///
    /// - Parameter status: the state of the store; `nil` if it could not be read in time.
    static func text(_ status: StoreStatus?, _ command: String) -> TerminalText {
        var kept: [String] = []
        for query in status?.queries ?? [] where !query.isLoaded && query.rows > 0 {
            kept.append(translated("\(Terminal.plural(query.rows, "row")) of \(query.name)"))
        }
        if let pending = status?.pending.count, pending > 0 { kept.append(Terminal.plural(pending, "unsent change")) }
        let verb: TerminalText = kept.count == 1 && kept[0].hasPrefix("1 ") ? "is" : "are"
        let what: TerminalText =
            kept.isEmpty ? "Everything that was complete is kept." : "\(kept.joined(separator: ", ")) \(verb) kept."
        return "Interrupted. \(what) Go on with: \(command)"
    }
}
