/// Which properties of the rows of a table something brings or holds.
///
/// ```swift
/// let narrow = PropertySelection([["OrderedAt"], ["Address", "City"]])
/// narrow.contains(["Address", "City"])  // true
/// ```
public struct PropertySelection: Hashable, Sendable {
    /// Each by the names on the way to it; `nil` for all properties.
    private var paths: Set<[String]>?

    /// All properties, dynamic ones too.
    public static let all = PropertySelection(paths: nil)
    /// No property.
    public static let none = PropertySelection(paths: [])

    /// Selects properties.
    ///
    /// - Parameter paths: each by the names on the way to it.
    public init(_ paths: some Sequence<[String]>) { self.init(paths: Set(paths)) }

    private init(paths: Set<[String]>?) { self.paths = paths }

    /// Whether nothing is left out.
    public var isAll: Bool { paths == nil }

    /// What either selects.
    public func union(_ other: PropertySelection) -> PropertySelection {
        guard let paths, let others = other.paths else { return .all }
        return PropertySelection(paths: paths.union(others))
    }

    /// Whether a property is among them, or what it is a part of.
    public func contains(_ path: [String]) -> Bool {
        guard let paths else { return true }
        return path.indices.contains { paths.contains(Array(path[...$0])) }
    }

    /// Whether a property is among them, as a whole or in part.
    public func touches(_ name: String) -> Bool {
        guard let paths else { return true }
        return paths.contains { $0.first == name }
    }
}
