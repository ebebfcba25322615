/// The position of a line in an encrypted log. It is sealed with the line, so that swapped, removed or
/// duplicated lines are detected. Lines of earlier versions have no position.
struct LogPosition: Equatable {
    /// The number of the file.
    var segment: UInt64
    /// The number of the line in the file, from 0.
    var index: UInt32
    /// The number of lines in the preceding file; `nil` if there is none.
    var previous: UInt32?

    /// The first byte of a line with a position. A line of an earlier version begins with a brace.
    private static let mark: UInt8 = 2
    private static let none = UInt32.max
    /// The size of a position in bytes.
    static let byteCount = 17

    init(segment: UInt64, index: Int, previous: Int?) {
        self.segment = segment
        self.index = UInt32(clamping: index)
        self.previous = previous.map { UInt32(clamping: $0) }
    }

    /// Parses a position.
    ///
    /// - Returns: `nil` for a line without a position.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.byteCount, bytes.first == Self.mark else { return nil }
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        segment = number(1..<9)
        index = UInt32(number(9..<13))
        let previous = UInt32(number(13..<17))
        self.previous = previous == Self.none ? nil : previous
    }

    var bytes: [UInt8] {
        [Self.mark] + Self.bytes(segment, 8) + Self.bytes(UInt64(index), 4)
            + Self.bytes(UInt64(previous ?? Self.none), 4)
    }

    private static func bytes(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}

/// A check that the lines of a log are at their original positions.
struct LogOrder {
    /// The number of violations.
    private(set) var breaks = 0
    private var number: UInt64 = 0
    private var expected: UInt32 = 0
    private var hasPositions = false
    /// The number of the preceding file and its number of lines.
    private var last: (number: UInt64, lines: Int)?

    /// Begins a file.
    mutating func begin(_ number: UInt64) {
        // Only the oldest files are removed, so a gap between two files is a violation.
        if let last, number != last.number + 1 { breaks += 1 }
        self.number = number
        expected = 0
    }

    /// Checks a line with a position.
    mutating func line(at position: LogPosition) {
        hasPositions = true
        guard position.segment == number else {
            breaks += 1
            expected &+= 1
            return
        }
        if position.index != expected {
            breaks += 1
        } else if position.index == 0, let previous = position.previous, let last, last.number &+ 1 == number,
            last.lines != Int(previous)
        {
            breaks += 1
        }
        expected = position.index &+ 1
    }

    /// Counts a line without a readable position.
    ///
    /// - Parameter isOld: Whether the line is intact and from an earlier version.
    mutating func lineWithoutPosition(isOld: Bool) {
        if isOld, hasPositions { breaks += 1 }
        expected &+= 1
    }

    /// Ends a file.
    mutating func end(lines: Int) { last = (number, lines) }

    /// Ends the log.
    ///
    /// - Parameter known: The recorded end of the log.
    mutating func end(_ known: LogPosition?) {
        guard let known else {
            if hasPositions { breaks += 1 }
            return
        }
        guard let last else {
            if known.index > 0 { breaks += 1 }
            return
        }
        if last.number < known.segment || last.number == known.segment && last.lines < Int(known.index) { breaks += 1 }
    }
}
