public import ODataModel

/// The service document of a cache, for navigation to its collections. A service of OData 4 has one workspace,
/// its container.
extension EntityCache {
    /// Returns the collections in the service document, in the order of the metadata.
    ///
    /// - Parameter semantics: The required value of `sap:semantics`; `nil` for all collections.
    /// - Returns: An empty array if the cache has no model.
    public func listedCollections(withSemantics semantics: String? = nil) async -> [EntitySet] {
        let listed = await model?.container.entitySets.filter(\.isInServiceDocument) ?? []
        return semantics.map { wanted in listed.filter { $0.semantics == wanted } } ?? listed
    }

    /// Returns a collection of the service, or `nil` if there is none of that name. The collection need not be
    /// in the service document.
    public func collection(named name: String) async -> EntitySet? { await model?.entitySet(name) }

    /// The workspace of the service, which is the name of its container.
    public var workspace: QualifiedName? { get async { await model?.container.name } }
}
