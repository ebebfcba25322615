import ODataModel

extension TableStorage {
    /// All columns that statements may need, each once. A derived table with these columns can replace the table.
    var statementColumns: [String] {
        var names = digestColumns
        var seen = Set(names)
        func add(_ name: String?) {
            if let name, seen.insert(name).inserted { names.append(name) }
        }
        add(rowID)
        add(notLoaded)
        add(visibility?.ownerColumn)
        if case .column(let column) = etag { add(column) }
        for (_, storage) in navigation.sorted(by: { $0.key < $1.key }) {
            if case .join(_, let pairs) = storage { pairs.forEach { add($0.source) } }
        }
        return names
    }

    /// Returns the storage of a property. It is found by its ordinal in a type of the model, or by its name in a
    /// shape that transformations have created.
    func storage(of property: Property, _ ordinal: Int, shape: TypeShape, model: EntityDataModel) -> PropertyStorage? {
        if shape == self.shape { return ordinal < properties.count ? properties[ordinal] : nil }
        if model.shape(shape.name) == shape {
            let storages = properties(of: shape)
            return ordinal < storages.count ? storages[ordinal] : nil
        }
        guard let own = self.shape.ordinal(of: property.name), own < properties.count else { return nil }
        return properties[own]
    }
}
