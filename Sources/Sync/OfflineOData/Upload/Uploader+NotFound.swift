import ODataHTTP
import ODataModel
import ODataQuery
import ODataService

/// Responses that report a missing resource.
extension Uploader {
    /// Makes sure that the service itself reports a missing resource. During a deployment, or with a wrong route,
    /// a gateway reports every resource as missing in its own words; but some services have no error body either.
    ///
    /// - Throws: the error that keeps the service from answering; `InvalidResponseError` if nothing at its
    ///   address is OData.
    func confirm(_ refusal: ODataError) async throws {
        guard refusal.code.isEmpty, refusal.repeatabilityResult == nil else { return }
        // Every service has metadata, and nearly every one a service document, which is smaller.
        for path in [ResourcePath([]), ResourcePath([.metadata])] where try await isThere(path) { return }
        throw InvalidResponseError(status: refusal.status, problem: .unknownContext(nil), url: "$metadata")
    }

    private func isThere(_ path: ResourcePath) async throws -> Bool {
        do {
            _ = try await remote.execute(ODataRequest(.read, ODataURL(path: path)))
            return true
        } catch let error as ODataError where !error.isOfCommunication {
            return !error.code.isEmpty
        } catch let error as InvalidResponseError {
            return error.isFromService
        }
    }
}

extension ODataError {
    /// Whether the error reports a missing resource.
    var isNotFound: Bool { status == 404 || status == 410 }
}
