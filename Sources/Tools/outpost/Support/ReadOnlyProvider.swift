import ODataModel
import ODataService

/// A provider that answers what reads and refuses what changes.
struct ReadOnlyProvider: ODataProvider {
    let base: any ODataProvider

    var model: EntityDataModel { get async throws { try await base.model } }
    var supportsIsolation: Bool { base.supportsIsolation }
    var queryLanguage: QueryLanguage { base.queryLanguage }

    var capabilities: ServiceCapabilities? {
        var capabilities = base.capabilities ?? ServiceCapabilities()
        capabilities.isReadOnly = true
        return capabilities
    }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        if case .batch(let items) = request.body { return try await batch(items, request) }
        if let refusal = refusal(of: request) { throw refusal }
        return try await base.execute(request)
    }

    private func refusal(of request: ODataRequest) -> ODataError? {
        request.method == .read ? nil : .methodNotAllowed(request.method, allowed: ["GET"])
    }

    /// Refuses the requests of a batch that change something, and what depends on them; the others are answered.
    private func batch(_ items: [BatchItem], _ request: ODataRequest) async throws -> ODataResponse {
        var refused: [String: ODataError] = [:]
        var groups: Set<String> = []
        for item in items {
            if let refusal = refusal(of: item.request) {
                refused[item.id] = refusal
                if let group = item.atomicityGroup { groups.insert(group) }
            } else if item.condition == nil,
                item.dependsOn.contains(where: { refused[$0] != nil || groups.contains($0) })
            {
                refused[item.id] = ODataError(
                    status: 424, code: "FailedDependency",
                    message: "A request that this one depends on was refused.")
            }
        }
        let goesOn = request.preferences.continueOnError
        // The first refusal ends a batch, unless the client wants to go on (OData Protocol 4.01, 11.7.2).
        let end = goesOn ? items.count : items.firstIndex { refused[$0.id] != nil }.map { $0 + 1 } ?? items.count
        var readable = request
        readable.body = .batch(
            items[..<end].filter { refused[$0.id] == nil }.map { item in
                var item = item
                item.condition = item.condition?.assuming(failed: refused.keys)
                return item
            })
        var answers: [String: BatchResult] = [:]
        if case .batch(let answered) = try await base.execute(readable).body {
            for answer in answered { answers[answer.id] = answer }
        }
        let hasFailed = answers.values.contains { if case .failure = $0.result { true } else { false } }
        let results = items[..<end].compactMap { item in
            if let answer = answers[item.id] { return answer }
            guard goesOn || !hasFailed, let refusal = refused[item.id] else { return nil }
            return BatchResult(id: item.id, result: .failure(refusal))
        }
        return ODataResponse(body: .batch(results))
    }
}
