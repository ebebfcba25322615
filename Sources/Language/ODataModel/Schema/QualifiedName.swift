/// A schema element's name with the namespace it is declared in, such as `Northwind.Order`
/// (OData CSDL 4.01, 15.2 *QualifiedName*).
public struct QualifiedName: Hashable, Sendable, CustomStringConvertible {
    /// The schema's namespace, itself possibly dotted. Never an alias: readers resolve those.
    public let namespace: String
    /// The simple identifier within the namespace.
    public let name: String

    /// Makes a name from its two parts.
    public init(_ namespace: String, _ name: String) {
        self.namespace = namespace
        self.name = name
    }

    /// Splits a dotted name at its last dot.
    ///
    /// - Parameter text: a name such as `Northwind.Order`.
    /// - Returns: `nil` when `text` has no dot or an empty part.
    public init?(_ text: some StringProtocol) {
        let text = Substring(text)
        // A dot may carry a combining mark as a character, never as a byte.
        guard let dot = text.utf8.lastIndex(of: UInt8(ascii: ".")), dot != text.startIndex else { return nil }
        let rest = text.utf8.index(after: dot)
        guard rest != text.endIndex else { return nil }
        self.init(String(text[..<dot]), String(text[rest...]))
    }

    /// Hashes the simple identifier: a model has many of them and few namespaces.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The dotted form.
    public var description: String {
        var text = ""
        text.reserveCapacity(namespace.utf8.count + 1 + name.utf8.count)
        text += namespace
        text += "."
        text += name
        return text
    }
}
