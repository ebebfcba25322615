/// What goes wrong with a disk. Operations are what changes it: writes, truncations, syncs and deletions, counted from 1.
public enum Fault: Sendable, Hashable {
    /// The power fails in the middle of the operation of that number: it is done, undone or half done, and every
    /// later one fails.
    case crash(at: Int)
    /// The first write from that operation on is half done, and says that the disk is full. Once.
    case shortWrite(at: Int)
    /// The first sync from that operation on fails; what it was to make durable may be so or not, and no later sync makes it
    /// so: as systems do that drop what they could not write. Once.
    case failedSync(at: Int)
    /// Syncs from that operation on say that all is durable, and nothing is; the power may fail at a later one.
    case lyingSync(from: Int, crashAt: Int = .max)
    /// From that operation on, no file can grow, until the disk is mended.
    case diskFull(from: Int)
}

/// What is left, after the power failed, of what was written and not synced.
public enum Remains: Sendable, Hashable, CaseIterable {
    /// Nothing.
    case nothing
    /// Everything.
    case everything
    /// Some sectors of 512 bytes and not others, decided by a seed.
    case sectors(seed: UInt64)

    /// One of each.
    public static var allCases: [Remains] { [.nothing, .everything, .sectors(seed: 1)] }
}

/// Numbers that look random and follow from a seed (SplitMix64).
public struct SeededNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// - Parameter seed: Any number; the same one gives the same sequence.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
