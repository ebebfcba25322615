import ODataModel
import ODataService

/// A service that leaves the offset of instants out.
struct OffsetAssumingProvider: ODataProvider {
    let base: any ODataProvider
    let offset: Int

    var capabilities: ServiceCapabilities? { base.capabilities }
    var model: EntityDataModel { get async throws { try await base.model } }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        // What stayed encoded would be read elsewhere.
        var request = request
        request.format = nil
        let decoded = request
        return try await ODataDateTimeOffset.$assumedOffset.withValue(offset) { try await base.execute(decoded) }
    }
}
