/// A set of properties of the rows in a table, such as those that a defining query loads.
///
/// ```swift
/// let narrow = PropertySelection([["OrderedAt"], ["Address", "City"]])
/// narrow.contains(["Address", "City"])  // true
/// ```
public struct PropertySelection: Hashable, Sendable {
    /// The paths of the properties; `nil` for all properties.
    private var paths: Set<[String]>?

    /// All properties, including dynamic ones.
    public static let all = PropertySelection(paths: nil)
    /// No properties.
    public static let none = PropertySelection(paths: [])

    /// Creates a selection of properties.
    ///
    /// - Parameter paths: the paths of the properties, each as a sequence of names.
    public init(_ paths: some Sequence<[String]>) { self.init(paths: Set(paths)) }

    private init(paths: Set<[String]>?) { self.paths = paths }

    /// Whether the selection contains all properties.
    public var isAll: Bool { paths == nil }

    /// Returns the properties that either selection contains.
    public func union(_ other: PropertySelection) -> PropertySelection {
        guard let paths, let others = other.paths else { return .all }
        return PropertySelection(paths: paths.union(others))
    }

    /// Returns whether the selection contains a property or a complex property around it.
    public func contains(_ path: [String]) -> Bool {
        guard let paths else { return true }
        return path.indices.contains { paths.contains(Array(path[...$0])) }
    }

    /// Returns whether the selection contains a property or a part of it.
    public func touches(_ name: String) -> Bool {
        guard let paths else { return true }
        return paths.contains { $0.first == name }
    }
}
