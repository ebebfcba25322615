import ServerState
import Synchronization

/// The proofs that this node has seen, so that a captured one is refused here at once.
final class ProofMemory: Sendable {
    private static let maxProofs = 500_000

    private struct Seen {
        var current: Set<[UInt8]> = []
        var former: Set<[UInt8]> = []
        /// The moment at which the former proofs have all expired.
        var turn: ServerInstant?
    }

    private let seen = Mutex(Seen())

    /// Notes a proof.
    ///
    /// - Parameters:
    ///   - expires: The moment from which the proof is refused anyway.
    /// - Returns: Whether the proof is new.
    func use(_ id: [UInt8], until expires: ServerInstant, now: ServerInstant) -> Bool {
        seen.withLock { seen in
            if seen.turn.map({ now >= $0 }) ?? true || seen.current.count >= Self.maxProofs {
                seen.former = seen.current
                seen.current = []
                seen.turn = expires
            }
            guard !seen.former.contains(id) else { return false }
            return seen.current.insert(id).inserted
        }
    }
}
