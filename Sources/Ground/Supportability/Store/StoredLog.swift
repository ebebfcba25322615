import Synchronization

/// A bounded log in a folder, to which several processes can write at the same time.
///
/// ```swift
/// let log = try StoredLog(folder: folder)
/// try log.setHeader(.ofThisMachine(appName: "Shop", appVersion: "2.1"))
/// let pipeline = LogPipeline(threshold: .warning, sinks: [log])
/// …
/// for record in try log.read(LogQuery(severity: .atLeast(.error))).records { show(record) }
/// try log.export(to: path)
/// ```
///
/// An entry is one line, appended with a single write. A crash of the process therefore loses no written entry
/// and truncates at most the last line. Truncated or damaged lines are skipped and counted. The system writes
/// to the disk at its own time, unless ``synchronize()`` is called.
///
/// With the default limits, the oldest 200 of 10,000 entries are removed for the next one: each file contains
/// 200 entries, and the oldest file is removed. Only the owner can access the files (mode 0600). They are
/// encrypted if a ``LogSealing`` is passed.
///
/// Each entry of an encrypted log is sealed with its position, so reading detects entries that were removed,
/// duplicated or moved. It does not detect an older copy of the whole folder, or the removal of the oldest
/// files, which also happens at every limit.
public final class StoredLog: LogSink {
    /// The limits of a log.
    public struct Limits: Hashable, Sendable {
        /// The maximum number of entries; by default 10,000.
        public var entries: Int
        /// The number of the oldest entries that are removed at the limit; by default 200.
        public var dropped: Int
        /// The maximum size of all entries in bytes; by default 32 MiB.
        public var bytes: Int

        /// Creates limits.
        public init(entries: Int = 10_000, dropped: Int = 200, bytes: Int = 32 << 20) {
            self.entries = entries
            self.dropped = dropped
            self.bytes = bytes
        }

        /// The minimum of ``bytes``, which leaves room for several entries of maximum size.
        public static let leastBytes = 4 << 20

        /// The maximum size of one file in bytes. An entry of maximum size fits.
        var segmentBytes: Int { bytes / 4 }
    }

    /// The result of reading a log.
    public struct Reading: Sendable {
        /// The entries, oldest first.
        public var records: [LogRecord]
        /// The number of damaged lines, which are omitted.
        public var unreadable: Int
        /// The number of places at which entries of an encrypted log are missing, duplicated or reordered.
        public var breaks = 0
    }

    /// The maximum time to wait for other processes that use the log, in seconds.
    public static let lockPatience = 2.0

    /// The folder of the log.
    public let folder: String
    /// The limits of the log.
    public let limits: Limits
    let sealing: LogSealing?

    struct State {
        var lock: LogFile?
        var generation: UInt64 = 0
        var segments: LogSegments
        var lost = 0
        var lastFailure: StoredLogError?
    }

    let state: Mutex<State>

    /// Opens the log in a folder, and creates both if they are missing.
    ///
    /// - Parameters:
    ///   - folder: The folder, which is created with mode 0700, including missing parent folders.
    ///   - limits: The limits. Processes that share a log must pass the same limits.
    ///   - sealing: The encryption, or `nil` for none.
    /// - Throws: ``StoredLogError``: `keyMissing`, `wrongKey`, `notSealed`, `unknownFormat`, `busy`, `system`,
    ///   `invalidLimits`.
    public init(folder: String, limits: Limits = Limits(), sealing: LogSealing? = nil) throws(StoredLogError) {
        guard limits.dropped >= 1, limits.entries >= limits.dropped, limits.bytes >= Limits.leastBytes else {
            throw .invalidLimits(
                expected: "1 or more dropped, as many entries or more, \(Limits.leastBytes) bytes or more")
        }
        self.folder = folder
        self.limits = limits
        self.sealing = sealing
        state = Mutex(State(segments: LogSegments(folder: folder)))
        try withLock { _ throws(StoredLogError) in }
    }

    /// Appends a record. A record that cannot be written is lost, and is reported by ``lost`` and
    /// ``lastFailure``.
    public func write(_ record: LogRecord) {
        do throws(StoredLogError) {
            try append(record)
        } catch {
            state.withLock {
                $0.lost += 1
                $0.lastFailure = error
            }
        }
    }

    /// Appends a record without redaction, which is the task of the pipeline.
    ///
    /// - Throws: ``StoredLogError``: `busy`, `system`, `unwritable`.
    public func append(_ record: LogRecord) throws(StoredLogError) {
        let encoded = try encoded(record.bounded())
        let size = byteCount(sealing: encoded)
        try withLock { (state: inout State) throws(StoredLogError) in
            if state.segments.mustTurn(for: size, limits) { try advance(&state) }
            try state.segments.append(size, limits) { position throws(StoredLogError) in try line(encoded, at: position)
            }
            keepEnd(state)
        }
    }

    /// The number of records that could not be written since the log was opened.
    public var lost: Int { state.withLock { $0.lost } }
    /// The error of the last record that could not be written.
    public var lastFailure: StoredLogError? { state.withLock { $0.lastFailure } }

    /// The number of entries, including damaged ones.
    public var count: Int {
        get throws(StoredLogError) {
            try withLock { (state: inout State) throws(StoredLogError) in state.segments.entries }
        }
    }

    /// Returns the matching entries.
    ///
    /// - Throws: ``StoredLogError``: `busy`, `system`.
    public func read(_ query: LogQuery = LogQuery()) throws(StoredLogError) -> Reading {
        // The files are opened under the lock but read without it, so writers do not wait for readers.
        let (files, end) = try withLock { (state: inout State) throws(StoredLogError) in
            (try state.segments.openAll(), knownEnd(state))
        }
        var reading = Reading(records: [], unreadable: 0)
        var order = LogOrder()
        for (number, file, size) in files {
            let bytes = try file.read(from: 0, to: size)
            order.begin(number)
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                let (record, position) = content(of: Array(line))
                if let position {
                    order.line(at: position)
                } else {
                    order.lineWithoutPosition(isOld: record != nil)
                }
                guard let record else {
                    reading.unreadable += 1
                    continue
                }
                if query.admits(record) { reading.records.append(record) }
            }
            order.end(lines: bytes.count { $0 == UInt8(ascii: "\n") })
        }
        if sealing != nil {
            order.end(end)
            reading.breaks = order.breaks
        }
        if let newest = query.newest { reading.records = Array(reading.records.suffix(max(0, newest))) }
        return reading
    }

    /// Removes the records that are less grave than a severity, and damaged entries.
    ///
    /// - Throws: ``StoredLogError``: `busy`, `system`.
    public func removeRecords(lessGraveThan severity: LogSeverity) throws(StoredLogError) {
        try withLock { (state: inout State) throws(StoredLogError) in
            try advance(&state)
            try state.segments.rewrite { line, position throws(StoredLogError) in
                guard let record = content(of: line).record, record.severity >= severity else { return nil }
                guard sealing != nil else { return line + [UInt8(ascii: "\n")] }
                return try self.line(try encoded(record), at: position)
            }
            keepEnd(state)
        }
    }

    /// Removes all entries but keeps the header.
    ///
    /// - Throws: ``StoredLogError``: `busy`, `system`.
    public func removeAll() throws(StoredLogError) {
        try withLock { (state: inout State) throws(StoredLogError) in
            try advance(&state)
            try state.segments.removeAll()
            keepEnd(state)
        }
    }

    /// Waits until all entries are on the disk.
    ///
    /// - Throws: ``StoredLogError``: `busy`, `system`.
    public func synchronize() throws(StoredLogError) {
        let files = try withLock { (state: inout State) throws(StoredLogError) in try state.segments.openAll() }
        for (_, file, _) in files { try file.sync() }
        try LogFile.syncFolder(folder)
    }
}
