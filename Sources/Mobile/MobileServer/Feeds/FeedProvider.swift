import ODataModel
import ODataService

/// A back end with a shared query that is answered from a feed.
struct FeedProvider: ProviderWrapper {
    let base: any ODataProvider
    let reader: FeedReader
    /// The definition of the request that this provider answers.
    let definition: FeedDefinition

    var traits: ProviderTraits {
        var traits = base.traits
        traits.capabilities?.trackedSets = [definition.codec.set.name]
        return traits
    }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        guard request.method == .read,
            FeedKey.canonical(request.url, of: definition.codec.shape) == definition.canonical
        else {
            return try await base.execute(request)
        }
        return try await reader.answer(request, definition)
    }
}
