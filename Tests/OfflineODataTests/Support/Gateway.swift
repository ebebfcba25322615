import ODataHTTP
import ODataModel
import ODataQuery
import ODataService

/// What stands between a store and its service and does to requests and answers what networks and services do.
struct Gateway: ODataProvider {
    let base: any ODataProvider
    /// May answer or refuse a request before it reaches the service.
    var before: @Sendable (ODataRequest) async throws -> ODataResponse? = { _ in nil }
    /// May change the answer, or lose it: the service has acted.
    var after: @Sendable (ODataRequest, ODataResponse) async throws -> ODataResponse = { $1 }

    var model: EntityDataModel { get async throws { try await base.model } }

    var traits: ProviderTraits { .standard }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        if let answer = try await before(request) { return answer }
        // What is changed must be decoded.
        var request = request
        request.format = nil
        return try await after(request, try await base.execute(request))
    }
}
