/// Writes the text form of dates, numbers and identifiers to memory on the stack, so that a JSON writer creates no
/// strings for them.
struct LexicalWriter {
    /// The capacity in bytes, which exceeds every text form: a decimal has at most 80 places, a sign, a point and
    /// zeros.
    private static let capacity = 128

    private let start: UnsafeMutablePointer<UInt8>
    private var count = 0

    private init(_ start: UnsafeMutablePointer<UInt8>) { self.start = start }

    /// Returns the text that `body` writes.
    static func text(_ body: (inout LexicalWriter) -> Void) -> String {
        bytes({ String(decoding: $0, as: UTF8.self) }, body)
    }

    /// Calls `taker` with the bytes that `body` writes.
    @inline(__always)
    static func bytes<Result>(
        _ taker: (UnsafeBufferPointer<UInt8>) -> Result, _ body: (inout LexicalWriter) -> Void
    ) -> Result {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { memory in
            // Memory of a fixed nonzero size always has an address.
            guard let start = memory.baseAddress else { return taker(UnsafeBufferPointer(rebasing: memory[..<0])) }
            var writer = LexicalWriter(start)
            body(&writer)
            return taker(UnsafeBufferPointer(start: start, count: writer.count))
        }
    }

    /// Writes one character; does nothing if the memory is full.
    @inline(__always)
    mutating func byte(_ byte: UInt8) {
        guard count < Self.capacity else { return }
        start[count] = byte
        count += 1
    }

    mutating func character(_ character: Unicode.Scalar) { byte(UInt8(ascii: character)) }

    /// Writes a number from 0 to 99 with two digits.
    @inline(__always)
    mutating func two(_ number: Int) {
        byte(UInt8(truncatingIfNeeded: 48 + number / 10))
        byte(UInt8(truncatingIfNeeded: 48 + number % 10))
    }

    /// Writes a number with at least `width` digits.
    mutating func number(_ number: UInt64, width: Int = 1) {
        var digits = 1
        var limit: UInt64 = 10
        while digits < 19, number >= limit {
            digits += 1
            limit *= 10
        }
        if number >= limit { digits += 1 }
        let length = max(digits, width)
        guard count + length <= Self.capacity else { return }
        var rest = number
        var index = count + length
        while index > count {
            index -= 1
            start[index] = 48 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += length
    }

    /// Writes the digits of a large number.
    mutating func number(_ number: UInt128) {
        if let small = UInt64(exactly: number) { return self.number(small) }
        let (high, low) = number.quotientAndRemainder(dividingBy: 10_000_000_000_000_000_000)
        self.number(high)
        self.number(UInt64(truncatingIfNeeded: low), width: 19)
    }

    /// Writes a decimal point and the digits of a fraction of a second without trailing zeros; writes nothing for
    /// zero.
    mutating func fraction(picoseconds: Int64) {
        guard picoseconds > 0 else { return }
        byte(UInt8(ascii: "."))
        let first = count
        number(UInt64(picoseconds), width: 12)
        while count > first, start[count - 1] == 48 { count -= 1 }
    }

    /// Writes the lowest `digits` hexadecimal digits of a number.
    mutating func hexadecimal(_ value: UInt64, digits: Int) {
        for position in (0..<digits).reversed() {
            let digit = UInt8(truncatingIfNeeded: value >> UInt64(4 * position)) & 15
            byte(digit < 10 ? 48 + digit : 87 + digit)
        }
    }

    /// Inserts a byte at `index`, repeated if requested.
    mutating func insert(_ byte: UInt8, at index: Int, repeated: Int = 1) {
        guard index >= 0, index <= count, count + repeated <= Self.capacity, repeated > 0 else { return }
        var from = count
        while from > index {
            from -= 1
            start[from + repeated] = start[from]
        }
        for offset in 0..<repeated { start[index + offset] = byte }
        count += repeated
    }

    /// The number of characters.
    var length: Int { count }
}
