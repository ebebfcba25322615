extension TableStorage {
    /// The columns that an ``ETagStorage/contentDigest`` covers, in order: ``columns``, then the presence
    /// columns of complex values, the discriminator and the dynamic properties.
    ///
    /// The SQL function `outpost_digest` of them is the row's ETag, the same text that ``RowDigest/etag()``
    /// gives for their values.
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
