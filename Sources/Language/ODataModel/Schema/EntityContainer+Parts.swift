extension EntitySet {
    /// The name of the set in its own container.
    var nameInContainer: String { qualifiedName?.halves(atLast: ".").map { String($0.1) } ?? name }
}

extension OperationImport {
    /// The name of the import in its own container.
    var nameInContainer: String { qualifiedName?.halves(atLast: ".").map { String($0.1) } ?? name }
}

extension EntityContainer {
    /// The separate containers of a document before V4: the default container, if any, and the containers whose
    /// names are part of set URLs.
    var parts: [(container: EntityContainer, isDefault: Bool)] {
        let owners =
            entitySets.map { Self.owner($0.qualifiedName) } + operationImports.map { Self.owner($0.qualifiedName) }
        guard owners.contains(where: { $0 != nil }) else { return [(self, true)] }
        var names: [String?] = owners.contains(nil) ? [nil] : []
        for owner in owners where !names.contains(owner) { names.append(owner) }
        return names.map { owner in (part(of: owner), owner == nil) }
    }

    private static func owner(_ qualifiedName: String?) -> String? {
        qualifiedName?.halves(atLast: ".").map { String($0.0) }
    }

    /// Returns the container that contains the sets and imports with its name in URLs, under their names in it.
    private func part(of owner: String?) -> EntityContainer {
        var part = EntityContainer(name: owner.map { QualifiedName(name.namespace, $0) } ?? name)
        if owner == nil || owner == name.name {
            part.extends = extends
            part.annotations = annotations
        }
        var names: [String: String] = [:]
        for var set in entitySets where Self.owner(set.qualifiedName) == owner {
            names[set.name] = set.nameInContainer
            set.name = set.nameInContainer
            part.entitySets.append(set)
        }
        for var operationImport in operationImports where Self.owner(operationImport.qualifiedName) == owner {
            operationImport.name = operationImport.nameInContainer
            operationImport.entitySet = operationImport.entitySet.map { names[$0] ?? $0 }
            part.operationImports.append(operationImport)
        }
        for var set in associationSets where set.ends.contains(where: { names[$0.entitySet] != nil }) {
            for end in set.ends.indices {
                set.ends[end].entitySet = names[set.ends[end].entitySet] ?? set.ends[end].entitySet
            }
            part.associationSets.append(set)
        }
        if owner == nil { part.singletons = singletons }
        return part
    }
}
