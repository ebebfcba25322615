import Foundation
import SafeFiles

extension StoredLog {
    /// The description of the storage format, so that encrypted entries are not mistaken for damaged ones.
    private struct Format: Codable {
        var format: Int
        /// A known text in sealed form; `nil` if the log is not encrypted.
        var check: Data?
    }

    private static let version = 1
    private static let checkText = Array("outpost log".utf8)

    /// Runs `body` while no other process or thread uses the log.
    func withLock<Result>(
        _ body: (inout State) throws(StoredLogError) -> sending Result
    ) throws(StoredLogError) -> Result {
        try state.withLock { (state: inout State) throws(StoredLogError) -> Result in
            let lock = try lock(&state)
            defer {
                keepCounts(&state, lock)
                lock.unlock()
            }
            do throws(StoredLogError) {
                return try body(&state)
            } catch {
                // After an error, the known state of the files may be outdated, so they are read again.
                state.generation &-= 1
                throw error
            }
        }
    }

    private func lock(_ state: inout State) throws(StoredLogError) -> LogFile {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(Self.lockPatience)
        while true {
            let isNew = state.lock == nil
            let file: LogFile
            if let open = state.lock { file = open } else { file = try openLock() }
            guard try file.tryLock() else {
                guard clock.now < deadline else { throw .busy(folder: folder) }
                usleep(200)
                continue
            }
            // Another process may have removed the folder and with it the locked file.
            guard file.hasName() else {
                state.lock = nil
                file.unlock()
                guard clock.now < deadline else { throw .busy(folder: folder) }
                continue
            }
            do throws(StoredLogError) {
                if isNew { try checkFormat() }
                let generation = try generation(file)
                if isNew || generation != state.generation {
                    try state.segments.scan(counts(file))
                    state.generation = generation
                } else {
                    try state.segments.catchUp()
                }
            } catch {
                file.unlock()
                throw error
            }
            state.lock = file
            return file
        }
    }

    private func openLock() throws(StoredLogError) -> LogFile {
        if !FileManager.default.fileExists(atPath: folder) {
            do {
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch {
                throw .system(operation: "making the folder", path: folder, code: Self.code(of: error))
            }
        }
        do throws(SafeFileError) {
            _ = try CheckedFolder(folder, .ours)
        } catch {
            throw .system(operation: "opening the folder", path: folder, code: error.code)
        }
        return try LogFile(folder + "/lock", O_RDWR | O_CREAT)
    }

    private static func code(of error: any Error) -> Int32 {
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        return underlying.flatMap { $0.domain == NSPOSIXErrorDomain ? Int32($0.code) : nil } ?? EACCES
    }

    /// Informs other processes of a change in the list of files. This happens before the change, so a crash in
    /// between only makes them read the folder again.
    func advance(_ state: inout State) throws(StoredLogError) {
        guard let lock = state.lock else { return }
        let next = state.generation &+ 1
        try lock.write((0..<8).map { UInt8(truncatingIfNeeded: next >> ($0 * 8)) }, at: 0)
        state.generation = next
    }

    private func generation(_ file: LogFile) throws(StoredLogError) -> UInt64 {
        try file.read(from: 0, to: 8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func counts(_ file: LogFile) throws(StoredLogError) -> SegmentCounts {
        SegmentCounts(try file.read(from: SegmentCounts.offset, to: SegmentCounts.end))
    }

    /// Records the number of entries in closed files for other processes. If that fails, they count the entries
    /// again.
    private func keepCounts(_ state: inout State, _ lock: LogFile) {
        for segment in state.segments.takeUnkept() {
            let (bytes, offset) = SegmentCounts.line(of: segment)
            try? lock.write(bytes, at: offset)
        }
    }

    /// Checks that the log has the storage format of this object, or records the format of a new log.
    private func checkFormat() throws(StoredLogError) {
        let path = folder + "/format"
        guard FileManager.default.fileExists(atPath: path) else {
            var check: Data?
            if let sealing {
                guard let sealed = try? sealing.seal(Self.checkText) else { throw .unwritable }
                check = Data(sealed)
            }
            guard let bytes = try? JSONEncoder().encode(Format(format: Self.version, check: check)) else {
                throw .unwritable
            }
            return try LogFile.replace(path, with: Array(bytes), in: folder)
        }
        let bytes = try LogFile(path, O_RDONLY).read(from: 0, to: 65_536)
        guard let format = try? JSONDecoder().decode(Format.self, from: Data(bytes)), format.format == Self.version
        else { throw .unknownFormat(path: path) }
        switch (format.check, sealing) {
        case (nil, nil): break
        case (nil, _?): throw .notSealed(folder: folder)
        case (_?, nil): throw .keyMissing(folder: folder)
        case (let check?, let sealing?):
            guard (try? sealing.open(Array(check))) == Self.checkText else { throw .wrongKey(folder: folder) }
        }
    }

    // MARK: Lines

    func encoded(_ record: LogRecord) throws(StoredLogError) -> [UInt8] {
        guard let encoded = try? JSONEncoder().encode(record) else { throw .unwritable }
        return Array(encoded)
    }

    /// Returns the approximate length of a record's line; for a sealed line, an upper bound.
    func byteCount(sealing encoded: [UInt8]) -> Int {
        guard sealing != nil else { return encoded.count + 1 }
        return (encoded.count + LogPosition.byteCount + Self.sealingOverhead + 2) / 3 * 4 + 1
    }

    /// The assumed maximum number of bytes that sealing adds to a record.
    private static let sealingOverhead = 64

    func line(_ encoded: [UInt8], at position: LogPosition) throws(StoredLogError) -> [UInt8] {
        try sealed(sealing == nil ? encoded : position.bytes + encoded) + [UInt8(ascii: "\n")]
    }

    /// Returns the record and the position in a line; the record is `nil` if the line is damaged.
    func content(of line: [UInt8]) -> (record: LogRecord?, position: LogPosition?) {
        guard let bytes = opened(line) else { return (nil, nil) }
        let position = sealing == nil ? nil : LogPosition(bytes)
        let encoded = position == nil ? bytes : Array(bytes.dropFirst(LogPosition.byteCount))
        return (try? JSONDecoder().decode(LogRecord.self, from: Data(encoded)), position)
    }

    // MARK: The end of the log

    /// Records the sealed end of an encrypted log in the lock file, because lines removed at the end would
    /// leave no gap.
    func keepEnd(_ state: State) {
        guard sealing != nil, let lock = state.lock, let newest = state.segments.segments.last else { return }
        let end = LogPosition(segment: newest.number, index: newest.entries, previous: nil)
        guard let sealed = try? sealed(end.bytes), sealed.count <= Int(UInt16.max) else { return }
        let count = sealed.count
        // If this fails, reading reports a break, although no entry is missing.
        try? lock.write([UInt8(count >> 8), UInt8(count & 0xFF)] + sealed, at: SegmentCounts.end)
    }

    /// Returns the recorded end of the log; its index is the number of lines.
    func knownEnd(_ state: State) -> LogPosition? {
        let start = SegmentCounts.end
        guard sealing != nil, let lock = state.lock, let count = try? lock.read(from: start, to: start + 2),
            count.count == 2,
            let sealed = try? lock.read(from: start + 2, to: start + 2 + Int(count[0]) << 8 + Int(count[1]))
        else { return nil }
        return opened(sealed).flatMap { LogPosition($0) }
    }

    private func sealed(_ bytes: [UInt8]) throws(StoredLogError) -> [UInt8] {
        guard let sealing else { return bytes }
        guard let sealed = try? sealing.seal(bytes) else { throw .unwritable }
        return Array(Data(sealed).base64EncodedString().utf8)
    }

    private func opened(_ line: [UInt8]) -> [UInt8]? {
        guard let sealing else { return line }
        guard let sealed = Data(base64Encoded: Data(line)) else { return nil }
        return try? sealing.open(Array(sealed))
    }

    // MARK: The header

    /// The nine fields that all entries share; `nil` if none were set, or if they are damaged.
    ///
    /// - Throws: ``StoredLogError``: `busy`, `system`.
    public var header: LogHeader? {
        get throws(StoredLogError) {
            let path = folder + "/header"
            let bytes = try withLock { (_: inout State) throws(StoredLogError) -> [UInt8] in
                guard FileManager.default.fileExists(atPath: path) else { return [] }
                return try LogFile(path, O_RDONLY).read(from: 0, to: 1 << 20)
            }
            return opened(bytes).flatMap { try? JSONDecoder().decode(LogHeader.self, from: Data($0)) }
        }
    }

    /// Sets the nine header fields. The user and query values are removed from the service's URL.
    ///
    /// - Throws: ``StoredLogError``: `busy`, `system`, `unwritable`.
    public func setHeader(_ header: LogHeader) throws(StoredLogError) {
        var header = header
        header.baseURL = header.baseURL.map { SecretRedaction().redacted($0) }
        guard let encoded = try? JSONEncoder().encode(header) else { throw .unwritable }
        let bytes = try sealed(Array(encoded))
        try withLock { (_: inout State) throws(StoredLogError) in
            try LogFile.replace(folder + "/header", with: bytes, in: folder)
        }
    }

    /// Changes some of the nine header fields, for example when user, language and URL become known after
    /// connecting to a service.
    ///
    /// - Throws: The errors of ``setHeader(_:)``. Does nothing if no header was set.
    public func updateHeader(_ change: (inout LogHeader) -> Void) throws(StoredLogError) {
        guard let old = try header else { return }
        var new = old
        change(&new)
        if new != old { try setHeader(new) }
    }
}
