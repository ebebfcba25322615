import Testing

/// A finder of the parts of a tree by reflection, independent of the rules for traversal.
struct Reflection<Node>: Sendable {
    /// Returns the node in a value; `nil` for other values.
    var node: @Sendable (Any) -> Node?
    /// The names of the types that are or contain nodes. A field of such a type is empty or filled.
    var holders: [String]

    /// Returns the nearest nodes below a value.
    func nearest(below value: Any) -> [Node] {
        Mirror(reflecting: value).children.flatMap { child in
            if let node = node(child.value) { return [node] }
            return isLeaf(child.value) ? [] : nearest(below: child.value)
        }
    }

    /// Returns all nodes below a value.
    func all(below value: Any) -> [Node] { nearest(below: value).flatMap { [$0] + all(below: $0) } }

    /// Returns the paths of optional values, arrays and dictionaries that can contain nodes, by whether they do.
    func fields(below value: Any, path: String = "") -> (filled: Set<String>, empty: Set<String>) {
        var filled: Set<String> = []
        var empty: Set<String> = []
        for child in Mirror(reflecting: value).children where !isLeaf(child.value) {
            let mirror = Mirror(reflecting: child.value)
            let name = "\(path).\(child.label ?? "")"
            switch mirror.displayStyle {
            case .optional, .collection, .dictionary:
                guard mayHoldNodes(child.value) else { break }
                if mirror.children.isEmpty { empty.insert(name) } else { filled.insert(name) }
            default: break
            }
            guard node(child.value) == nil else { continue }
            let inner = fields(below: child.value, path: name)
            filled.formUnion(inner.filled)
            empty.formUnion(inner.empty)
        }
        return (filled, empty)
    }

    private func mayHoldNodes(_ value: Any) -> Bool {
        let type = String(reflecting: Swift.type(of: value))
        return holders.contains { type.contains("ODataQuery.\($0)>") }
    }

    /// Returns whether no node can be below a value. Models are excluded since they are large and cyclic.
    private func isLeaf(_ value: Any) -> Bool {
        let type = String(reflecting: Swift.type(of: value))
        return type.hasPrefix("ODataModel.") || value is String || value is Int || value is Bool
    }
}
