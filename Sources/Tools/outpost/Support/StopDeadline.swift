import Dispatch
import Foundation
import ToolLanguage

/// Ends the process if it has not ended in time after a request to stop.
///
/// The files of a store survive that as they survive a crash.
final class StopDeadline {
    /// The exit code of a process that had to be ended.
    private static let status: Int32 = 1

    private let sources: [any DispatchSourceSignal]

    /// Watches for SIGTERM and SIGINT, on a thread that no request uses.
    ///
    /// - Parameter time: how long the process may go on after the signal.
    init(_ time: Duration) {
        let queue = DispatchQueue(label: "outpost.stop", qos: .userInteractive)
        let (seconds, attoseconds) = time.components
        let delay = Double(seconds) + Double(attoseconds) / 1e18
        sources = [SIGTERM, SIGINT].map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                queue.asyncAfter(deadline: .now() + delay) {
                    let text = translated("The requests did not end in time; the process ends without them.") + "\n"
                    FileHandle.standardError.write(Data(text.utf8))
                    _exit(Self.status)
                }
            }
            source.resume()
            return source
        }
    }

    deinit { for source in sources { source.cancel() } }
}
