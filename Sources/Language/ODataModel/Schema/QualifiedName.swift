/// The name of a schema element with its namespace, such as `Northwind.Order` (OData CSDL 4.01, 15.2
/// *QualifiedName*).
///
/// ```swift
/// let name = QualifiedName("Shop", "Order")
/// print(name)  // Shop.Order
/// let parsed = QualifiedName("Shop.Order")
/// ```
public struct QualifiedName: Hashable, Sendable, CustomStringConvertible {
    /// The namespace of the schema, which may contain dots. Readers resolve aliases, so that this is never an
    /// alias.
    public let namespace: String
    /// The simple identifier within the namespace.
    public let name: String

    /// Creates a name from its two parts.
    public init(_ namespace: String, _ name: String) {
        self.namespace = namespace
        self.name = name
    }

    /// Creates a name from a dotted text, which is split at its last dot.
    ///
    /// - Parameter text: a name such as `Northwind.Order`.
    /// - Returns: `nil` if `text` has no dot or an empty part.
    public init?(_ text: some StringProtocol) {
        let text = Substring(text)
        // The dot is found by bytes because it may form a character with a combining mark.
        guard let dot = text.utf8.lastIndex(of: UInt8(ascii: ".")), dot != text.startIndex else { return nil }
        let rest = text.utf8.index(after: dot)
        guard rest != text.endIndex else { return nil }
        self.init(String(text[..<dot]), String(text[rest...]))
    }

    /// Hashes only the simple identifier, because a model has many of them and few namespaces.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The namespace and the name, separated by a dot.
    public var description: String {
        var text = ""
        text.reserveCapacity(namespace.utf8.count + 1 + name.utf8.count)
        text += namespace
        text += "."
        text += name
        return text
    }
}
