extension TableStorage {
    /// The columns of an ``ETagStorage/contentDigest``, in order: ``columns``, the presence columns of complex
    /// values, the discriminator and the dynamic properties.
    ///
    /// The ETag of a row is the result of the SQL function `outpost_digest` for these columns, which is equal to
    /// ``RowDigest/etag()`` for their values.
    public var digestColumns: [String] {
        var names = columns.map(\.name)
        var seen = Set(names)
        func add(_ name: String?) {
            if let name, seen.insert(name).inserted { names.append(name) }
        }
        func addPresence(_ storage: PropertyStorage) {
            guard case .complex(_, let properties, let presence) = storage else { return }
            add(presence)
            properties.forEach(addPresence)
        }
        properties.forEach(addPresence)
        for (_, storages) in derivedProperties.sorted(by: { $0.key.description < $1.key.description }) {
            storages.forEach(addPresence)
        }
        add(discriminator)
        add(dynamicProperties)
        return names
    }
}
