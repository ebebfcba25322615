/// Where a line of an encrypted log belongs. It is sealed with the line, so that lines which somebody swaps, drops or doubles are
/// noticed. Lines of earlier versions have none.
struct LogPosition: Equatable {
    /// The number of the file.
    var segment: UInt64
    /// The number of the line in the file, from 0.
    var index: UInt32
    /// How many lines the file before has; `nil` if there is none.
    var previous: UInt32?

    /// What a line with a position begins with; one of an earlier version begins with a brace.
    private static let mark: UInt8 = 2
    private static let none = UInt32.max
    /// The bytes of a position.
    static let byteCount = 17

    init(segment: UInt64, index: Int, previous: Int?) {
        self.segment = segment
        self.index = UInt32(clamping: index)
        self.previous = previous.map { UInt32(clamping: $0) }
    }

    /// Reads a position.
    ///
    /// - Returns: `nil` for a line that has none.
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

/// Looks whether the lines of a log are where they were written.
struct LogOrder {
    /// How often they are not.
    private(set) var breaks = 0
    private var number: UInt64 = 0
    private var expected: UInt32 = 0
    private var hasPositions = false
    /// The file before, with its number of lines.
    private var last: (number: UInt64, lines: Int)?

    /// A file begins.
    mutating func begin(_ number: UInt64) {
        // The oldest ones go; none does between others.
        if let last, number != last.number + 1 { breaks += 1 }
        self.number = number
        expected = 0
    }

    /// A line with a position follows.
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

    /// A line follows that no position can be read from.
    ///
    /// - Parameter isOld: whether it is whole, and of an earlier version.
    mutating func lineWithoutPosition(isOld: Bool) {
        if isOld, hasPositions { breaks += 1 }
        expected &+= 1
    }

    /// A file ends.
    mutating func end(lines: Int) { last = (number, lines) }

    /// The log ends.
    ///
    /// - Parameter known: the last line that was written, as the log has noted it.
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
