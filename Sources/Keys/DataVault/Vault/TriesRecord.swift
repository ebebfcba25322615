import Secrets

/// The state that a vault needs while it is locked, kept in the key store and not in the vault's file.
///
/// Restoring an old copy of the file therefore restores neither attempts nor a higher limit.
///
/// ```
/// offset  bytes
///      0      1  version, 1
///      1      1  1 while the vault is being destroyed, else 0
///      2      4  number of consecutive wrong passwords
///      6      4  number of wrong passwords at which the vault is destroyed, 0 for no limit
///     10      8  highest epoch of the vault's file seen so far
///     18      8  latest time seen so far, seconds since 1970, as the bits of a Double
/// ```
struct TriesRecord: Equatable {
    var isDestroyed = false
    var failures: UInt32 = 0
    var limit: UInt32 = 0
    var epoch: UInt64 = 0
    /// The latest time seen so far, so that setting the clock back does not make a password younger.
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

    /// Whether the limit of wrong passwords is reached.
    var isExhausted: Bool { limit > 0 && failures >= limit }

    /// The number of wrong passwords until the vault is destroyed; `nil` without a limit.
    var attemptsLeft: Int? { limit > 0 ? Int(limit) - min(Int(failures), Int(limit)) : nil }
}

extension FixedWidthInteger {
    /// Creates an integer from bytes, most significant byte first.
    init(bigEndian bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}
