import GRDB
import ODataModel
import ODataSQL

extension StorageMapping {
    /// The rows that an entity refers to by the foreign key of a navigation property: none where it has no foreign key, or where
    /// a part of that is null or not loaded.
    func rows(
        referredToBy entity: ODataEntity, _ navigation: NavigationProperty, of table: TableStorage,
        in database: Database
    ) throws -> [RowReference] {
        guard let target = table.navigation[navigation.name]?.target, let related = tables[target],
            !navigation.constraints.isEmpty
        else { return [] }
        var values: [String: ODataValue] = [:]
        for constraint in navigation.constraints {
            if let value = entity[constraint.property], !value.isNull { values[constraint.referencedProperty] = value }
        }
        guard values.count == navigation.constraints.count else { return [] }
        return try Rows.all(related, values, in: database).map { RowReference(set: target, rowID: $0) }
    }
}
