import ODataHTTP
import ODataModel
import ODataQuery
import ODataService

/// Answers that something is not there.
extension Uploader {
    /// Makes sure that it is the service which says that something is not there. While it is deployed anew, or a route to it is
    /// wrong, what is on the way says so of everything, in words of its own; but so do services that have no words for it.
    ///
    /// - Throws: what keeps the service from answering; `InvalidResponseError` where nothing at its address is OData.
    func confirm(_ refusal: ODataError) async throws {
        guard refusal.code.isEmpty, refusal.repeatabilityResult == nil else { return }
        // Every service has metadata, and hardly one no service document, which is smaller.
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
    /// Whether it says that something is not there.
    var isNotFound: Bool { status == 404 || status == 410 }
}
