import ODataModel
import ODataSQL

extension StorageMapping {
    /// The navigation properties over the same columns in the other direction: from the target of a foreign key
    /// to the entities that have the key, or the reverse.
    func opposites(of navigation: NavigationProperty, of table: TableStorage) -> [NavigationProperty] {
        guard case .join(let target, let pairs)? = table.navigation[navigation.name], let other = tables[target] else {
            return []
        }
        let back = Set(pairs.map { NavigationStorage.ColumnPair(source: $0.target, target: $0.source) })
        return other.shape.navigationProperties.filter { candidate in
            guard case .join(table.set, let others)? = other.navigation[candidate.name] else { return false }
            return Set(others) == back
        }
    }
}
