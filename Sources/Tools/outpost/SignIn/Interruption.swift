import Dispatch
import Foundation

/// Runs an action when the person presses Ctrl-C or the process is told to end, instead of ending at once.
final class Interruption {
    private let sources: [any DispatchSourceSignal]

    private static let signals = [SIGINT, SIGTERM]

    /// Watches for the signals.
    ///
    /// - Parameter action: gets the signal. It runs on a thread of its own.
    init(_ action: @escaping @Sendable (_ signal: Int32) -> Void) {
        let queue = DispatchQueue(label: "outpost.interruption")
        sources = Self.signals.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { action(number) }
            source.resume()
            return source
        }
    }

    /// Lets the signals end the process again.
    func end() {
        for source in sources { source.cancel() }
        for number in Self.signals { signal(number, SIG_DFL) }
    }

    /// Ends the process as the signal would have done.
    static func die(of number: Int32) -> Never {
        signal(number, SIG_DFL)
        raise(number)
        exit(128 + number)
    }
}
