public import ODataModel

/// What the service of a cache has, for finding one's way from its document to its entities. A service of OData 4 has
/// one workspace, its container.
extension EntityCache {
    /// The collections that the service lists, in the order of its metadata.
    ///
    /// - Parameter semantics: Only those of this meaning (`sap:semantics`); `nil` for all.
    /// - Returns: None before the cache has a model.
    public func listedCollections(withSemantics semantics: String? = nil) async -> [EntitySet] {
        let listed = await model?.container.entitySets.filter(\.isInServiceDocument) ?? []
        return semantics.map { wanted in listed.filter { $0.semantics == wanted } } ?? listed
    }

    /// A collection of the service, listed or not; `nil` when there is none of that name.
    public func collection(named name: String) async -> EntitySet? { await model?.entitySet(name) }

    /// The workspace of the service: its container's name.
    public var workspace: QualifiedName? { get async { await model?.container.name } }
}
