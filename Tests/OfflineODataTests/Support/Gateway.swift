import ODataHTTP
import ODataModel
import ODataQuery
import ODataService

/// A provider between a store and its service that simulates faults of networks and services.
struct Gateway: ODataProvider {
    let base: any ODataProvider
    /// A closure that may answer or refuse a request before it reaches the service.
    var before: @Sendable (ODataRequest) async throws -> ODataResponse? = { _ in nil }
    /// A closure that may change or lose the response after the service has executed the request.
    var after: @Sendable (ODataRequest, ODataResponse) async throws -> ODataResponse = { $1 }

    var model: EntityDataModel { get async throws { try await base.model } }

    var traits: ProviderTraits { .standard }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        if let answer = try await before(request) { return answer }
        // The response must be decoded before it can be changed.
        var request = request
        request.format = nil
        return try await after(request, try await base.execute(request))
    }
}
