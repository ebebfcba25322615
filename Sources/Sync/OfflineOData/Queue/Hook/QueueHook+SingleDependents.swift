import GRDB
import ODataModel
import ODataSQL
import ODataService

/// Relations by a foreign key that lead to a single entity from the other end.
extension QueueHook {
    /// The queued requests of entities that had the foreign key which this entity gets. The key is free only
    /// after they have released it. If the service refuses the release, another client's entity has the key (rule
    /// 6).
    ///
    /// - Parameters:
    ///   - changes: the changed properties of the entity.
    ///   - entity: the entity after the change.
    func givers(
        of changes: ODataEntity, to entity: ODataEntity, rowID: Int64, table: TableStorage, in database: Database
    ) throws -> Set<Int64> {
        var found: Set<Int64> = []
        for names in mapping.singleForeignKeys(in: changes, of: table) {
            let traces = names.compactMap { name in entity[name].map { queue.snapshots.trace(of: $0, in: name) } }
            guard !traces.isEmpty else { continue }
            // Most requests never had the key. They are filtered out without decoding.
            let hasHad = traces.map { _ in "instr(base, ?) > 0" }.joined(separator: " OR ")
            var arguments: [any DatabaseValueConvertible] = [table.set, rowID]
            for trace in traces { arguments.append(trace) }
            let others = try queue.fetch(
                "WHERE entity_set = ? AND row_id <> ? AND kind IN ('update', 'delete') AND (\(hasHad))", arguments,
                in: database)
            for other in others {
                guard let base = other.base, names.contains(where: { base[$0] != nil }),
                    names.allSatisfy({ base[$0] == nil || base[$0] == entity[$0] })
                else { continue }
                found.insert(other.id)
            }
        }
        return found
    }
}

extension StorageMapping {
    /// The foreign keys that an entity gets and that only one entity may have, each as its properties.
    func singleForeignKeys(in changes: ODataEntity, of table: TableStorage) -> [[String]] {
        changes.shape.navigationProperties.filter { navigation in
            !navigation.isCollection
                && navigation.constraints.contains { changes[$0.property].map { !$0.isNull } ?? false }
                && opposites(of: navigation, of: table).contains { !$0.isCollection }
        }.map { $0.constraints.map(\.property) }
    }
}
