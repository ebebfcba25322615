import Synchronization

/// Every change that was made anywhere in a run, and what became of it.
///
/// A change carries a mark of its own in the property `Mark`, or for a deletion the mark that the row was born with; the
/// service's database counts by triggers how often each mark acted.
final class Ledger: Sendable {
    /// What is known of a change.
    struct Change: Sendable {
        let mark: String
        let client: Int
        let text: String
        /// The mark that the row was born with.
        let born: String
        /// The mark that the row was born with which a new one refers to.
        let parent: String?
        /// The mark that the row had when the change was made, which is what its user saw; `nil` for a creation.
        var base: String?
        /// What it set, by the names of the properties.
        let values: [String: String]
        /// Whether it is folded into another change of the same entity before it is sent, where that can be.
        let mayBeFolded: Bool
        /// Which transaction of its client it was made in; `nil` for one that was made by itself.
        var transaction: Int?
        /// How often it was made.
        var timesMade = 0
        /// Its place in the order in which all changes were made.
        var order = 0
        /// Whether the app was told that it is made.
        var isAcknowledged = false
        /// Whether the store failed when it was made, so that it may have been made or not.
        var isUncertain = false
        /// Whether it was refused locally, so that it must never act.
        var isRefused = false
        /// Whether the last that happened to it is that it was taken back, discarded from the error archive, or given up to
        /// another's version.
        var isGivenUp = false
        /// Whether it left the queue because a later edit of its entity took it up, as those of refused changes do.
        var isTakenUp = false
        /// Whether the person put it over another's change, so that it was sent again.
        var wasForced = false
        /// Whether it was ever in the error archive as refused.
        var wasArchivedAsRefused = false
        /// The marks of what the service had instead, where the archive tells of a conflict with the version it was made of.
        var conflicts: Set<String> = []
        /// The marks of what else its user was shown of the entity since, before it was sent again.
        var shown: Set<String> = []
        /// The marks of what was in the error archive with it, of the same change set.
        var mates: Set<String> = []
        /// The names of what it set and left to others where both had changed it.
        var yielded: Set<String> = []
        /// Whether it was in the queue as what makes the entity: one that was put into the making of that.
        var wasInCreation = false
        /// Whether what it makes can be found again at the service, by a value that nothing else has.
        var isFindable = false
        /// Whether it was ever in the error archive as in doubt.
        var wasInDoubt = false
        /// Whether an answer to it may have failed to come: it was lost, cut or late, or the client could not keep it.
        var wasUnanswered = false
        /// Whether its client did not know then that the service recognises what it is sent again: no answer had said so yet.
        var wasUnconfirmed = false

        /// Whether it was made after the state to which its client's store was put back, so that it is gone.
        var isPutBack = false
        /// Whether it was in the queue of a store that was put back, so that it may have been sent before.
        var wasPutBack = false
        /// When another state or copy of the store began to exist of which nothing tells the client; `nil` if there is none.
        var unknownSince: Double?
        /// Whether its client gives the key of what it makes.
        var hasClientKey = false

        /// Whether it makes an entity.
        var isCreation: Bool { mark == born }
        /// Whether it deletes an entity.
        var isDeletion: Bool { mark == Ledger.deletion(of: born) }
    }

    private struct State {
        var changes: [String: Change] = [:]
        var count = 0
    }

    private let state = Mutex(State())

    /// The mark of the deletion of what was born with another one.
    static func deletion(of born: String) -> String { "deleted \(born)" }

    /// Several clients may delete one row: each of them makes a change.
    fileprivate static func name(_ mark: String, _ client: Int) -> String {
        mark.hasPrefix(deletion(of: "")) ? "\(mark) by \(client)" : mark
    }

    /// Notes that a change is being made; a deletion may be made again after it was taken back.
    func begin(_ change: Change) {
        state.withLock { state in
            state.count += 1
            let name = Self.name(change.mark, change.client)
            var known = state.changes[name] ?? change
            known.order = state.count
            known.base = change.base
            known.transaction = change.transaction
            known.timesMade += 1
            known.isPutBack = false
            state.changes[name] = known
        }
    }

    /// Notes something about a client's change.
    func note(_ mark: String, of client: Int, _ edit: (inout Change) -> Void) {
        state.withLock { state in
            let name = Self.name(mark, client)
            guard var change = state.changes[name] else { return }
            edit(&change)
            state.changes[name] = change
        }
    }

    /// The number of the newest change.
    var newest: Int { state.withLock { $0.count } }

    /// Notes that a client's store was put back to where it was when a change was the newest one.
    func putBack(_ client: Int, to newest: Int) {
        state.withLock { state in
            for (name, change) in state.changes where change.client == client && change.order > newest {
                state.changes[name]?.isPutBack = true
            }
        }
    }

    /// How many changes there were.
    var count: Int { state.withLock { $0.changes.count } }

    /// How many of them were made together with others.
    var countTogether: Int { state.withLock { $0.changes.values.count { $0.transaction != nil } } }

    /// How many of them were ever in doubt.
    var doubts: Int { state.withLock { $0.changes.values.count(where: \.wasInDoubt) } }

    /// What was promised and is not so, by what the service did.
    ///
    /// - Parameters:
    ///   - hasVersions: Whether the service gives ETags and says that it heeds them.
    ///   - isGuarded: Whether the service keeps a change from being put over itself, by ETags or since it recognises what it was
    ///     sent before.
    ///   - recognisesRepeats: Whether it recognises what it was sent before.
    ///   - hasChangeSets: Whether it makes several changes together or not at all.
    ///   - now: When the run ended, in seconds.
    func violations(
        of history: ServiceHistory, hasVersions: Bool, isGuarded: Bool, recognisesRepeats: Bool, hasChangeSets: Bool,
        now: Double = 0
    ) -> [String] {
        let changes = state.withLock { $0.changes }
        let judge = Judge(
            changes: changes, history: history, hasVersions: hasVersions, isGuarded: isGuarded,
            recognisesRepeats: recognisesRepeats, hasChangeSets: hasChangeSets, now: now)
        let ordered = changes.sorted { $0.key < $1.key }.map(\.value)
        return ordered.compactMap(judge.problem(of:)) + (hasChangeSets ? judge.problemsOfSets(in: ordered) : [])
    }
}

/// Holds the changes of a run to what the service did.
private struct Judge {
    let changes: [String: Ledger.Change]
    let history: ServiceHistory
    let hasVersions: Bool
    let isGuarded: Bool
    let recognisesRepeats: Bool
    let hasChangeSets: Bool
    /// When the run ended, in seconds.
    let now: Double

    /// For how long a service certainly remembers what it was sent, in seconds: clocks may be wrong.
    private static let memory = 45.0 * 86_400

    /// What is wrong with a change, as a sentence.
    func problem(of change: Ledger.Change) -> String? {
        let acts = history.acts[change.mark]
        let times = acts?.count ?? 0
        let what = "\(change.mark) of client \(change.client), \(change.text),"
        // Who insists on a change that somebody else has replaced puts it there again.
        var mayActAgain = change.wasForced && (!isGuarded || acts?.overItself == 0)
        // Where others have brought back what it was made of, neither a key nor an ETag tells that it acted before.
        if !recognisesRepeats, acts?.beforehand.count == 1 { mayActAgain = true }
        // Nor does a value tell it where others have deleted what had that.
        let deletions = history.acts[Ledger.deletion(of: change.born)]?.count ?? 0
        if isFindable(change), !recognisesRepeats, deletions >= times - 1 { mayActAgain = true }
        // Nor is it one deletion that acted twice, where what was deleted had been made twice.
        if change.isDeletion, history.acts[change.born].map({ $0.count >= times }) ?? false { mayActAgain = true }
        if let since = change.unknownSince, !isProtected(change, since: since) { mayActAgain = true }
        if times > 1, !mayActAgain { return "\(what) acted \(times) times" }
        if hasVersions, !followsOtherState(change), let other = overwritten(by: change) {
            return "\(what) was put over \(other), which its user had not seen"
        }
        if change.isRefused, times > 0 { return "\(what) was refused here and acted" }
        if change.wasArchivedAsRefused, !wasRefused(change) {
            return "\(what) is archived as refused, and the service never refused it"
        }
        if change.isAcknowledged, times == 0, !isAccountedFor(change) { return "\(what) is lost" }
        if change.wasInDoubt, let reason = needlessness(of: change) { return "\(what) was in doubt, \(reason)" }
        return nil
    }

    /// Whether a change acts once although another state of the store may have sent it, and nothing tells of that, as where the
    /// whole machine was put back: the service recognises repeated requests and still remembers them, the client gives the key, or an
    /// ETag guards the change.
    private func isProtected(_ change: Ledger.Change, since: Double) -> Bool {
        if recognisesRepeats, now - since < Judge.memory { return true }
        guard change.isCreation || change.wasInCreation else { return hasVersions }
        return changes[change.born]?.hasClientKey ?? false
    }

    /// Why a change need not have been in doubt; `nil` where nobody could tell whether it had acted.
    private func needlessness(of change: Ledger.Change) -> String? {
        let together = [change] + mates(of: change)
        // What another state of the store has sent, the service may have forgotten.
        if together.contains(where: \.wasPutBack) { return nil }
        guard together.contains(where: \.wasUnanswered) else { return "and every answer to it came" }
        guard !recognisesRepeats || together.contains(where: \.wasUnconfirmed) else {
            // Where it takes none together, they would be sent one after the other, as others than it knows.
            if !hasChangeSets, together.count > 1 { return nil }
            let isForgotten = together.contains { history.forgotten.contains($0.mark) }
            return isForgotten ? nil : "and the service would have recognised it"
        }
        // One that does not tell, or that others have changed since, leaves all that was made with it in doubt.
        guard together.count == 1 else { return nil }
        if !change.isCreation, !change.wasInCreation { return "and can be sent again without harm" }
        return isFindable(change) ? "and what it made could be found" : nil
    }

    /// Whether what a change makes, or the creation that it was put into, can be found again by a value that nothing else has.
    private func isFindable(_ change: Ledger.Change) -> Bool {
        change.isFindable || change.wasInCreation && changes[change.born]?.isFindable ?? false
    }

    // MARK: What its user had seen

    /// The mark of a version of the entity that a change was put over, or deleted, without its user having seen it.
    private func overwritten(by change: Ledger.Change) -> String? {
        guard !change.isCreation, let acts = history.acts[change.mark] else { return nil }
        var seen = versions(seenFor: change)
        if change.isDeletion {
            // The service cannot tell who deleted a row that several wanted to be gone.
            guard !history.deletedByOthers.contains(change.born) else { return nil }
            for other in changes.values where other.mark == change.mark { seen.formUnion(versions(seenFor: other)) }
        }
        return acts.found.compactMap(\.self).first { !seen.contains($0) }
    }

    /// Whether another state of the store may have sent an earlier change of the same entity. The service answers the repeat with
    /// the present entity, in which changes by others cannot be told from the own change.
    private func followsOtherState(_ change: Ledger.Change) -> Bool {
        ofEntity(of: change).contains { $0.order < change.order && $0.wasPutBack }
    }

    /// The marks of the versions that a change may be put over: what its user saw when it was made, what the same user had
    /// made of the entity until then, and what the error archive or the policy showed of others.
    private func versions(seenFor change: Ledger.Change) -> Set<String> {
        let own = ofEntity(of: change).filter { $0.order <= change.order }
        var seen = Set(own.map(\.mark))
        for change in own { seen.formUnion(change.conflicts.union(change.shown)) }
        // A change that was made on top of one that is not sent, since it was folded or taken back, is one of what that was
        // made of.
        var base = change.base
        while let mark = base {
            seen.insert(mark)
            base = own.first { $0.mark == mark }?.base
        }
        return seen
    }

    // MARK: What became of it

    /// Whether the service said no, or had another version than the one that the change was made of, or one that was made
    /// together with it.
    private func wasRefused(_ change: Ledger.Change) -> Bool {
        ([change] + mates(of: change)).contains { change in
            history.refusals.contains(change.mark) || change.conflicts.contains { history.acts[$0] != nil }
        }
    }

    /// The changes that were in the error archive with another one, of the same change set.
    private func mates(of change: Ledger.Change) -> [Ledger.Change] {
        change.mates.compactMap { changes[Ledger.name($0, change.client)] }
    }

    /// Whether it is known why a change that was made here did not act.
    private func isAccountedFor(_ change: Ledger.Change) -> Bool {
        if change.isGivenUp || change.isPutBack || neverWas(change.born) { return true }
        guard change.mayBeFolded || change.isTakenUp else { return false }
        // What took it up acted with what it set, or was given up with it.
        let later = ofEntity(of: change).filter { $0.order > change.order }
        return later.contains { $0.isGivenUp || carries($0, change) }
    }

    /// All changes that a client made of one entity.
    private func ofEntity(of change: Ledger.Change) -> [Ledger.Change] {
        changes.values.filter { $0.client == change.client && $0.born == change.born }
    }

    /// Whether what acted as the later change has what the earlier one set, as far as none between them set it otherwise.
    private func carries(_ later: Ledger.Change, _ earlier: Ledger.Change) -> Bool {
        guard let acts = history.acts[later.mark], acts.count > 0 else { return false }
        guard !later.isDeletion else { return true }
        let between = ofEntity(of: earlier).filter { (earlier.order...later.order).contains($0.order) }
        return acts.rows.contains { row in
            earlier.values.keys.allSatisfy { name in
                between.contains {
                    $0.yielded.contains(name) || $0.values[name] != nil && $0.values[name] == row[name]
                }
            }
        }
    }

    /// Whether the row was created here, never came to be at the service, and was deleted here, or refers to one of which that
    /// is so: then nothing of it need be told.
    private func neverWas(_ born: String) -> Bool {
        guard let creation = changes[born], !history.births.contains(born) else { return false }
        if let deletion = changes[Ledger.name(Ledger.deletion(of: born), creation.client)],
            deletion.isAcknowledged || deletion.isUncertain
        {
            return true
        }
        return creation.parent.map(neverWas) ?? false
    }
}

/// What was made together.
extension Judge {
    /// What is wrong with changes that were to be made together or not at all, as sentences: those of each transaction, and those
    /// that the service was sent as one.
    fileprivate func problemsOfSets(in changes: [Ledger.Change]) -> [String] {
        var transactions: [[Int]: [Ledger.Change]] = [:]
        for change in changes {
            if let transaction = change.transaction {
                transactions[[change.client, transaction], default: []].append(change)
            }
        }
        let sent = history.changeSets.map { marks in
            // Several clients may delete one row, and only what else they change tells whose this is.
            let client = marks.lazy.compactMap { self.changes[$0]?.client }.first
            return marks.compactMap { mark in client.flatMap { self.changes[Ledger.name(mark, $0)] } }
        }
        return Set((transactions.values + sent).compactMap { problem(ofSet: $0) }).sorted()
    }

    /// What is wrong with changes that were to be made together, as a sentence.
    private func problem(ofSet changes: [Ledger.Change]) -> String? {
        let telling = changes.filter(isTelling)
        let made = telling.filter(hasActed)
        let missing = telling.first { change in
            // Who gives a part up and keeps another has decided so.
            !hasActed(change) && (!change.isGivenUp || made.contains(where: \.isGivenUp))
        }
        guard let missing, let other = made.first else { return nil }
        return "\(missing.mark) of client \(missing.client), \(missing.text), did not act, "
            + "and \(other.mark), which was made together with it, did"
    }

    private func hasActed(_ change: Ledger.Change) -> Bool { history.acts[change.mark].map { $0.count > 0 } ?? false }

    /// Whether it tells of what was made together with a change that this one acted or did not.
    private func isTelling(_ change: Ledger.Change) -> Bool {
        if neverWas(change.born) { return false }
        if change.isDeletion {
            // It may have been done by others, or by the same client at another time.
            let isOfOthers = changes.values.contains { $0.mark == change.mark && $0.client != change.client }
            return change.timesMade == 1 && !isOfOthers && !history.deletedByOthers.contains(change.born)
        }
        guard !hasActed(change), change.mayBeFolded || change.isTakenUp else { return true }
        // What took it up may have left what it was made together with, or be part of that.
        return !ofEntity(of: change).contains { $0.order > change.order }
    }
}

/// What a service did in a run.
struct ServiceHistory: Sendable {
    /// What was made of each change, by its mark.
    var acts: [String: Acts] = [:]
    /// The marks that rows were born with.
    var births: Set<String> = []
    /// The marks of changes that it refused at least once.
    var refusals: Set<String> = []
    /// The marks of changes that it was sent again when it had forgotten what it was sent before.
    var forgotten: Set<String> = []
    /// The marks of changes that it was sent to be made together or not at all, and did not refuse to take so.
    var changeSets: Set<[String]> = []
    /// The marks that rows were born with which another program than its clients deleted.
    var deletedByOthers: Set<String> = []
}

/// What the service did with a change.
struct Acts: Sendable {
    /// How often it was made.
    var count = 0
    /// How often there was nothing between it and itself.
    var overItself = 0
    /// The rows that it acted on, each as it was before: whose mark it had, if there was one.
    var beforehand: Set<String> = []
    /// The mark that the row had before each time; `nil` where there was no row.
    var found: [String?] = []
    /// What the row had after each time, by the names of the properties.
    var rows: [[String: String]] = []
}
