import ODataModel
import ODataQuery
import ODataService

/// Processes the requests of a batch in order (OData Protocol 4.01, 11.7).
///
/// A change set succeeds or fails as a whole: if one of its requests is refused, all of them have the same error.
/// Without `continue-on-error`, the first failure ends the batch, and later requests have no response. A request
/// that depends on a failed one has the error 424. The provider supplies the functions that process the requests.
package struct BatchRun {
    private let model: EntityDataModel
    private let single: (ODataRequest) async throws -> ODataResponse
    private let changeSet: ([ODataRequest], @escaping Resolver) async throws -> [ODataResponse]
    private let observer: ODataRequest.BatchObserver?

    /// A function that performs the requests of a change set. It resolves the references of each request, performs
    /// the request, and records the created or addressed entity.
    package typealias Resolver =
        @Sendable ([ODataRequest], (ODataRequest) throws -> ODataResponse) throws -> [ODataResponse]

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - model: the model of the provider.
    ///   - single: processes a request outside of change sets.
    ///   - changeSet: processes the requests of a change set in one transaction and calls the given function to
    ///     resolve their references.
    ///   - observer: receives the responses as soon as they exist.
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

    /// Processes all requests.
    ///
    /// - Throws: Only `CancellationError`; other errors become responses of their requests.
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

    /// Returns the error of requests that must not be processed, because an earlier request failed or their
    /// condition is false.
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

    /// The responses so far, by the ids of their requests and groups.
    private typealias Outcomes = [String: Result<ODataResponse, ODataError>]

    /// Returns a request with its references to earlier requests resolved.
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
                throw ODataError(status: 400, code: "InvalidBatch", message: "A batch cannot contain another batch.")
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
