import ODataModel
import ODataService

/// The order of items in a delta, in which the last item about an entity takes precedence (OData JSON Format 4.01,
/// 15).
///
/// A page has separate lists of entities and removed entities, so that it does not contain the order.
struct DeltaOrder {
    /// The number of entities before each removed entity.
    private var removedBehind: [Int] = []

    mutating func noteRemoval(behind count: Int) { removedBehind.append(count) }

    /// Removes items that a later item about the same entity replaces.
    ///
    /// - Parameter keyInID: returns the key in an id.
    func settle(_ page: inout EntityPage, keyInID: (String) -> EntityKey?) {
        guard !removedBehind.isEmpty, !page.entities.isEmpty else { return }
        var lastCome: [EntityKey: Int] = [:]
        for (index, entity) in page.entities.enumerated() {
            if let key = entity.key { lastCome[key] = index }
        }
        var lastGone: [EntityKey: Int] = [:]
        page.removed = zip(page.removed, removedBehind).filter { removed, position in
            guard let key = removed.key ?? keyInID(removed.id), let come = lastCome[key] else { return true }
            guard come < position else { return false }
            lastGone[key] = position
            return true
        }.map { $0.0 }
        guard !lastGone.isEmpty else { return }
        page.entities = page.entities.enumerated().filter { index, entity in
            guard let gone = entity.key.flatMap({ lastGone[$0] }) else { return true }
            return index >= gone
        }.map { $0.element }
    }
}
