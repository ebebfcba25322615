import ODataModel
import ODataService

/// A service without delta links and without repeatable requests, as many back ends are: for trying what a mobile server
/// adds to them.
struct PlainService: ProviderWrapper {
    let base: any ODataProvider

    var traits: ProviderTraits {
        var traits = base.traits
        traits.capabilities?.trackedSets = []
        traits.capabilities?.supportsRepeatableRequests = false
        return traits
    }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        var request = Self.plain(request)
        if case .batch(var items) = request.body {
            for index in items.indices { items[index].request = Self.plain(items[index].request) }
            request.body = .batch(items)
        }
        return try await base.execute(request)
    }

    private static func plain(_ request: ODataRequest) -> ODataRequest {
        var request = request
        request.preferences.trackChanges = false
        request.repeatability = nil
        return request
    }
}
