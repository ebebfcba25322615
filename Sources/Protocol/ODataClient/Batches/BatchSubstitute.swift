import ODataHTTP
import ODataModel
import ODataQuery
import ODataService

/// Sends the requests of a batch one by one, for services without batch support.
///
/// The promises of a batch hold: order, the stop at the first refusal, and dependencies. The results of
/// completed requests are also kept if a later request does not reach the service.
struct BatchSubstitute: Sendable {
    let items: [BatchItem]
    let continuesOnError: Bool

    /// Refuses features that only a batch can provide: change sets, and references to entities that an earlier
    /// request of the batch creates.
    ///
    /// - Throws: ``CapabilityError``.
    static func requireIndependence(_ items: [BatchItem]) throws(CapabilityError) {
        let term = Vocabulary.capabilities + "BatchSupported"
        var sizes: [String: Int] = [:]
        for item in items {
            if let group = item.atomicityGroup { sizes[group, default: 0] += 1 }
            if case .name(let name, _)? = item.request.url.path.segments.first, name.text.hasPrefix("$") {
                throw CapabilityError(feature: "references within a batch", property: name.text, term: term)
            }
        }
        if let (group, _) = sizes.first(where: { $0.value > 1 }) {
            throw CapabilityError(feature: "change sets", property: group, term: term)
        }
    }

    func run(_ perform: (ODataRequest) async throws -> ODataResponse) async throws -> ODataResponse {
        var results: [BatchResult] = []
        var progress = BatchProgress(continuesOnError: continuesOnError)
        var hasActed = false
        func refuse(_ item: BatchItem, _ error: ODataError) {
            progress.fail([item])
            results.append(BatchResult(id: item.id, result: .failure(error)))
        }
        for item in items {
            if progress.hasEnded { break }
            if let refusal = progress.refusal(dependingOn: item.dependsOn) {
                refuse(item, refusal)
                continue
            }
            do {
                results.append(BatchResult(id: item.id, result: .success(try await perform(item.request))))
                hasActed = hasActed || item.request.method != .read
            } catch let error as ODataError {
                refuse(item, error)
            } catch let error as InvalidResponseError {
                // As in a batch response: a change with a success status was carried out, even if its response
                // is unreadable.
                if item.request.method != .read, (200..<300).contains(error.status) {
                    results.append(BatchResult(id: item.id, result: .success(ODataResponse(status: error.status))))
                    hasActed = true
                } else {
                    refuse(item, ODataError(status: 502, code: "InvalidResponse", message: error.description))
                }
            } catch let error where hasActed {
                // The error alone would suggest that the whole batch can be sent again.
                results.append(BatchResult(id: item.id, result: .failure(Self.interruption(error))))
                break
            }
        }
        return ODataResponse(body: .batch(results))
    }

    /// Returns the result of the request at which the connection failed. The requests after it have no result.
    private static func interruption(_ error: any Error) -> ODataError {
        let isUnsent = (error as? TransportError)?.isCertainlyUnsent ?? false
        return ODataError(status: isUnsent ? 503 : 502, code: "Unreachable", message: "\(error)")
    }
}
