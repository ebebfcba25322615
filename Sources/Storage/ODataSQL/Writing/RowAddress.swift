import ODataModel

/// The address of a row in a service.
struct RowAddress {
    /// The entity set, the singleton, or the path of a contained collection.
    var set: String
    /// The key; `nil` for a singleton.
    var key: EntityKey?
    /// The row id of the containing entity, for a contained collection.
    var parent: Int64?
}

extension RowWriter.WrittenRow {
    /// The address of the row.
    var address: RowAddress { RowAddress(set: set, key: entity.key, parent: parent) }
}
