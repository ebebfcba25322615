import ODataQuery
import ODataService

/// Carries out the requests of a batch one by one, for services without batches. What a batch promises is kept:
/// order, stopping at the first refusal, dependence.
struct BatchSubstitute: Sendable {
    let items: [BatchItem]
    let continuesOnError: Bool

    /// Refuses what only a batch can do: requests that succeed or fail together, and addresses that an earlier
    /// request of the batch makes.
    ///
    /// - Throws: ``CapabilityError``.
    static func requireIndependence(_ items: [BatchItem]) throws(CapabilityError) {
        let term = "Org.OData.Capabilities.V1.BatchSupported"
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
        var refused: Set<String> = []
        for item in items {
            if !refused.isEmpty, !continuesOnError { break }
            guard refused.isDisjoint(with: item.dependsOn) else {
                refused.formUnion([item.id] + (item.atomicityGroup.map { [$0] } ?? []))
                let error = ODataError(
                    status: 424, code: "FailedDependency", message: "A request that this one depends on was refused.")
                results.append(BatchResult(id: item.id, result: .failure(error)))
                continue
            }
            do {
                results.append(BatchResult(id: item.id, result: .success(try await perform(item.request))))
            } catch let error as ODataError {
                refused.formUnion([item.id] + (item.atomicityGroup.map { [$0] } ?? []))
                results.append(BatchResult(id: item.id, result: .failure(error)))
            }
        }
        return ODataResponse(body: .batch(results))
    }
}
