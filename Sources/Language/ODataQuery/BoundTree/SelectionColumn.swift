import ODataModel

/// A column of the result of a ``Selection``.
public struct SelectionColumn: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The type of the values.
    public let type: TypeReference

    /// Creates a column.
    public init(name: String, type: TypeReference) {
        self.name = name
        self.type = type
    }
}
