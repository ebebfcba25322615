import ODataModel
import ODataService

/// A service that leaves the offset of instants out.
struct OffsetAssumingProvider: ProviderWrapper {
    let base: any ODataProvider
    let offset: Int

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        // What stayed encoded would be read elsewhere.
        var request = request
        request.format = nil
        let decoded = request
        return try await ODataDateTimeOffset.$assumedOffset.withValue(offset) { try await base.execute(decoded) }
    }
}
