import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Requests that change something: each, and each change set, one transaction with its row versions and its
/// answer to repeats.
extension ServedDatabase {
    /// Answers a request that changes something.
    func change(_ request: ODataRequest) async throws -> ODataResponse {
        let bound = try writing.bind(request)
        let prepared = try await writing.prepared(request, bound)
        let responses = try await transact([request]) { [writing] database in
            [try writing.perform(prepared, bound, in: database)]
        }
        guard let response = responses.first else { throw ODataError.notImplemented(request.method.rawValue) }
        let completed = try await writing.completed(response, request)
        return completed
    }

    /// Runs one transaction that acts once, however often it is asked for with the same id.
    ///
    /// - Parameters:
    ///   - requests: the requests, for their identification.
    ///   - body: changes the database and gives an answer to each request.
    func transact(
        _ requests: [ODataRequest], _ body: @escaping @Sendable (Database) throws -> [ODataResponse]
    ) async throws -> [ODataResponse] {
        var identification: (request: RepeatableRequest, fingerprint: String)?
        let lifetime = Int64(options.repeatabilityLifetime)
        if let given = try Self.repeatability(of: requests), tracker != nil {
            identification = (
                try RepeatableRequest(given, now: now, lifetime: lifetime), RememberedRequests.fingerprint(requests)
            )
        }
        let commit = ServedCommit(
            tracker: tracker, identification: identification, now: now, lifetime: lifetime, atStep: options.atStep)
        do {
            let outcome = try await connections.writer.writeWithoutTransaction { database in
                try commit.run(in: database, body)
            }
            switch outcome {
            case .acted(var responses):
                guard identification != nil else { return responses }
                for index in responses.indices { responses[index].repeatabilityResult = .accepted }
                return responses
            case .actedBefore(let answers): return try await repeated(answers)
            }
        } catch {
            var refusal = ODataError(translating: error)
            // The request was taken as a repeatable one, whatever became of it.
            if identification != nil, refusal.repeatabilityResult == nil { refusal.repeatabilityResult = .accepted }
            throw refusal
        }
    }

    /// The one identification of the requests of a change set (rule 2).
    private static func repeatability(of requests: [ODataRequest]) throws -> Repeatability? {
        let all = requests.compactMap(\.repeatability)
        guard let first = all.first else { return nil }
        guard all.count == requests.count, all.allSatisfy({ $0 == first }) else {
            throw ODataError(
                status: 400, code: "InvalidRepeatability",
                message: "The requests of a change set must share one Repeatability-Request-ID.",
                target: "Repeatability-Request-ID", repeatabilityResult: .rejected)
        }
        return first
    }

    /// Answers to a repeat: as the first time, with the entities as they are now.
    private func repeated(_ answers: [RememberedRequests.Answer]) async throws -> [ODataResponse] {
        var responses: [ODataResponse] = []
        for answer in answers {
            var response = ODataResponse(status: answer.status, etag: answer.etag)
            response.location = answer.location
            response.entityID = answer.entityID
            response.preferencesApplied = answer.preferencesApplied
            response.repeatabilityResult = .accepted
            if let id = answer.returned {
                do {
                    let read = try await reader.execute(ODataRequest(.read, try ODataURL(parsing: id)))
                    response.body = read.body
                    response.etag = read.etag
                } catch let error as ODataError where error.status == 404 {
                    // It acted, yet somebody deleted the entity since.
                    response.status = 204
                    response.entityID = response.entityID ?? id
                }
            }
            responses.append(response)
        }
        return responses
    }

    // MARK: Batches

    /// Answers the requests of a batch in order; each change set is one transaction.
    func batch(_ items: [BatchItem], continueOnError: Bool) async throws -> ODataResponse {
        var results: [BatchResult] = []
        var references = ContentReferences(model: model)
        var failed: Set<String> = []
        var position = 0
        while position < items.count {
            try Task.checkCancellation()
            let group = items[position].atomicityGroup
            let end = items[position...].firstIndex { group == nil || $0.atomicityGroup != group } ?? items.endIndex
            let unit = Array(items[position..<max(end, position + 1)])
            position += unit.count
            let outcome: [BatchResult]
            if let missing = unit.lazy.flatMap(\.dependsOn).first(where: failed.contains) {
                let error = ODataError(
                    status: 424, code: "FailedDependency", message: "The request \(missing) before it failed.")
                outcome = unit.map { BatchResult(id: $0.id, result: .failure(error)) }
            } else if group == nil {
                outcome = [await single(unit[0], &references)]
            } else {
                outcome = await changeSet(unit, &references)
            }
            results += outcome
            guard outcome.contains(where: { (try? $0.result.get()) == nil }) else { continue }
            failed.formUnion(unit.map(\.id))
            if let group { failed.insert(group) }
            if !continueOnError { break }
        }
        return ODataResponse(body: .batch(results))
    }

    private func single(_ item: BatchItem, _ references: inout ContentReferences) async -> BatchResult {
        do {
            let request = try references.resolve(item.request)
            if case .batch = request.body {
                throw ODataError(status: 400, code: "InvalidBatch", message: "A batch cannot hold a batch.")
            }
            let response = try await execute(request)
            references.note(response, for: item.id, request: request)
            return BatchResult(id: item.id, result: .success(response))
        } catch {
            return BatchResult(id: item.id, result: .failure(ODataError(translating: error)))
        }
    }

    private func changeSet(_ unit: [BatchItem], _ references: inout ContentReferences) async -> [BatchResult] {
        let before = references
        do {
            if let read = unit.first(where: { $0.request.method == .read }) {
                throw ODataError(
                    status: 400, code: "InvalidBatch", message: "A change set cannot hold the read \(read.id).")
            }
            let responses = try await transact(unit.map(\.request)) { [writing] database in
                var references = before
                return try unit.map { item in
                    let request = try references.resolve(item.request)
                    let response = try writing.perform(request, try writing.bind(request), in: database)
                    references.note(response, for: item.id, request: request)
                    return response
                }
            }
            for (item, response) in zip(unit, responses) {
                let request = try references.resolve(item.request)
                references.note(response, for: item.id, request: request)
            }
            return zip(unit, responses).map { BatchResult(id: $0.id, result: .success($1)) }
        } catch {
            references = before
            let refusal = ODataError(translating: error)
            return unit.map { BatchResult(id: $0.id, result: .failure(refusal)) }
        }
    }

    // MARK: After a crash

    /// Settles what a process was about to commit when it died.
    func settleIntents() async throws {
        guard let tracker, tracker.side.queue != nil, !options.isReadOnly else { return }
        let lifetime = Int64(options.repeatabilityLifetime)
        let now = now
        try await connections.writer.writeWithoutTransaction { database in
            try CommitIntent.settleAll(tracker, in: database, now: now, lifetime: lifetime)
        }
    }
}
