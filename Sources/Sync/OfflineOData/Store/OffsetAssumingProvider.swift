import ODataModel
import ODataService

/// A provider for a service that leaves out the offset of instants.
struct OffsetAssumingProvider: ProviderWrapper {
    let base: any ODataProvider
    let offset: Int

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        // An encoded body would be read without the assumed offset.
        var request = request
        request.format = nil
        let decoded = request
        return try await ODataDateTimeOffset.$assumedOffset.withValue(offset) { try await base.execute(decoded) }
    }
}
