import Foundation

/// The files that the entries of a log are in: each holds one line per entry, and the oldest goes as a whole.
///
/// To be used only under the log's lock. What one object knows stays true until another process changes the list
/// of files, which it tells by the generation in the lock file; lines that others append are counted as they are
/// met.
struct LogSegments {
    struct Segment {
        var number: UInt64
        var entries: Int
        /// The bytes that were counted.
        var bytes: Int
        /// Whether the last line has its end; one that a crash cut has not.
        var endsInLine: Bool
    }

    let folder: String
    private(set) var segments: [Segment] = []
    /// The newest segment, open for appending.
    private var current: LogFile?
    /// Closed segments whose entries nobody has kept the number of yet.
    private var unkept: [Segment] = []

    static let suffix = ".log"
    /// The highest number that is believed: the next ones are beyond it, and there must be some.
    private static let maximumNumber = UInt64.max / 2

    init(folder: String) { self.folder = folder }

    var entries: Int { segments.reduce(0) { $0 + $1.entries } }
    var bytes: Int { segments.reduce(0) { $0 + $1.bytes } }

    static func path(_ number: UInt64, in folder: String) -> String {
        let digits = String(number)
        return folder + "/" + String(repeating: "0", count: max(0, 20 - digits.count)) + digits + suffix
    }

    func path(_ segment: Segment) -> String { Self.path(segment.number, in: folder) }

    /// Looks at the folder anew, and reads the newest file and those that nobody has counted.
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

    /// The closed segments that were counted since this was asked last.
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

    /// The number of a segment's file; `nil` for a name that is none of ours, and for a number that no log gets to.
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

    /// Takes in what other processes have appended to the newest segment.
    mutating func catchUp() throws(StoredLogError) {
        guard !segments.isEmpty else { return }
        let file = try openCurrent()
        try Self.count(&segments[segments.count - 1], file)
    }

    /// Whether the next entry takes files away or begins a new one.
    ///
    /// - Parameter size: about how many bytes it has.
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

    /// Appends an entry; drops the oldest ones first where there are too many.
    ///
    /// - Parameters:
    ///   - size: about how many bytes it has.
    ///   - makeLine: gives the entry for the place where it will be.
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
        // What a crash has cut ends here and is one unreadable entry.
        let text = newest.endsInLine ? line : [UInt8(ascii: "\n")] + line
        try file.append(text)
        try Self.count(&segments[segments.count - 1], file)
    }

    /// Begins a new file. The numbers go on where they were.
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

    /// Opens all segments for reading; they stay readable when they are dropped meanwhile.
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

    /// Rewrites every segment, each one whole or not at all, with the lines that stay.
    ///
    /// - Parameter rewritten: gets a line without its end and its new place; gives it with its end, or `nil` if it goes.
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
