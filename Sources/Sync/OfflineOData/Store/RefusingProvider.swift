import ErrorCodes
import ODataService

/// A service with a client that refuses requests which the metadata exclude. The refusal is turned into a
/// response of the service, so that reads and uploads handle only one kind of refusal.
struct RefusingProvider: ProviderWrapper {
    /// The code of requests that were refused before they were sent.
    static let code = "NotSupported"

    let base: any ODataProvider

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        do {
            return try await base.execute(request)
        } catch let error as any CodedError where error.errorCode == .unsupportedByService {
            let set = error.errorArguments["set"] ?? ""
            let refusal = ODataError(
                status: Self.status(of: request, feature: error.errorArguments["feature"]), code: Self.code,
                message: String(describing: error), target: set.isEmpty ? nil : set)
            // Nothing of the batch was sent. This does not show whether the service accepts batches.
            if case .batch(let items) = request.body {
                return ODataResponse(
                    status: 200, body: .batch(items.map { BatchResult(id: $0.id, result: .failure(refusal)) }))
            }
            throw refusal
        }
    }

    /// A refused read may be possible in another form, and a change of single properties as a change of the whole
    /// entity. Any other change is not allowed.
    private static func status(of request: ODataRequest, feature: String?) -> Int {
        if request.method == .read { return 501 }
        return feature == "PATCH" ? 405 : 403
    }
}
