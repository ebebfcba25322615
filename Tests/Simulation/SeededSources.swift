import FaultInjection
import ODataModel
import OfflineOData
import Synchronization

/// Identifiers that follow from a seed.
final class GuidSource: Sendable {
    private let numbers: Mutex<SeededNumbers>

    init(seed: UInt64) {
        numbers = Mutex(SeededNumbers(seed: seed))
    }

    func next() -> ODataGuid {
        let (high, low) = numbers.withLock { ($0.next(), $0.next()) }
        return ODataGuid(
            high: high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000, low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }
}

/// What a person decides about conflicts, as it follows from a seed.
final class Decisions: Sendable {
    /// What becomes of a conflict.
    enum Decision: CaseIterable {
        case fail
        case mine
        case theirs
        /// Of what both have changed, theirs; else mine.
        case merged
    }

    private let numbers: Mutex<SeededNumbers>

    init(seed: UInt64) {
        numbers = Mutex(SeededNumbers(seed: seed))
    }

    func next() -> Decision {
        numbers.withLock { Decision.allCases.randomElement(using: &$0) } ?? .fail
    }
}
