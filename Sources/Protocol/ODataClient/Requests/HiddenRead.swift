import ODataHTTP
import ODataQuery
import ODataService

/// A read that goes within a batch of one, so that its URL, which may say something personal, stands in the body and
/// not in the logs of whatever is on the way.
struct HiddenRead {
    let batch: ODataRequest

    /// - Returns: `nil` for what cannot stand in a batch, or says nothing: changes, streams, metadata, the service
    ///   document.
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

    /// The answer to the read.
    func answer(from response: ODataResponse) throws -> ODataResponse {
        guard case .batch(let results) = response.body, let result = results.first else {
            throw InvalidResponseError(
                status: response.status, problem: .malformed("the batch has no answer"), url: "$batch")
        }
        return try result.result.get()
    }
}
