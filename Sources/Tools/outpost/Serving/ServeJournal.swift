import Foundation
import Logging

/// The lines about the life of a service in its log: start, reload and stop.
struct ServeJournal {
    private let logger: Logger?
    private let start = ContinuousClock.now

    /// - Parameter isOn: whether there is a log.
    init(isOn: Bool) {
        logger = isOn ? Logger(label: "outpost.serve") { TerminalLogHandler(label: $0) } : nil
    }

    func started(at url: String, path: String, sets: Int) {
        logger?.info(
            "started",
            metadata: [
                "url": "\(url)", "data": "\((path as NSString).lastPathComponent)", "sets": "\(sets)",
                "version": "\(Outpost.configuration.version)", "process": "\(getpid())",
            ])
    }

    func stopped() {
        let (seconds, _) = start.duration(to: .now).components
        logger?.info("stopped", metadata: ["seconds": "\(seconds)"])
    }
}
