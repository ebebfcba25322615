import Foundation
import GRDB
import ODataService
import ODataStore

/// A transaction on a served database and its side file.
///
/// With a rollback journal, SQLite commits both files in one transaction. With a write-ahead log, an intent is
/// written to the side file, the transaction is committed, and the result is recorded in the side file. After a
/// crash, open intents are settled by comparing the rows (``CommitIntent``).
struct ServedCommit: Sendable {
    /// The outcome of a transaction.
    enum Outcome: Sendable {
        /// The requests were executed.
        case acted([ODataResponse])
        /// The requests had been executed before.
        case actedBefore([RememberedRequests.Answer])
    }

    let tracker: ChangeTracker?
    let identification: (request: RepeatableRequest, fingerprint: String)?
    let now: Int64
    let lifetime: Int64
    let atStep: @Sendable (ServedDatabase.CommitStep) -> Void

    /// Runs the transaction.
    ///
    /// - Parameter database: the writing connection, outside a transaction.
    func run(in database: Database, _ body: (Database) throws -> [ODataResponse]) throws -> Outcome {
        if let outcome = try attempt(in: database, body) { return outcome }
        try tracker?.side.detach(from: database)
        guard let outcome = try attempt(in: database, body) else {
            throw DatabaseError(message: "the journal mode changes too often")
        }
        return outcome
    }

    /// Runs the transaction, if the side file can still be committed with it.
    ///
    /// - Returns: `nil` if another program has switched to a write-ahead log; nothing is done then.
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
                    // Intents that were not recorded as committed, by this or another server, are settled first.
                    // The server that wrote such an intent has released the write lock, so its transaction has
                    // ended.
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
                // Nothing was committed, so the intent must not stay open.
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
            // The change is committed, so the response is a success even if recording it fails or the caller has
            // cancelled. A comparison then finds the versions. The next transaction settles the intent, which
            // contains the responses for repeated requests.
            tracker.doubt()
        }
        return outcome
    }

    /// Returns the responses to an earlier transmission; `nil` if there was none.
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

    /// Records versions and responses in the side file.
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
