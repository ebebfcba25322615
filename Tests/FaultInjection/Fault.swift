/// A failure of a disk. Operations change the disk (writes, truncations, syncs and deletions) and are counted
/// from 1.
public enum Fault: Sendable, Hashable {
    /// A power failure during the operation with a number. The operation is done, undone or half done, and
    /// every later one fails.
    case crash(at: Int)
    /// A single failure of the first write from an operation on: it is half done and reports that the disk is
    /// full.
    case shortWrite(at: Int)
    /// A single failure of the first sync from an operation on. Its changes may be durable or not, and no later
    /// sync makes them durable: systems drop pages that they could not write.
    case failedSync(at: Int)
    /// A disk that reports successful syncs from an operation on without making anything durable. The power may
    /// fail at a later operation.
    case lyingSync(from: Int, crashAt: Int = .max)
    /// A full disk: from an operation on, no file can grow until the disk is repaired.
    case diskFull(from: Int)
}

/// The unsynced changes that remain after a power failure.
public enum Remains: Sendable, Hashable, CaseIterable {
    /// No unsynced change remains.
    case nothing
    /// All unsynced changes remain.
    case everything
    /// A selection of sectors of 512 bytes, determined by a seed.
    case sectors(seed: UInt64)

    /// One value of each case.
    public static var allCases: [Remains] { [.nothing, .everything, .sectors(seed: 1)] }
}

/// A sequence of pseudorandom numbers determined by a seed (SplitMix64).
public struct SeededNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// - Parameter seed: Any number; the same seed gives the same sequence.
    public init(seed: UInt64) {
        state = seed
    }

    /// Returns the next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
