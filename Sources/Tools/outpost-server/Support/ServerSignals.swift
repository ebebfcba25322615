import Dispatch
import Foundation

/// Waits for the signals that end or reload a server. A second SIGTERM or SIGINT ends the process at once.
final class ServerSignals {
    private let sources: [any DispatchSourceSignal]
    private let ends: AsyncStream<Void>

    /// - Parameters:
    ///   - limit: The time after the signal at which the process ends in any case.
    ///   - reload: The work at SIGHUP.
    init(limit: Duration, reload: @escaping @Sendable () async -> Void) {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        self.ends = ends
        let queue = DispatchQueue(label: "outpost.server.signals", qos: .userInteractive)
        let (seconds, _) = limit.components
        let count = Count()
        var sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                // Both signals arrive on one queue.
                if count.raise() > 1 { _exit(1) }
                end.yield()
                queue.asyncAfter(deadline: .now() + .seconds(Int(clamping: seconds))) { _exit(1) }
            }
            return source
        }
        signal(SIGHUP, SIG_IGN)
        let hangUp = DispatchSource.makeSignalSource(signal: SIGHUP, queue: queue)
        hangUp.setEventHandler { Task { await reload() } }
        sources.append(hangUp)
        for source in sources { source.resume() }
        self.sources = sources
    }

    /// Waits for the first signal that ends the server.
    func waitForEnd() async { for await _ in ends { return } }

    deinit { for source in sources { source.cancel() } }

    /// A number that one queue changes.
    private final class Count: @unchecked Sendable {
        // The event handlers run on one serial queue, and nothing else refers to the number.
        private var number = 0

        func raise() -> Int {
            number += 1
            return number
        }
    }
}
