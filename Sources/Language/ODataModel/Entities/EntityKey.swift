/// The key of an entity: its values with their names, in the order that the type declares.
public struct EntityKey: Hashable, Sendable {
    /// One key property with its value.
    public struct Part: Hashable, Sendable {
        /// The name or alias used in key predicates.
        public let name: String
        /// The value.
        public let value: ODataValue

        /// Makes a part.
        public init(name: String, value: ODataValue) {
            self.name = name
            self.value = value
        }

        /// Whether the names are equal and the values the same to a database: `é` in one character and in two make two keys.
        /// Parts that are equal by this have equal values, so that their hashes are equal too.
        public static func == (left: Part, right: Part) -> Bool {
            left.name == right.name && left.value.isIdentical(to: right.value)
        }
    }

    /// The parts in declared order.
    public let parts: [Part]

    /// Makes a key.
    public init(_ parts: [Part]) { self.parts = parts }

    /// Makes a key of one part.
    public init(_ name: String, _ value: ODataValue) { parts = [Part(name: name, value: value)] }

    /// The value of a part.
    public subscript(name: String) -> ODataValue? { parts.first { $0.name == name }?.value }
}
