import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import ODataStore

/// Changes of a served database. Each request, and each change set, runs in one transaction, which also records
/// row versions and the response for repeated requests.
extension ServedDatabase {
    /// Returns the response to a request that changes the database.
    func change(_ request: ODataRequest) async throws -> ODataResponse {
        let bound = try writing.bind(request)
        let prepared = try await writing.prepared(request, bound)
        let budget = request.context.budget
        let responses = try await transact([request]) { [self] database in
            try budget.running(on: database) { [try perform(prepared, bound, in: database)] }
        }
        guard let response = responses.first else { throw ODataError.notImplemented(request.method.rawValue) }
        return await shown(response, request)
    }

    /// Runs a transaction that takes effect once, even if its request is repeated.
    ///
    /// - Parameters:
    ///   - requests: the requests, for their identification.
    ///   - body: a closure that changes the database and returns a response to each request.
    func transact(
        _ requests: [ODataRequest], _ body: @escaping @Sendable (Database) throws -> [ODataResponse]
    ) async throws -> [ODataResponse] {
        var identification: (request: RepeatableRequest, fingerprint: String)?
        let lifetime = Int64(options.repeatabilityLifetime)
        if let given = try Repeatability.shared(by: requests), tracker != nil {
            identification = (
                try RepeatableRequest(requests, given, now: now, lifetime: lifetime),
                RememberedRequests.fingerprint(requests.map { $0.digested(model) })
            )
        }
        let commit = ServedCommit(
            tracker: tracker, identification: identification, now: now, lifetime: lifetime, atStep: options.atStep)
        do {
            let budget = requests.first?.context.budget
            let outcome = try await budget.shielding { [connections] in
                try await connections.writer.writeWithoutTransaction { database in
                    try commit.run(in: database, body)
                }
            }
            switch outcome {
            case .acted(var responses):
                guard identification != nil else { return responses }
                for index in responses.indices { responses[index].repeatabilityResult = .accepted }
                return responses
            case .actedBefore(let answers): return try await repeated(answers, to: requests)
            }
        } catch {
            var refusal = ODataError(translating: error)
            // The request was processed as a repeatable request, even though it failed.
            if identification != nil, refusal.repeatabilityResult == nil { refusal.repeatabilityResult = .accepted }
            throw refusal
        }
    }

    /// Returns the stored responses to repeated requests, with the current state of their entities.
    private func repeated(
        _ answers: [RememberedRequests.Answer], to requests: [ODataRequest]
    ) async throws -> [ODataResponse] {
        var responses: [ODataResponse] = []
        for (answer, request) in zip(answers, requests) {
            responses.append(
                try await answer.response(to: request) { try await plainRead($0.sharing(request.context.budget)) })
        }
        return responses
    }

    // MARK: Batches

    /// Returns the responses to the requests of a batch in order. Each change set is one transaction.
    func batch(_ items: [BatchItem], of request: ODataRequest) async throws -> ODataResponse {
        let budget = request.context.budget
        budget?.share(among: items.count)
        return try await BatchRun(
            model: model, single: { try await self.execute($0.sharing(budget)) },
            changeSet: { requests, resolve in
                let requests = requests.map { $0.sharing(budget) }
                let responses = try await self.transact(requests) { database in
                    try budget.running(on: database) {
                        try resolve(requests) { try self.perform($0, try self.writing.bind($0), in: database) }
                    }
                }
                var shown: [ODataResponse] = []
                for (response, request) in zip(responses, requests) {
                    shown.append(await self.shown(response, request))
                }
                return shown
            }, observer: request.batchObserver
        ).run(items, continueOnError: request.preferences.continueOnError)
    }

    // MARK: After a crash

    /// Settles the intents that a terminated process has left.
    func settleIntents() async throws {
        // Intents are settled with a rollback journal, too: the database may have had a write-ahead log when the
        // process terminated.
        guard let tracker, !options.isReadOnly else { return }
        let lifetime = Int64(options.repeatabilityLifetime)
        let now = now
        try await connections.writer.writeWithoutTransaction { database in
            try CommitIntent.settleAll(tracker, in: database, now: now, lifetime: lifetime)
        }
    }
}
