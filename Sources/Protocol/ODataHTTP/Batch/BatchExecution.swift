import ODataService

/// Executes a batch that may contain unreadable requests.
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
        var request = incoming.request
        let screening = BatchScreening(incoming.parts, continuesOnError: request.preferences.continueOnError) { part in
            if case .failure(let error) = part.result { error } else { nil }
        }
        if screening.isWhole { return try await provider.execute(request) }
        request.body = .batch(screening.items)
        var response = screening.items.isEmpty ? ODataResponse() : try await provider.execute(request)
        var answered: [BatchResult] = []
        if case .batch(let results) = response.body { answered = results }
        response.body = .batch(screening.results(with: answered))
        return response
    }
}
