import ODataService

/// A provider that answers reads and refuses changes.
struct ReadOnlyProvider: ProviderWrapper {
    let base: any ODataProvider

    /// The traits of the base, which cannot be changed.
    var traits: ProviderTraits {
        var traits = base.traits
        var capabilities = traits.capabilities ?? PublishedCapabilities()
        capabilities.isReadOnly = true
        traits.capabilities = capabilities
        return traits
    }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        if case .batch(let items) = request.body { return try await batch(items, request) }
        if let refusal = refusal(of: request) { throw refusal }
        return try await base.execute(request)
    }

    private func refusal(of request: ODataRequest) -> ODataError? {
        request.method == .read ? nil : .methodNotAllowed(request.method, allowed: ["GET"])
    }

    /// Refuses the changes in a batch and their dependants; the other requests are answered.
    private func batch(_ items: [BatchItem], _ request: ODataRequest) async throws -> ODataResponse {
        let screening = BatchScreening(items, continuesOnError: request.preferences.continueOnError) {
            refusal(of: $0.request)
        }
        var readable = request
        readable.body = .batch(screening.items)
        var answered: [BatchResult] = []
        if !screening.items.isEmpty, case .batch(let results) = try await base.execute(readable).body {
            answered = results
        }
        return ODataResponse(body: .batch(screening.results(with: answered)))
    }
}
