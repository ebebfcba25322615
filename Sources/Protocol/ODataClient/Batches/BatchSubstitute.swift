import ODataHTTP
import ODataModel
import ODataQuery
import ODataService

/// Carries out the requests of a batch one by one, for services without batches. What a batch promises is kept:
/// order, stopping at the first refusal, dependence; and so is what has acted, when a later request does not get through.
struct BatchSubstitute: Sendable {
    let items: [BatchItem]
    let continuesOnError: Bool

    /// Refuses what only a batch can do: requests that succeed or fail together, and addresses that an earlier
    /// request of the batch makes.
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
                // As in an answer to a batch: a change with an unreadable answer was done all the same.
                if item.request.method != .read, (200..<300).contains(error.status) {
                    results.append(BatchResult(id: item.id, result: .success(ODataResponse(status: error.status))))
                    hasActed = true
                } else {
                    refuse(item, ODataError(status: 502, code: "InvalidResponse", message: error.description))
                }
            } catch let error where hasActed {
                // The error alone would say that the whole batch can be sent again.
                results.append(BatchResult(id: item.id, result: .failure(Self.interruption(error))))
                break
            }
        }
        return ODataResponse(body: .batch(results))
    }

    /// What stands for the request at which the way to the service ended; those after it have no result.
    private static func interruption(_ error: any Error) -> ODataError {
        let isUnsent = (error as? TransportError)?.isCertainlyUnsent ?? false
        return ODataError(status: isUnsent ? 503 : 502, code: "Unreachable", message: "\(error)")
    }
}
