import ODataModel

/// The order-preserving bytes of date-times and durations.
///
/// They consist of the seconds with the sign bit flipped (8 bytes, big-endian) and the picoseconds (8 bytes).
/// `Edm.DateTimeOffset` adds the offset in minutes plus 840 (2 bytes).
enum InstantKey {
    /// The maximum number of seconds before and after 1970; their years have at most six digits.
    ///
    /// Values beyond this limit are not date-times, so that arithmetic on a date-time cannot overflow.
    static let maxSeconds: UInt64 = 31_536_000_000_000

    /// Returns sixteen bytes that sort by seconds, then by picoseconds.
    static func encode(seconds: Int64, picoseconds: Int64) -> [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(18)
        append(UInt64(bitPattern: seconds) ^ (1 << 63), to: &key)
        append(UInt64(clamping: picoseconds), to: &key)
        return key
    }

    /// Returns eighteen bytes: the instant and the offset.
    static func encode(_ value: ODataDateTimeOffset) -> [UInt8] {
        var key = encode(seconds: value.seconds, picoseconds: value.picoseconds)
        let biased = UInt16(clamping: value.offsetMinutes + 840)
        key.append(UInt8(biased >> 8))
        key.append(UInt8(biased & 255))
        return key
    }

    /// Returns the seconds and picoseconds of the first sixteen bytes; `nil` if the bytes are not a key.
    static func decode(_ key: some Collection<UInt8>) -> (seconds: Int64, picoseconds: Int64)? {
        guard key.count >= 16 else { return nil }
        let high = key.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let low = key.dropFirst(8).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard low < 1_000_000_000_000 else { return nil }
        return (Int64(bitPattern: high ^ (1 << 63)), Int64(low))
    }

    /// Returns the instant and offset of eighteen bytes; `nil` if they are not a key.
    static func decodeOffset(_ key: some Collection<UInt8>) -> ODataDateTimeOffset? {
        guard key.count == 18, let instant = decode(key), instant.seconds.magnitude < maxSeconds else { return nil }
        let offset = key.dropFirst(16).reduce(0) { $0 << 8 | Int($1) } - 840
        guard abs(offset) <= 840 else { return nil }
        return ODataDateTimeOffset(
            seconds: instant.seconds, picoseconds: instant.picoseconds, offsetMinutes: offset)
    }

    private static func append(_ value: UInt64, to key: inout [UInt8]) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            key.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}
