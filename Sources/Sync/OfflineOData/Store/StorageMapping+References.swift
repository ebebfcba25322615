import GRDB
import ODataModel
import ODataSQL

extension StorageMapping {
    /// The rows to which an entity refers by the foreign key of a navigation property: none without a foreign
    /// key, or if a part of it is null or not loaded.
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
