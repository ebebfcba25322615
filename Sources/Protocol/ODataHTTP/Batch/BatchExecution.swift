import ODataService

/// Runs a batch of which some requests may be unreadable (OData Protocol 4.01, 11.7.2: the first refusal
/// ends a batch, unless the client prefers `continue-on-error`).
struct BatchExecution {
    let provider: any ODataProvider
    let incoming: IncomingRequest

    func run() async throws -> ODataResponse {
        var response = try await answer()
        if incoming.statesContinueOnError {
            let goesOn = incoming.request.preferences.continueOnError
            response.preferencesApplied.append(goesOn ? "continue-on-error" : "continue-on-error=false")
        }
        return response
    }

    private func answer() async throws -> ODataResponse {
        guard let unreadable = incoming.parts.first(where: { $0.item == nil }) else {
            return try await provider.execute(incoming.request)
        }
        let failures = failures()
        let goesOn = incoming.request.preferences.continueOnError
        var request = incoming.request
        var readable: [BatchItem] = []
        for part in incoming.parts {
            if failures[part.id] != nil {
                if goesOn { continue }
                break
            }
            if var item = part.item {
                item.condition = item.condition?.assuming(failed: failures.keys)
                readable.append(item)
            }
        }
        request.body = .batch(readable)
        var response = readable.isEmpty ? ODataResponse() : try await provider.execute(request)
        var results: [BatchResult] = []
        if case .batch(let answered) = response.body { results = answered }
        let isWhole = results.count == readable.count
        let hasFailed = results.contains { if case .failure = $0.result { true } else { false } }
        if goesOn {
            results += failures.map { BatchResult(id: $0.key, result: .failure($0.value)) }
        } else if isWhole, !hasFailed {
            // Those of an unreadable change set are refused together.
            let unit = incoming.parts.filter {
                $0.id == unreadable.id
                    || ($0.atomicityGroup != nil && $0.atomicityGroup == unreadable.atomicityGroup)
            }
            results += unit.compactMap { part in
                failures[part.id].map { BatchResult(id: part.id, result: .failure($0)) }
            }
        }
        let order = Dictionary(
            incoming.parts.enumerated().map { ($0.element.id, $0.offset) }, uniquingKeysWith: { first, _ in first })
        results.sort { order[$0.id, default: 0] < order[$1.id, default: 0] }
        response.body = .batch(results)
        return response
    }

    /// Why requests cannot be done: unreadable themselves, of a change set with an unreadable one, or
    /// dependent on one.
    private func failures() -> [String: ODataError] {
        var failures: [String: ODataError] = [:]
        var failedGroups: [String: ODataError] = [:]
        for part in incoming.parts {
            if case .failure(let error) = part.result {
                failures[part.id] = error
                if let group = part.atomicityGroup { failedGroups[group] = failedGroups[group] ?? error }
            }
        }
        // A change set may fail by a later request of it, and others depend on the set: until nothing more falls.
        var isSettled = false
        while !isSettled {
            isSettled = true
            for part in incoming.parts where failures[part.id] == nil {
                // A condition decides for itself what the failure of another request means.
                let isDependent =
                    part.condition == nil
                    && part.dependsOn.contains { failures[$0] != nil || failedGroups[$0] != nil }
                let isInFailedGroup = part.atomicityGroup.map { failedGroups[$0] != nil } ?? false
                guard isDependent || isInFailedGroup else { continue }
                let error = ODataError(
                    status: 424, code: "FailedDependency", message: "A request that this one depends on was refused.")
                failures[part.id] = error
                if let group = part.atomicityGroup { failedGroups[group] = failedGroups[group] ?? error }
                isSettled = false
            }
        }
        return failures
    }
}
