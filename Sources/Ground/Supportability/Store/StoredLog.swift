import Synchronization

/// A log in a folder, bounded, that several processes write to at once.
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
/// An entry is one line that is appended with one write, so that a crash of the process loses nothing that was
/// written and cuts at most the last line; a cut or damaged line is skipped and counted. The system writes to the
/// disk in its own time, unless ``synchronize()`` is called.
///
/// At 10,000 entries the next one drops the oldest 200: the entries are in files of 200, and the oldest file goes.
/// The files are their owner's alone (mode 0600), and encrypted when a ``LogSealing`` is given. Each entry of an encrypted log is
/// sealed with its place, so that reading notices entries that somebody has taken out, doubled or put elsewhere; an older copy of
/// the whole folder is not noticed, nor that the oldest files are gone, as they are at every limit.
public final class StoredLog: LogSink {
    /// How much is kept.
    public struct Limits: Hashable, Sendable {
        /// The most entries, 10,000 if not said.
        public var entries: Int
        /// How many of the oldest are dropped when there are so many, 200 if not said.
        public var dropped: Int
        /// The most bytes of all entries, 32 MiB if not said.
        public var bytes: Int

        /// Makes limits.
        public init(entries: Int = 10_000, dropped: Int = 200, bytes: Int = 32 << 20) {
            self.entries = entries
            self.dropped = dropped
            self.bytes = bytes
        }

        /// The least that ``bytes`` may be: room for some entries of the greatest size.
        public static let leastBytes = 4 << 20

        /// The most bytes of one file. An entry of the greatest size fits.
        var segmentBytes: Int { bytes / 4 }
    }

    /// What reading gave.
    public struct Reading: Sendable {
        /// The entries, oldest first.
        public var records: [LogRecord]
        /// How many lines were damaged and are left out.
        public var unreadable: Int
        /// In how many places entries of an encrypted log are missing, doubled or in another order than they were written in.
        public var breaks = 0
    }

    /// How long one waits while other processes use the log, in seconds.
    public static let lockPatience = 2.0

    /// The folder.
    public let folder: String
    /// How much is kept.
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

    /// Opens the log in a folder, or makes both.
    ///
    /// - Parameters:
    ///   - folder: The folder. It is made with mode 0700, with those above it.
    ///   - limits: How much is kept; processes that share a log give the same.
    ///   - sealing: How it is encrypted; `nil` for not at all.
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

    /// Appends a record. What cannot be written is lost; ``lost`` and ``lastFailure`` tell.
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

    /// Appends a record, as it is: redaction is the pipeline's.
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

    /// How many records could not be written since the log was opened.
    public var lost: Int { state.withLock { $0.lost } }
    /// Why the last of them could not.
    public var lastFailure: StoredLogError? { state.withLock { $0.lastFailure } }

    /// The number of entries, damaged ones included.
    public var count: Int {
        get throws(StoredLogError) {
            try withLock { (state: inout State) throws(StoredLogError) in state.segments.entries }
        }
    }

    /// The entries that are wanted.
    ///
    /// - Throws: ``StoredLogError``: `busy`, `system`.
    public func read(_ query: LogQuery = LogQuery()) throws(StoredLogError) -> Reading {
        // Opened under the lock, read without it: writers do not wait for readers.
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

    /// Removes what is less grave than a severity, and what is damaged.
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

    /// Removes all entries; the header stays.
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
