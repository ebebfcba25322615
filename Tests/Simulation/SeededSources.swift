import FaultInjection
import ODataModel
import OfflineOData
import Synchronization

/// A source of identifiers determined by a seed.
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

/// The decisions of a person about conflicts, determined by a seed.
final class Decisions: Sendable {
    /// The resolution of a conflict.
    enum Decision: CaseIterable {
        case fail
        case mine
        case theirs
        /// The server value of each property that both sides changed, and the local value of all others.
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
