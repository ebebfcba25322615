import Synchronization

/// Every change that was made anywhere in a run, and what became of it.
///
/// A change carries a mark of its own in the property `Mark`, or for a deletion the mark that the row was born with; the
/// service's database counts by triggers how often each mark acted.
final class Ledger: Sendable {
    /// What is known of a change.
    struct Change: Sendable {
        let client: Int
        let text: String
        /// The mark that the row was born with.
        let born: String
        /// The mark that the row was born with which a new one refers to.
        let parent: String?
        /// Whether the app was told that it is made.
        var isAcknowledged = false
        /// Whether it was refused locally, so that it must never act.
        var isRefused = false
        /// Whether it was ever in the error archive.
        var wasArchived = false
        /// Whether it was taken back, or given up, before it acted.
        var isGivenUp = false
        /// Whether the person put it over another's change, so that it was sent again.
        var wasForced = false
        /// Whether another change of the same entity was folded over it.
        var mayBeFolded = false
    }

    private let changes = Mutex<[String: Change]>([:])

    /// Notes that a change is being made.
    func begin(_ mark: String, born: String, parent: String?, client: Int, _ text: String, mayBeFolded: Bool) {
        changes.withLock {
            var change = $0[mark] ?? Change(client: client, text: text, born: born, parent: parent)
            change.mayBeFolded = change.mayBeFolded || mayBeFolded
            $0[mark] = change
        }
    }

    /// Notes something about a change.
    func note(_ mark: String, _ edit: (inout Change) -> Void) {
        changes.withLock { changes in
            guard var change = changes[mark] else { return }
            edit(&change)
            changes[mark] = change
        }
    }

    /// How many changes there were.
    var count: Int { changes.withLock { $0.count } }

    /// Whether the row was created here, refused by the service, and deleted here, or refers to one that was: then nothing of
    /// it need be told.
    private static func neverWas(_ born: String, in changes: [String: Change], _ acts: [String: Acts]) -> Bool {
        guard let creation = changes[born], acts[born] == nil else { return false }
        if changes["deleted \(born)"]?.isAcknowledged ?? false { return true }
        return creation.parent.map { neverWas($0, in: changes, acts) } ?? false
    }

    /// What was promised and is not so, by what each mark did.
    ///
    /// - Parameter isGuarded: Whether the service's ETags keep a change from being put over itself.
    func violations(acts: [String: Acts], isGuarded: Bool) -> [String] {
        changes.withLock { changes in
            changes.sorted { $0.key < $1.key }.compactMap { mark, change in
                let times = acts[mark]?.count ?? 0
                let what = "\(mark) of client \(change.client), \(change.text),"
                // Who insists on a change that somebody else has replaced puts it there again.
                let mayActAgain = change.wasForced && (!isGuarded || acts[mark]?.overItself == 0)
                if times > 1, !mayActAgain { return "\(what) acted \(times) times" }
                if change.isRefused, times > 0 { return "\(what) was refused here and acted" }
                let isExcused =
                    change.wasArchived || change.isGivenUp || change.mayBeFolded
                    || Self.neverWas(change.born, in: changes, acts)
                if change.isAcknowledged, times == 0, !isExcused { return "\(what) is lost" }
                return nil
            }
        }
    }
}

/// What the service did with a change.
struct Acts: Sendable {
    /// How often it was made.
    var count: Int
    /// How often there was nothing between it and itself.
    var overItself: Int
}
