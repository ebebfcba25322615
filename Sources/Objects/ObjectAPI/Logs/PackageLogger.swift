import Logging
import OfflineOData
import Synchronization

/// Writes the app's messages to swift-log, and from a threshold up as log records of the package.
///
/// ```swift
/// crm.logger.level = .info
/// crm.logger.warn("The printer does not answer.")
/// try await crm.logger.submitLogRecords()
/// ```
public final class PackageLogger: Sendable {
    private let threshold = Mutex(LogRecordLevel.warn)
    private let keeper: LogRecordKeeper
    private let output: Logging.Logger
    /// The records that were logged and are not in the database yet, one behind the other.
    private let last = Mutex<Task<Void, Never>?>(nil)

    init(_ keeper: LogRecordKeeper) {
        self.keeper = keeper
        output = Logging.Logger(label: "outpost.package.\(keeper.package.name)")
    }

    /// The least severe level that is written as a log record; ``LogRecordLevel/warn`` by default. swift-log has a
    /// threshold of its own.
    public var level: LogRecordLevel {
        get { threshold.withLock { $0 } }
        set { threshold.withLock { $0 = newValue } }
    }

    /// Logs a message. The text is made only if it is written.
    public func log(_ level: LogRecordLevel, _ message: @autoclosure () -> String) {
        guard let loggerLevel = level.loggerLevel else { return }
        let isRecord = level <= self.level
        guard isRecord || output.logLevel <= loggerLevel else { return }
        let text = message()
        output.log(level: loggerLevel, "\(text)")
        guard isRecord else { return }
        var record = ObjectLogRecord(text, level: level)
        record.timestamp = keeper.store.options.runtime.environment.now()
        let ready = record
        last.withLock { last in
            let former = last
            last = Task { [keeper, output] in
                await former?.value
                do {
                    try await keeper.add(ready, for: nil)
                } catch {
                    output.error("A log record could not be written: \(error)")
                }
            }
        }
    }

    /// Logs that the app cannot go on.
    public func fatal(_ message: @autoclosure () -> String) { log(.fatal, message()) }
    /// Logs a failure.
    public func error(_ message: @autoclosure () -> String) { log(.error, message()) }
    /// Logs something that may fail later.
    public func warn(_ message: @autoclosure () -> String) { log(.warn, message()) }
    /// Logs an event.
    public func info(_ message: @autoclosure () -> String) { log(.info, message()) }
    /// Logs details for developers.
    public func debug(_ message: @autoclosure () -> String) { log(.debug, message()) }
    /// Logs all details.
    public func trace(_ message: @autoclosure () -> String) { log(.trace, message()) }

    /// Waits until every logged message is in the database.
    public func flush() async { await last.withLock { $0 }?.value }

    /// Submits the log records, after ``flush()``.
    ///
    /// - Throws: ``ObjectError/noLogService`` if the service has no set of log records.
    public func submitLogRecords() async throws {
        await flush()
        try await keeper.submit()
    }
}
