/// A batch from which some requests were refused before a provider executes the rest.
///
/// A request is refused if it cannot be read or is not allowed. The other requests of its change set and the
/// requests that depend on it are refused as well.
package struct BatchScreening: Sendable {
    package let items: [BatchItem]
    private let continuesOnError: Bool
    private let refusals: [BatchResult]
    private let positions: [String: Int]

    /// Screens a batch.
    ///
    /// - Parameters:
    ///   - members: the requests in their order.
    ///   - continuesOnError: whether requests after a refused one are executed.
    ///   - refusal: returns the error of a request that cannot be executed; `nil` if it can.
    package init<Member: BatchMember>(
        _ members: [Member], continuesOnError: Bool, refusal: (Member) -> ODataError?
    ) {
        var progress = BatchProgress(continuesOnError: continuesOnError)
        var items: [BatchItem] = []
        var refusals: [BatchResult] = []
        for unit in BatchProgress.units(of: members) {
            if progress.hasEnded { break }
            let own = unit.map(refusal)
            let inherited = unit.lazy.compactMap { progress.refusal(of: $0) }.first
            guard inherited != nil || own.contains(where: { $0 != nil }) else {
                items += unit.compactMap(\.item).map { item in
                    var item = item
                    item.condition = item.condition?.assuming(failed: progress.failed)
                    return item
                }
                continue
            }
            let shared =
                inherited
                ?? ODataError(
                    status: 424, code: "FailedDependency", message: "A request of the same change set was refused.")
            refusals += zip(unit, own).map { BatchResult(id: $0.id, result: .failure($1 ?? shared)) }
            progress.fail(unit)
        }
        self.items = items
        self.continuesOnError = continuesOnError
        self.refusals = refusals
        positions = Dictionary(
            members.enumerated().map { ($0.element.id, $0.offset) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether no request was refused.
    package var isWhole: Bool { refusals.isEmpty }

    /// Merges the refusals into the results of ``items``, in the order of the batch.
    package func results(with answered: [BatchResult]) -> [BatchResult] {
        let hasFailed = answered.contains { if case .failure = $0.result { true } else { false } }
        let isComplete = answered.count == items.count && !hasFailed
        guard continuesOnError || isComplete else { return answered }
        return (answered + refusals).sorted { positions[$0.id, default: 0] < positions[$1.id, default: 0] }
    }
}
