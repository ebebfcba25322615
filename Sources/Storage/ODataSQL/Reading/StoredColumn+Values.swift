import GRDBSQLite
import ODataModel

extension StoredColumn {
    /// The maximum number of days before and after 1970 with a year of at most six digits, as in ``ColumnCodec``.
    private static var maxDays: UInt64 { 365_000_000 }

    /// Returns the value directly from SQLite's memory, without an array of bytes or a `DatabaseValue`.
    ///
    /// - Returns: `nil` if the content does not match the kind; ``ColumnCodec`` then reads it or reports the error.
    @inline(__always)
    func value(_ kind: DirectColumn.Kind) -> ODataValue? {
        switch self.kind {
        case SQLITE_NULL: .null
        case SQLITE_INTEGER: Self.value(integer, kind)
        case SQLITE_TEXT: if case .string = kind { .string(text) } else { nil }
        case SQLITE_FLOAT: Self.value(double, kind)
        default: Self.value(bytes, kind)
        }
    }

    @inline(__always)
    private static func value(_ number: Int64, _ kind: DirectColumn.Kind) -> ODataValue? {
        switch kind {
        case .integer: .integer(number)
        case .enumeration: .enumeration(number)
        case .boolean: 0...1 ~= number ? .boolean(number == 1) : nil
        case .date: number.magnitude < maxDays ? .date(ODataDate(daysSinceEpoch: number)) : nil
        case .timeOfDay: ODataTimeOfDay(picoseconds: number).map { .timeOfDay($0) }
        case .scaledDecimal(let scale): decimal(number, scale: Int(scale)).map { .decimal($0) }
        default: nil
        }
    }

    @inline(__always)
    private static func value(_ number: Double, _ kind: DirectColumn.Kind) -> ODataValue? {
        switch kind {
        case .double: .double(number)
        case .single: .single(Float(number))
        default: nil
        }
    }

    private static func value(_ bytes: UnsafeRawBufferPointer, _ kind: DirectColumn.Kind) -> ODataValue? {
        switch kind {
        case .instant: InstantKey.decodeOffset(bytes).map { .dateTimeOffset($0) }
        case .guid: guid(bytes).map { .guid($0) }
        case .decimalBytes: DecimalKey.decode(bytes).map { .decimal($0) }
        default: nil
        }
    }

    private static func guid(_ bytes: UnsafeRawBufferPointer) -> ODataGuid? {
        guard bytes.count == 16 else { return nil }
        return ODataGuid(high: bytes.bigEndian(at: 0), low: bytes.bigEndian(at: 8))
    }

    /// Returns a scaled integer without trailing zeros. Dividing 64-bit integers is faster than dividing 128-bit
    /// integers, as in ``ODataDecimal/normalized``.
    private static func decimal(_ number: Int64, scale stated: Int) -> ODataDecimal? {
        if number == 0 { return ODataDecimal(0) }
        var (magnitude, scale) = (number.magnitude, stated)
        while scale > 0 {
            let (quotient, rest) = magnitude.quotientAndRemainder(dividingBy: 10)
            if rest != 0 { break }
            (magnitude, scale) = (quotient, scale - 1)
        }
        return ODataDecimal(isNegative: number < 0, magnitude: UInt128(magnitude), scale: scale)
    }
}

extension InstantKey {
    /// Decodes like ``decodeOffset(_:)`` for any bytes, but reads 64 bits at a time.
    static func decodeOffset(_ key: UnsafeRawBufferPointer) -> ODataDateTimeOffset? {
        guard key.count == 18 else { return nil }
        let seconds = Int64(bitPattern: key.bigEndian(at: 0) ^ (1 << 63))
        let picoseconds = key.bigEndian(at: 8)
        let offset = (Int(key[16]) << 8 | Int(key[17])) - 840
        guard picoseconds < 1_000_000_000_000, seconds.magnitude < maxSeconds, abs(offset) <= 840 else { return nil }
        return ODataDateTimeOffset(seconds: seconds, picoseconds: Int64(picoseconds), offsetMinutes: offset)
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the eight bytes at an offset as a big-endian integer.
    @inline(__always)
    fileprivate func bigEndian(at offset: Int) -> UInt64 {
        UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
