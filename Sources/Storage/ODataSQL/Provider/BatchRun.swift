import ODataModel
import ODataQuery
import ODataService

/// Answers the requests of a batch in order (OData Protocol 4.01, 11.7). A change set succeeds or fails as a whole:
/// when one of its requests is refused, all of them are answered with that refusal.
///
/// Without `continue-on-error` the first failure ends the batch, and nothing after it is answered. A request that
/// depends on one that failed is answered with 424. Who answers the requests is the provider's to say.
package struct BatchRun {
    private let model: EntityDataModel
    private let single: (ODataRequest) async throws -> ODataResponse
    private let changeSet: ([ODataRequest], @escaping Resolver) async throws -> [ODataResponse]
    private let observer: ODataRequest.BatchObserver?

    /// Gets the requests of a change set as they are to be performed; resolves what each refers to, performs it, and notes what
    /// it created or addressed.
    package typealias Resolver =
        @Sendable ([ODataRequest], (ODataRequest) throws -> ODataResponse) throws -> [ODataResponse]

    /// Makes a run.
    ///
    /// - Parameters:
    ///   - model: the model of the provider.
    ///   - single: answers a request that stands alone.
    ///   - changeSet: answers the requests of a change set in one transaction, with their references resolved by the
    ///     function that is given along.
    ///   - observer: told of the answers when they are there.
    package init(
        model: EntityDataModel, single: @escaping (ODataRequest) async throws -> ODataResponse,
        changeSet: @escaping ([ODataRequest], @escaping Resolver) async throws -> [ODataResponse],
        observer: ODataRequest.BatchObserver?
    ) {
        self.model = model
        self.single = single
        self.changeSet = changeSet
        self.observer = observer
    }

    /// Answers all.
    ///
    /// - Throws: `CancellationError` alone; what a request throws is its answer.
    package func run(_ items: [BatchItem], continueOnError: Bool) async throws -> ODataResponse {
        var results: [BatchResult] = []
        var references = ContentReferences(model: model)
        var progress = BatchProgress(continuesOnError: continueOnError)
        var outcomes: Outcomes = [:]
        for unit in BatchProgress.units(of: items) {
            if progress.hasEnded { break }
            try Task.checkCancellation()
            let outcome: [BatchResult]
            if let refusal = refusal(of: unit, progress, outcomes: outcomes) {
                outcome = unit.map { BatchResult(id: $0.id, result: .failure(refusal)) }
            } else if let item = unit.first, item.atomicityGroup == nil {
                outcome = [await answer(item, &references, outcomes: outcomes)]
            } else {
                outcome = await answer(unit, &references, outcomes: outcomes)
            }
            results += outcome
            await observer?(outcome)
            for result in outcome { outcomes[result.id] = result.result }
            if let group = unit.first?.atomicityGroup, let last = outcome.last { outcomes[group] = last.result }
            if outcome.contains(where: { (try? $0.result.get()) == nil }) { progress.fail(unit) }
        }
        return ODataResponse(body: .batch(results))
    }

    /// Why requests are not to be done: one before them failed, or what they ask of the answers before does not hold.
    private func refusal(
        of unit: [BatchItem], _ progress: BatchProgress, outcomes: Outcomes
    ) -> ODataError? {
        for item in unit {
            guard let condition = item.condition else {
                if let refusal = progress.refusal(of: item) { return refusal }
                continue
            }
            do {
                guard try condition.holds(after: outcomes, model: model) else {
                    return ODataError(
                        status: 424, code: "FailedDependency",
                        message: "The condition \(condition.text) does not hold.", target: "if")
                }
            } catch {
                return ODataError(translating: error)
            }
        }
        return nil
    }

    /// The answers so far, by the ids of their requests and groups.
    private typealias Outcomes = [String: Result<ODataResponse, ODataError>]

    /// A request with what it refers to of the requests before put in.
    private static func resolved(
        _ item: BatchItem, _ references: ContentReferences, outcomes: Outcomes
    ) throws -> ODataRequest {
        var request = try references.resolve(item.request)
        for (alias, reference) in item.values {
            request.url.options.aliases[alias] = .literal(Literal(try reference.value(after: outcomes, target: "url")))
        }
        return request
    }

    private func answer(
        _ item: BatchItem, _ references: inout ContentReferences, outcomes: Outcomes
    ) async -> BatchResult {
        do {
            let request = try Self.resolved(item, references, outcomes: outcomes)
            if case .batch = request.body {
                throw ODataError(status: 400, code: "InvalidBatch", message: "A batch cannot hold a batch.")
            }
            let response = try await single(request)
            references.note(response, for: item.id, request: request)
            return BatchResult(id: item.id, result: .success(response))
        } catch {
            return BatchResult(id: item.id, result: .failure(ODataError(translating: error)))
        }
    }

    private func answer(
        _ unit: [BatchItem], _ references: inout ContentReferences, outcomes: Outcomes
    ) async -> [BatchResult] {
        do {
            if let read = unit.first(where: { $0.request.method == .read }) {
                throw ODataError(
                    status: 400, code: "InvalidBatch", message: "A change set cannot hold the read \(read.id).")
            }
            let before = references
            let responses = try await changeSet(unit.map(\.request)) { requests, perform in
                var (references, outcomes) = (before, outcomes)
                return try zip(unit, requests).map { item, request in
                    var item = item
                    item.request = request
                    let request = try Self.resolved(item, references, outcomes: outcomes)
                    let response = try perform(request)
                    outcomes[item.id] = .success(response)
                    references.note(response, for: item.id, request: request)
                    return response
                }
            }
            for (item, response) in zip(unit, responses) {
                references.note(response, for: item.id, request: try references.resolve(item.request))
            }
            return zip(unit, responses).map { BatchResult(id: $0.id, result: .success($1)) }
        } catch {
            let refusal = ODataError(translating: error)
            return unit.map { BatchResult(id: $0.id, result: .failure(refusal)) }
        }
    }
}
