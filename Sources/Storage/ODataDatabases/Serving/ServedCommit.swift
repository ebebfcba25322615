import Foundation
import GRDB
import ODataService
import ODataStore

/// One transaction on a foreign database together with what is kept beside it.
///
/// With a rollback journal both files are in one transaction, which SQLite commits as one. With a write-ahead
/// log the order is: intent beside, commit, mark beside; an intent that is still open after a crash is settled by
/// comparing the rows (``CommitIntent``).
struct ServedCommit: Sendable {
    /// What came of it.
    enum Outcome: Sendable {
        /// It acted now.
        case acted([ODataResponse])
        /// It had acted before.
        case actedBefore([RememberedRequests.Answer])
    }

    let tracker: ChangeTracker?
    let identification: (request: RepeatableRequest, fingerprint: String)?
    let now: Int64
    let lifetime: Int64
    let atStep: @Sendable (ServedDatabase.CommitStep) -> Void

    /// Runs the transaction.
    ///
    /// - Parameter database: the connection that writes, outside of a transaction.
    func run(in database: Database, _ body: (Database) throws -> [ODataResponse]) throws -> Outcome {
        if let outcome = try attempt(in: database, body) { return outcome }
        try tracker?.side.detach(from: database)
        guard let outcome = try attempt(in: database, body) else {
            throw DatabaseError(message: "the journal mode changes too often")
        }
        return outcome
    }

    /// Runs the transaction, unless the file beside cannot be committed with it any more.
    ///
    /// - Returns: `nil` where another program has turned to a write-ahead log; nothing is done then.
    private func attempt(in database: Database, _ body: (Database) throws -> [ODataResponse]) throws -> Outcome? {
        var outcome = Outcome.acted([])
        var touched: [TouchedRows.Row] = []
        var intent: Int64?
        var isOutdated = false
        do {
            try database.inTransaction(.immediate) {
                if let tracker, try tracker.side.isOutdated(in: database) {
                    isOutdated = true
                    return .rollback
                }
                if let tracker, tracker.side.queue != nil {
                    // An intent whose mark failed, or that another server left, is settled before anything is built on it:
                    // one that is about to mark what it has committed left the lock to us.
                    try CommitIntent.settleOpen(tracker, in: database, now: now, lifetime: lifetime)
                }
                if let tracker, let identification,
                    let answers = try tracker.side.use(in: database, { try remembered(identification, $0) })
                {
                    outcome = .actedBefore(answers)
                    return .rollback
                }
                let responses = try body(database)
                outcome = .acted(responses)
                touched = try TouchedRows.take(in: database)
                atStep(.changed)
                guard let tracker else { return .commit }
                if tracker.side.queue == nil {
                    try tracker.side.use(in: database) {
                        try mark(responses, touched, tracker: tracker, in: database, side: $0)
                    }
                } else if let identification {
                    let content = CommitIntent(
                        identification.request, fingerprint: identification.fingerprint,
                        answers: responses.map(RememberedRequests.Answer.init),
                        rows: try CommitIntent.rows(touched, tracker, in: database))
                    intent = try tracker.side.use(in: database) { try content.write(to: $0) }
                    atStep(.intended)
                }
                if tracker.readsTriggers, !touched.isEmpty {
                    try tracker.side.use(in: database) { try ChangeTriggers.prune($0, in: database) }
                }
                return .commit
            }
        } catch {
            if let intent, let tracker {
                // Nothing was committed: the intent must not be taken for an open one.
                try? tracker.side.use(in: database) { try CommitIntent.delete(intent, in: $0) }
            }
            throw error
        }
        if isOutdated { return nil }
        guard case .acted(let responses) = outcome, let tracker else { return outcome }
        atStep(.committed)
        guard tracker.side.queue != nil, intent != nil || !touched.isEmpty else { return outcome }
        do {
            try tracker.side.use(in: database) { side in
                try mark(responses, touched, tracker: tracker, in: database, side: side)
                if let intent { try CommitIntent.delete(intent, in: side) }
            }
        } catch {
            // The change is made, and that is the answer, whatever stands in the way of the mark: an error of the
            // file beside, or that nobody waits for the answer any more. Versions come from a comparison then, the
            // answer to repeats from the intent, which the next transaction settles.
            tracker.doubt()
        }
        return outcome
    }

    /// The answers to an earlier transmission; `nil` when there was none.
    private func remembered(
        _ identification: (request: RepeatableRequest, fingerprint: String), _ side: SideTables
    ) throws -> [RememberedRequests.Answer]? {
        switch try RememberedRequests.find(
            identification.request, fingerprint: identification.fingerprint, in: side)
        {
        case .new: return nil
        case .answered(let answers): return answers
        case .inDoubt:
            throw ODataError(
                status: 409, code: "RepeatInDoubt",
                message: """
                    Whether the request acted cannot be told: the server died meanwhile, and others changed the \
                    same rows since.
                    """)
        }
    }

    /// Keeps versions and answers.
    private func mark(
        _ responses: [ODataResponse], _ touched: [TouchedRows.Row], tracker: ChangeTracker, in database: Database,
        side: SideTables
    ) throws {
        try tracker.record(touched, in: database, side, now: now)
        guard let identification else { return }
        try RememberedRequests.keep(
            identification.request, fingerprint: identification.fingerprint,
            answers: responses.map(RememberedRequests.Answer.init), now: now, lifetime: lifetime, in: side)
    }
}
