import Synchronization

/// The record of every change that was made in a run, and of its outcome.
///
/// Each change has a unique mark in the property `Mark`. The mark of a deletion is derived from the row's birth
/// mark, which is the mark of its creation. Triggers in the service's database count the executions of each
/// mark.
final class Ledger: Sendable {
    /// The recorded state of a change.
    struct Change: Sendable {
        let mark: String
        let client: Int
        let text: String
        /// The birth mark of the row.
        let born: String
        /// The birth mark of the row that a new row refers to.
        let parent: String?
        /// The mark of the row when the change was made, which is the version that its user saw; `nil` for a
        /// creation.
        var base: String?
        /// The new values, by property name.
        let values: [String: String]
        /// Whether the change may be folded into another change of the same entity before it is sent.
        let mayBeFolded: Bool
        /// The client's transaction in which the change was made; `nil` outside a transaction.
        var transaction: Int?
        /// The number of times that the change was made.
        var timesMade = 0
        /// The position of the change in the order of all changes.
        var order = 0
        /// Whether the store confirmed the change to the app.
        var isAcknowledged = false
        /// Whether the store failed during the change, so that the change may exist or not.
        var isUncertain = false
        /// Whether the store refused the change, which must then never be executed.
        var isRefused = false
        /// Whether the last event of the change is that it was undone, discarded from the error archive, or
        /// withdrawn in favour of another version.
        var isGivenUp = false
        /// Whether the change left the queue because a later edit of its entity included it, as happens to
        /// refused changes.
        var isTakenUp = false
        /// Whether the person applied the change over another change, so that it was sent again.
        var wasForced = false
        /// Whether the change was ever in the error archive as refused.
        var wasArchivedAsRefused = false
        /// The marks of the server versions with which the error archive reports a conflict.
        var conflicts: Set<String> = []
        /// The marks of other versions of the entity that the user has seen since, before the change was sent
        /// again.
        var shown: Set<String> = []
        /// The marks of changes of the same change set that were in the error archive at the same time.
        var mates: Set<String> = []
        /// The properties that the change gave up because both sides had changed them.
        var yielded: Set<String> = []
        /// Whether the change was in the queue as part of the creation of its entity.
        var wasInCreation = false
        /// Whether the created entity can be found at the service by a unique value.
        var isFindable = false
        /// Whether the outcome of the change was ever unknown.
        var wasInDoubt = false
        /// Whether a response to the change may be missing: it was lost, truncated or late, or the client could
        /// not store it.
        var wasUnanswered = false
        /// Whether no response had told the client yet that the service recognises repeated requests.
        var wasUnconfirmed = false

        /// Whether the change is lost because the store was restored to an earlier state.
        var isPutBack = false
        /// Whether the change was in the queue of a restored store, so that it may have been sent before.
        var wasPutBack = false
        /// The time at which another state or copy of the store appeared without the client's knowledge; `nil`
        /// without one.
        var unknownSince: Double?
        /// Whether the client assigns the key of the created entity.
        var hasClientKey = false

        /// Whether the change creates an entity.
        var isCreation: Bool { mark == born }
        /// Whether the change deletes an entity.
        var isDeletion: Bool { mark == Ledger.deletion(of: born) }
    }

    private struct State {
        var changes: [String: Change] = [:]
        var count = 0
    }

    private let state = Mutex(State())

    /// Returns the mark of the deletion of a row with a birth mark.
    static func deletion(of born: String) -> String { "deleted \(born)" }

    /// Returns a unique name of a change, because several clients may delete the same row.
    fileprivate static func name(_ mark: String, _ client: Int) -> String {
        mark.hasPrefix(deletion(of: "")) ? "\(mark) by \(client)" : mark
    }

    /// Records that a change is being made. A deletion may be made again after it was undone.
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

    /// Edits the record of a client's change.
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

    /// Records that a client's store was restored to the state at which `newest` was the newest change.
    func putBack(_ client: Int, to newest: Int) {
        state.withLock { state in
            for (name, change) in state.changes where change.client == client && change.order > newest {
                state.changes[name]?.isPutBack = true
            }
        }
    }

    /// The number of changes.
    var count: Int { state.withLock { $0.changes.count } }

    /// The number of changes that were made in transactions.
    var countTogether: Int { state.withLock { $0.changes.values.count { $0.transaction != nil } } }

    /// The number of changes whose outcome was ever unknown.
    var doubts: Int { state.withLock { $0.changes.values.count(where: \.wasInDoubt) } }

    /// Returns the violated promises, judged by the actions of the service.
    ///
    /// - Parameters:
    ///   - hasVersions: Whether the service returns ETags and claims to check them.
    ///   - isGuarded: Whether the service keeps a change from being applied twice, with ETags or because it
    ///     recognises repeated requests.
    ///   - recognisesRepeats: Whether the service recognises repeated requests.
    ///   - hasChangeSets: Whether the service executes change sets atomically.
    ///   - now: The end of the run, in seconds.
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

/// A comparison of a run's changes with the actions of the service.
private struct Judge {
    let changes: [String: Ledger.Change]
    let history: ServiceHistory
    let hasVersions: Bool
    let isGuarded: Bool
    let recognisesRepeats: Bool
    let hasChangeSets: Bool
    /// The end of the run, in seconds.
    let now: Double

    /// The minimum time for which a service remembers requests, in seconds, allowing for wrong clocks.
    private static let memory = 45.0 * 86_400

    /// Returns the problem of a change as a sentence.
    func problem(of change: Ledger.Change) -> String? {
        let acts = history.acts[change.mark]
        let times = acts?.count ?? 0
        let what = "\(change.mark) of client \(change.client), \(change.text),"
        // A user who insists on a replaced change makes it act again.
        var mayActAgain = change.wasForced && (!isGuarded || acts?.overItself == 0)
        // If other clients have restored the base version, neither a key nor an ETag shows that the change
        // acted before.
        if !recognisesRepeats, acts?.beforehand.count == 1 { mayActAgain = true }
        // If other clients have deleted the entity, its unique value does not show it either.
        let deletions = history.acts[Ledger.deletion(of: change.born)]?.count ?? 0
        if isFindable(change), !recognisesRepeats, deletions >= times - 1 { mayActAgain = true }
        // If the deleted entity had been created twice, the deletion did not act twice on one row.
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

    /// Returns whether a change acts only once although an unknown state of the store may have sent it, for
    /// example after the whole machine was restored. One of these conditions must hold: the service recognises
    /// and still remembers the request, the client assigns the key, or an ETag guards the change.
    private func isProtected(_ change: Ledger.Change, since: Double) -> Bool {
        if recognisesRepeats, now - since < Judge.memory { return true }
        guard change.isCreation || change.wasInCreation else { return hasVersions }
        return changes[change.born]?.hasClientKey ?? false
    }

    /// Returns the reason why the outcome of a change should have been known; `nil` if it could not be known.
    private func needlessness(of change: Ledger.Change) -> String? {
        let together = [change] + mates(of: change)
        // The service may have forgotten the requests of another state of the store.
        if together.contains(where: \.wasPutBack) { return nil }
        guard together.contains(where: \.wasUnanswered) else { return "and every answer to it came" }
        guard !recognisesRepeats || together.contains(where: \.wasUnconfirmed) else {
            // Without change sets, the changes are sent one by one as new requests, which the service cannot
            // recognise.
            if !hasChangeSets, together.count > 1 { return nil }
            let isForgotten = together.contains { history.forgotten.contains($0.mark) }
            return isForgotten ? nil : "and the service would have recognised it"
        }
        // If one change of a set cannot be recognised, or was changed by others since, the outcome of the whole
        // set is unknown.
        guard together.count == 1 else { return nil }
        if !change.isCreation, !change.wasInCreation { return "and can be sent again without harm" }
        return isFindable(change) ? "and what it made could be found" : nil
    }

    /// Returns whether the entity of a change, or the creation that includes the change, can be found by a
    /// unique value.
    private func isFindable(_ change: Ledger.Change) -> Bool {
        change.isFindable || change.wasInCreation && changes[change.born]?.isFindable ?? false
    }

    // MARK: Versions that the user saw

    /// Returns the mark of an unseen version of the entity that a change replaced or deleted.
    private func overwritten(by change: Ledger.Change) -> String? {
        guard !change.isCreation, let acts = history.acts[change.mark] else { return nil }
        var seen = versions(seenFor: change)
        if change.isDeletion {
            // If several clients deleted a row, the service cannot tell them apart.
            guard !history.deletedByOthers.contains(change.born) else { return nil }
            for other in changes.values where other.mark == change.mark { seen.formUnion(versions(seenFor: other)) }
        }
        return acts.found.compactMap(\.self).first { !seen.contains($0) }
    }

    /// Returns whether another state of the store may have sent an earlier change of the same entity. The
    /// service answers the repeated request with the current entity, which does not separate own changes from
    /// those of others.
    private func followsOtherState(_ change: Ledger.Change) -> Bool {
        ofEntity(of: change).contains { $0.order < change.order && $0.wasPutBack }
    }

    /// Returns the marks of the versions that a change may replace: the version that its user saw, the user's
    /// own earlier changes, and the versions that the error archive or the policy has shown.
    private func versions(seenFor change: Ledger.Change) -> Set<String> {
        let own = ofEntity(of: change).filter { $0.order <= change.order }
        var seen = Set(own.map(\.mark))
        for change in own { seen.formUnion(change.conflicts.union(change.shown)) }
        // If the previous change was folded or undone, it was never sent. The change then also replaces the
        // base version of that previous change.
        var base = change.base
        while let mark = base {
            seen.insert(mark)
            base = own.first { $0.mark == mark }?.base
        }
        return seen
    }

    // MARK: Outcomes

    /// Returns whether the service refused the change, or had another version than the base version. This also
    /// applies to changes of the same change set.
    private func wasRefused(_ change: Ledger.Change) -> Bool {
        ([change] + mates(of: change)).contains { change in
            history.refusals.contains(change.mark) || change.conflicts.contains { history.acts[$0] != nil }
        }
    }

    /// Returns the changes of the same change set that were in the error archive at the same time.
    private func mates(of change: Ledger.Change) -> [Ledger.Change] {
        change.mates.compactMap { changes[Ledger.name($0, change.client)] }
    }

    /// Returns whether there is a known reason why a local change did not act.
    private func isAccountedFor(_ change: Ledger.Change) -> Bool {
        if change.isGivenUp || change.isPutBack || neverWas(change.born) { return true }
        guard change.mayBeFolded || change.isTakenUp else { return false }
        // The including change acted with the values of this change, or was withdrawn with it.
        let later = ofEntity(of: change).filter { $0.order > change.order }
        return later.contains { $0.isGivenUp || carries($0, change) }
    }

    /// Returns all changes that a client made to one entity.
    private func ofEntity(of change: Ledger.Change) -> [Ledger.Change] {
        changes.values.filter { $0.client == change.client && $0.born == change.born }
    }

    /// Returns whether the executed later change contains the values of the earlier one, except for values that
    /// were changed in between.
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

    /// Returns whether the row was created locally, never created at the service, and deleted locally, or
    /// refers to such a row. Its changes then need not be accounted for.
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

/// The judgement of change sets.
extension Judge {
    /// Returns the problems of changes that must be executed together or not at all, as sentences. These are
    /// the changes of each transaction, and those that the service received as a change set.
    fileprivate func problemsOfSets(in changes: [Ledger.Change]) -> [String] {
        var transactions: [[Int]: [Ledger.Change]] = [:]
        for change in changes {
            if let transaction = change.transaction {
                transactions[[change.client, transaction], default: []].append(change)
            }
        }
        let sent = history.changeSets.map { marks in
            // Several clients may delete the same row, so the other changes of the set identify the client.
            let client = marks.lazy.compactMap { self.changes[$0]?.client }.first
            return marks.compactMap { mark in client.flatMap { self.changes[Ledger.name(mark, $0)] } }
        }
        return Set((transactions.values + sent).compactMap { problem(ofSet: $0) }).sorted()
    }

    /// Returns the problem of one change set as a sentence.
    private func problem(ofSet changes: [Ledger.Change]) -> String? {
        let telling = changes.filter(isTelling)
        let made = telling.filter(hasActed)
        let missing = telling.first { change in
            // A person may withdraw one part of a change set and keep another.
            !hasActed(change) && (!change.isGivenUp || made.contains(where: \.isGivenUp))
        }
        guard let missing, let other = made.first else { return nil }
        return "\(missing.mark) of client \(missing.client), \(missing.text), did not act, "
            + "and \(other.mark), which was made together with it, did"
    }

    private func hasActed(_ change: Ledger.Change) -> Bool { history.acts[change.mark].map { $0.count > 0 } ?? false }

    /// Returns whether a change is evidence for the execution of its change set.
    private func isTelling(_ change: Ledger.Change) -> Bool {
        if neverWas(change.born) { return false }
        if change.isDeletion {
            // Others may have deleted the row, or the same client at another time.
            let isOfOthers = changes.values.contains { $0.mark == change.mark && $0.client != change.client }
            return change.timesMade == 1 && !isOfOthers && !history.deletedByOthers.contains(change.born)
        }
        guard !hasActed(change), change.mayBeFolded || change.isTakenUp else { return true }
        // The including change may have been outside the change set, or part of it.
        return !ofEntity(of: change).contains { $0.order > change.order }
    }
}

/// The actions of a service in a run.
struct ServiceHistory: Sendable {
    /// The executions of each change, by its mark.
    var acts: [String: Acts] = [:]
    /// The birth marks of the created rows.
    var births: Set<String> = []
    /// The marks of changes that the service refused at least once.
    var refusals: Set<String> = []
    /// The marks of changes that were sent again after the service had forgotten the first request.
    var forgotten: Set<String> = []
    /// The marks of changes in accepted change sets.
    var changeSets: Set<[String]> = []
    /// The birth marks of rows that another program deleted.
    var deletedByOthers: Set<String> = []
}

/// The executions of a change by the service.
struct Acts: Sendable {
    /// The number of executions.
    var count = 0
    /// The number of executions directly after an execution of the same change.
    var overItself = 0
    /// The affected rows and their previous marks, if any.
    var beforehand: Set<String> = []
    /// The mark of the row before each execution; `nil` if the row did not exist.
    var found: [String?] = []
    /// The values of the row after each execution, by property name.
    var rows: [[String: String]] = []
}
