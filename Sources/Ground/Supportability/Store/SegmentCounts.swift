/// How many entries the closed files of a log have, kept behind the generation in the lock file: who opens the log need not
/// read what another process has counted.
///
/// Each file has a line in a place that its number tells. It holds for a file of the size that it names: nothing is
/// appended to a closed file, and one that is written anew gets smaller. A line that is missing, damaged or of another file
/// costs a look at the file, no more.
struct SegmentCounts {
    /// Where the lines begin; the generation stands before them.
    static let offset = 64
    /// How many lines there are: many times as many as a log has files, unless somebody keeps files of a few entries.
    private static let places: UInt64 = 512
    /// The bytes of a line: number, size, entries, and a sum over them.
    private static let width = 32
    /// The end of the last line.
    static let end = offset + Int(places) * width

    private let lines: [UInt8]

    /// Nothing is known.
    init() { lines = [] }

    /// What stands in the lock file from ``offset`` on.
    init(_ lines: [UInt8]) { self.lines = lines }

    /// How many entries a file of a size has; `nil` where that was not kept.
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

    /// The line of a file, and its place in the lock file.
    static func line(of segment: LogSegments.Segment) -> (bytes: [UInt8], offset: Int) {
        let (bytes, entries) = (UInt64(segment.bytes), UInt64(segment.entries))
        let fields = [segment.number, bytes, entries, sum(segment.number, bytes, entries)]
        return (
            fields.flatMap { field in (0..<8).map { UInt8(truncatingIfNeeded: field >> ($0 * 8)) } },
            offset + place(segment.number)
        )
    }

    private static func place(_ number: UInt64) -> Int { Int(number % places) * width }

    /// Not 0 where all of them are: the file has holes.
    private static func sum(_ fields: UInt64...) -> UInt64 {
        fields.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ $1) &* 0x100_0000_01B3 }
    }
}
