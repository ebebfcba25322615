import ODataModel

extension EntityDataModel {
    /// The type of the entities in a table of the store: an entity set, a singleton, or a containment path such
    /// as `Albums/Pages`; `nil` if the model does not have it.
    func shape(ofStored name: String) -> TypeShape? {
        let parts = name.split(separator: "/").map(String.init)
        guard let first = parts.first else { return nil }
        var result = singleton(first).flatMap { shape($0.type) } ?? shape(ofSet: first)
        for part in parts.dropFirst() {
            guard let navigation = result?.navigationProperty(part), navigation.isContainment else { return nil }
            result = shape(navigation.target)
        }
        return result
    }
}
