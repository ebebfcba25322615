import Foundation

/// The files with the entries of a log. Each file contains one line per entry, and the oldest file is removed
/// as a whole.
///
/// Use this type only under the log's lock. The information of one object stays valid until another process
/// changes the list of files, which is detected by the generation in the lock file. Lines that other processes
/// append are counted when they are found.
struct LogSegments {
    struct Segment {
        var number: UInt64
        var entries: Int
        /// The number of counted bytes.
        var bytes: Int
        /// Whether the last line is complete; a crash leaves it incomplete.
        var endsInLine: Bool
    }

    let folder: String
    private(set) var segments: [Segment] = []
    /// The newest segment, open for appending.
    private var current: LogFile?
    /// Closed segments whose number of entries is not recorded yet.
    private var unkept: [Segment] = []

    static let suffix = ".log"
    /// The highest accepted number, which leaves room for higher ones.
    private static let maximumNumber = UInt64.max / 2

    init(folder: String) { self.folder = folder }

    var entries: Int { segments.reduce(0) { $0 + $1.entries } }
    var bytes: Int { segments.reduce(0) { $0 + $1.bytes } }

    static func path(_ number: UInt64, in folder: String) -> String {
        let digits = String(number)
        return folder + "/" + String(repeating: "0", count: max(0, 20 - digits.count)) + digits + suffix
    }

    func path(_ segment: Segment) -> String { Self.path(segment.number, in: folder) }

    /// Reads the folder again, and counts the newest file and files without a recorded count.
    mutating func scan(_ known: SegmentCounts) throws(StoredLogError) {
        segments = []
        current = nil
        unkept = []
        let numbers = try Self.numbers(in: folder)
        for number in numbers {
            let path = Self.path(number, in: folder)
            let isClosed = number != numbers.last
            var segment = Segment(number: number, entries: 0, bytes: 0, endsInLine: true)
            if isClosed, let size = LogFile.size(of: path), let entries = known.entries(of: number, bytes: size) {
                segment.entries = entries
                segment.bytes = size
            } else {
                try Self.count(&segment, LogFile(path, O_RDONLY))
                if isClosed { unkept.append(segment) }
            }
            segments.append(segment)
        }
    }

    /// Returns the closed segments that were counted since the last call.
    mutating func takeUnkept() -> [Segment] {
        defer { unkept = [] }
        return unkept
    }

    private static func numbers(in folder: String) throws(StoredLogError) -> [UInt64] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            throw .system(operation: "listing", path: folder, code: EIO)
        }
        return names.compactMap(number).sorted()
    }

    /// Returns the number of a segment's file; `nil` for other names, and for a number that no log can reach.
    private static func number(_ name: String) -> UInt64? {
        guard name.hasSuffix(suffix), let number = UInt64(name.dropLast(suffix.count)), number <= maximumNumber,
            path(number, in: "") == "/" + name
        else { return nil }
        return number
    }

    /// Counts the lines that were appended since the last count.
    private static func count(_ segment: inout Segment, _ file: LogFile) throws(StoredLogError) {
        let size = try file.size()
        while segment.bytes < size {
            let chunk = try file.read(from: segment.bytes, to: min(size, segment.bytes + 65_536))
            guard let last = chunk.last else { return }
            chunk.withUnsafeBufferPointer { bytes in
                for byte in bytes where byte == UInt8(ascii: "\n") { segment.entries += 1 }
            }
            segment.bytes += chunk.count
            segment.endsInLine = last == UInt8(ascii: "\n")
        }
    }

    /// Counts the lines that other processes appended to the newest segment.
    mutating func catchUp() throws(StoredLogError) {
        guard !segments.isEmpty else { return }
        let file = try openCurrent()
        try Self.count(&segments[segments.count - 1], file)
    }

    /// Returns whether the next entry removes files or begins a new one.
    ///
    /// - Parameter size: The approximate size of the entry in bytes.
    func mustTurn(for size: Int, _ limits: StoredLog.Limits) -> Bool {
        isFull(for: size, limits) || isNewestFull(for: size, limits)
    }

    private func isFull(for size: Int, _ limits: StoredLog.Limits) -> Bool {
        entries >= limits.entries || bytes + size > limits.bytes
    }

    private func isNewestFull(for size: Int, _ limits: StoredLog.Limits) -> Bool {
        guard let newest = segments.last else { return true }
        return newest.entries >= limits.dropped || newest.bytes + size > limits.segmentBytes
    }

    /// Appends an entry; first removes the oldest entries if there are too many.
    ///
    /// - Parameters:
    ///   - size: The approximate size of the entry in bytes.
    ///   - makeLine: A function that returns the line of the entry for a position.
    mutating func append(
        _ size: Int, _ limits: StoredLog.Limits, makeLine: (LogPosition) throws(StoredLogError) -> [UInt8]
    ) throws(StoredLogError) {
        if isFull(for: size, limits) {
            let entryGoal = entries >= limits.entries ? limits.entries - limits.dropped : entries
            let byteGoal = bytes + size > limits.bytes ? limits.bytes - limits.segmentBytes - size : bytes
            try drop(entryGoal: entryGoal, byteGoal: byteGoal)
        }
        if isNewestFull(for: size, limits) { try begin() }
        let file = try openCurrent()
        let newest = segments[segments.count - 1]
        let line = try makeLine(
            LogPosition(
                segment: newest.number, index: newest.entries + (newest.endsInLine ? 0 : 1),
                previous: segments.dropLast().last?.entries))
        // A line that a crash left incomplete ends here and becomes one unreadable entry.
        let text = newest.endsInLine ? line : [UInt8(ascii: "\n")] + line
        try file.append(text)
        try Self.count(&segments[segments.count - 1], file)
    }

    /// Begins a new file with the next number.
    private mutating func begin() throws(StoredLogError) {
        let number = (segments.last?.number ?? 0) + 1
        current = try LogFile(Self.path(number, in: folder), O_RDWR | O_CREAT | O_EXCL | O_APPEND)
        if let closed = segments.last { unkept.append(closed) }
        segments.append(Segment(number: number, entries: 0, bytes: 0, endsInLine: true))
    }

    private mutating func drop(entryGoal: Int, byteGoal: Int) throws(StoredLogError) {
        while let oldest = segments.first, entries > entryGoal || bytes > byteGoal {
            if segments.count == 1 { try begin() }
            try LogFile.remove(path(oldest))
            segments.removeFirst()
        }
    }

    private mutating func openCurrent() throws(StoredLogError) -> LogFile {
        if let current { return current }
        guard let newest = segments.last else { throw .system(operation: "opening", path: folder, code: ENOENT) }
        let file = try LogFile(path(newest), O_RDWR | O_APPEND)
        current = file
        return file
    }

    /// Opens all segments for reading. They stay readable if they are removed meanwhile.
    func openAll() throws(StoredLogError) -> [(number: UInt64, file: LogFile, bytes: Int)] {
        var files: [(UInt64, LogFile, Int)] = []
        for segment in segments { files.append((segment.number, try LogFile(path(segment), O_RDONLY), segment.bytes)) }
        return files
    }

    /// Removes all entries.
    mutating func removeAll() throws(StoredLogError) {
        let old = segments
        try begin()
        for segment in old { try LogFile.remove(path(segment)) }
        segments.removeFirst(old.count)
    }

    /// Rewrites every segment with the remaining lines. Each segment is replaced completely or not at all.
    ///
    /// - Parameter rewritten: A function that receives a line without its end and its new position. It returns
    ///   the line with its end, or `nil` to remove it.
    mutating func rewrite(
        _ rewritten: ([UInt8], LogPosition) throws(StoredLogError) -> [UInt8]?
    ) throws(StoredLogError) {
        var previous: Int?
        for segment in segments {
            let bytes = try LogFile(path(segment), O_RDONLY).read(from: 0, to: segment.bytes)
            var kept: [UInt8] = []
            var entries = 0
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                let position = LogPosition(segment: segment.number, index: entries, previous: previous)
                guard let line = try rewritten(Array(line), position) else { continue }
                kept += line
                entries += 1
            }
            if kept != bytes { try LogFile.replace(path(segment), with: kept, in: folder) }
            previous = entries
        }
        try scan(SegmentCounts())
    }
}
