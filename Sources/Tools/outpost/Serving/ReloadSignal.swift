import Dispatch
import Foundation

/// Does something at each SIGHUP, one after the other. If the process was started in a terminal that is closed, the
/// signal ends it instead, as SIGTERM does.
final class ReloadSignal {
    private let source: any DispatchSourceSignal
    private let task: Task<Void, Never>

    /// From here on, SIGHUP does not end the process.
    static func begin() { signal(SIGHUP, SIG_IGN) }

    init(_ action: @escaping @Sendable () async -> Void) {
        let (signals, arrived) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let hadTerminal = Self.hasTerminal
        source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: DispatchQueue(label: "outpost.reload"))
        source.setEventHandler {
            if hadTerminal, !Self.hasTerminal {
                kill(getpid(), SIGTERM)
            } else {
                arrived.yield()
            }
        }
        task = Task { for await _ in signals { await action() } }
        source.resume()
    }

    deinit {
        source.cancel()
        task.cancel()
    }

    /// Whether the process belongs to a terminal that is open.
    private static var hasTerminal: Bool {
        let descriptor = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }
}
