import ErrorCodes
import ODataService

/// A service whose client refuses beforehand what the metadata says the service cannot do: the refusal is taken as the answer
/// that the service would have given, so that whatever reads or sends has one way of hearing a no.
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
            // Nothing of a batch was sent; that the service has batches is not in question.
            if case .batch(let items) = request.body {
                return ODataResponse(
                    status: 200, body: .batch(items.map { BatchResult(id: $0.id, result: .failure(refusal)) }))
            }
            throw refusal
        }
    }

    /// A read that is not possible so may be possible otherwise, and a change of single properties as one of the whole;
    /// any other change is not allowed.
    private static func status(of request: ODataRequest, feature: String?) -> Int {
        if request.method == .read { return 501 }
        return feature == "PATCH" ? 405 : 403
    }
}
