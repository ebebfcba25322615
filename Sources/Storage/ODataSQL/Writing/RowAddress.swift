import ODataModel

/// The place of a row among those of a service.
struct RowAddress {
    /// The entity set, singleton, or path of a contained collection.
    var set: String
    /// The key; `nil` for a singleton.
    var key: EntityKey?
    /// For a contained collection, the row id of the containing entity.
    var parent: Int64?
}

extension RowWriter.WrittenRow {
    /// The place of the row.
    var address: RowAddress { RowAddress(set: set, key: entity.key, parent: parent) }
}
