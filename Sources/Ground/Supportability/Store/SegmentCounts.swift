/// The number of entries in the closed files of a log, recorded behind the generation in the lock file. A
/// process that opens the log need not count files that another process has counted.
///
/// Each file has a record at a place determined by its number. The record is valid only for the recorded file
/// size: nothing is appended to a closed file, and a rewritten file is smaller. If a record is missing, damaged
/// or of another file, the file is counted again.
struct SegmentCounts {
    /// The offset of the records, behind the generation.
    static let offset = 64
    /// The number of records: many times the number of files of a log, unless files have only a few entries.
    private static let places: UInt64 = 512
    /// The size of a record in bytes: number, size, entries, and a checksum.
    private static let width = 32
    /// The end of the last record.
    static let end = offset + Int(places) * width

    private let lines: [UInt8]

    /// Creates empty records.
    init() { lines = [] }

    /// Creates records from the content of the lock file from ``offset`` on.
    init(_ lines: [UInt8]) { self.lines = lines }

    /// Returns the number of entries of a file with a size; `nil` if no count is recorded.
    func entries(of number: UInt64, bytes: Int) -> Int? {
        let start = Self.place(number)
        guard lines.count >= start + Self.width else { return nil }
        let fields = (0..<4).map { field in
            lines[start + field * 8..<start + field * 8 + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        guard fields[0] == number, fields[1] == UInt64(bytes), fields[3] == Self.sum(fields[0], fields[1], fields[2])
        else { return nil }
        return Int(exactly: fields[2])
    }

    /// Returns the record of a file, and its offset in the lock file.
    static func line(of segment: LogSegments.Segment) -> (bytes: [UInt8], offset: Int) {
        let (bytes, entries) = (UInt64(segment.bytes), UInt64(segment.entries))
        let fields = [segment.number, bytes, entries, sum(segment.number, bytes, entries)]
        return (
            fields.flatMap { field in (0..<8).map { UInt8(truncatingIfNeeded: field >> ($0 * 8)) } },
            offset + place(segment.number)
        )
    }

    private static func place(_ number: UInt64) -> Int { Int(number % places) * width }

    /// Returns a checksum that is not 0 if all fields are 0, because holes in the file read as zeros.
    private static func sum(_ fields: UInt64...) -> UInt64 {
        fields.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ $1) &* 0x100_0000_01B3 }
    }
}
