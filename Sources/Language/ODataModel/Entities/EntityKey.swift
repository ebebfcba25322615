/// The key of an entity: named values in the order that the type declares.
///
/// ```swift
/// let order = EntityKey("OrderID", 10248)
/// let line = EntityKey([.init(name: "OrderID", value: 10248), .init(name: "LineNumber", value: 1)])
/// let first = try await service.entity("Order_Lines", key: line)
/// ```
public struct EntityKey: Hashable, Sendable {
    /// One key property with its value.
    public struct Part: Hashable, Sendable {
        /// The name or alias used in key predicates.
        public let name: String
        /// The value of the key property.
        public let value: ODataValue

        /// Creates a part.
        public init(name: String, value: ODataValue) {
            self.name = name
            self.value = value
        }

        /// Returns whether the names are equal and the values are identical to a database. For example, composed
        /// and decomposed forms of `é` are different keys. Equal parts have equal hashes.
        public static func == (left: Part, right: Part) -> Bool {
            left.name == right.name && left.value.isIdentical(to: right.value)
        }
    }

    /// The parts in declared order.
    public let parts: [Part]

    /// Creates a key.
    public init(_ parts: [Part]) { self.parts = parts }

    /// Creates a key with one part.
    public init(_ name: String, _ value: ODataValue) { parts = [Part(name: name, value: value)] }

    /// The value of a part; `nil` if the key lacks the part.
    public subscript(name: String) -> ODataValue? { parts.first { $0.name == name }?.value }
}
