/// Places in a dynamic query, for ``SelectionError/place``.
extension String {
    /// Returns the place of a member of the query at this place.
    func member(_ name: String) -> String { isEmpty ? name : "\(self).\(name)" }
    func member(_ name: String, _ index: Int) -> String { "\(member(name))[\(index)]" }
    func member(_ index: Int) -> String { "\(self)[\(index)]" }
}
