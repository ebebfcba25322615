import ODataHTTP
import ODataQuery
import ODataService

/// A read that is sent in a batch of one. Its URL, which may contain personal data, is then in the body and
/// does not appear in the logs of intermediaries.
struct HiddenRead {
    let batch: ODataRequest

    /// - Returns: `nil` for requests that cannot be part of a batch or have a harmless URL: changes, streams,
    ///   metadata and the service document.
    init?(_ request: ODataRequest) {
        guard request.method == .read, request.format == nil else { return nil }
        switch request.url.path.segments.last {
        case .metadata?, .batch?, .value?: return nil
        case nil where request.link == nil: return nil
        default: break
        }
        batch = ODataRequest(
            .create, ODataURL(path: ResourcePath([.batch])), body: .batch([BatchItem(id: "1", request: request)]))
    }

    /// Returns the response to the read from the response to the batch.
    func answer(from response: ODataResponse) throws -> ODataResponse {
        guard case .batch(let results) = response.body, let result = results.first else {
            throw InvalidResponseError(
                status: response.status, problem: .malformed("the batch has no answer"), url: "$batch")
        }
        return try result.result.get()
    }
}
