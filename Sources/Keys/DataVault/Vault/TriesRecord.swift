import Secrets

/// What a vault must know while it is locked, kept in the key store and not in the vault's file.
///
/// Putting back an old copy of the file thus brings back neither attempts nor a higher limit.
///
/// ```
/// offset  bytes
///      0      1  version, 1
///      1      1  1 when the vault is being destroyed, else 0
///      2      4  consecutive wrong passwords
///      6      4  at which one the vault is destroyed, 0 never
///     10      8  the latest epoch of the vault's file that was seen
///     18      8  the latest time that was seen, seconds since 1970, as the bits of a Double
/// ```
struct TriesRecord: Equatable {
    var isDestroyed = false
    var failures: UInt32 = 0
    var limit: UInt32 = 0
    var epoch: UInt64 = 0
    /// A clock set back does not make a password younger.
    var latestTime: Double = 0

    static let byteCount = 26

    init() {}

    init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, bytes[0] == 1, bytes[1] <= 1 else { return nil }
        isDestroyed = bytes[1] == 1
        failures = UInt32(bigEndian: bytes[2..<6])
        limit = UInt32(bigEndian: bytes[6..<10])
        epoch = UInt64(bigEndian: bytes[10..<18])
        latestTime = Double(bitPattern: UInt64(bigEndian: bytes[18..<26]))
        guard latestTime.isFinite else { return nil }
    }

    var bytes: [UInt8] {
        [1, isDestroyed ? 1 : 0] + bigEndianBytes(failures) + bigEndianBytes(limit) + bigEndianBytes(epoch)
            + bigEndianBytes(latestTime.bitPattern)
    }

    /// Whether no further wrong password is allowed.
    var isExhausted: Bool { limit > 0 && failures >= limit }

    /// How many wrong passwords may still follow.
    var attemptsLeft: Int? { limit > 0 ? Int(limit) - min(Int(failures), Int(limit)) : nil }
}

extension FixedWidthInteger {
    /// The integer of bytes, most significant first.
    init(bigEndian bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}
