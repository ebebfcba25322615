import ODataModel

/// The fragment of a context URL, which describes a payload (OData Protocol 4.01, 10 *Context URL*).
///
/// ```swift
/// let context = try ContextURL(parsing: "Customers(Name,Orders+(ID))/$entity")
/// ```
public struct ContextURL: Hashable, Sendable {
    /// A segment of the path, with the key in the parentheses after it.
    public struct Segment: Hashable, Sendable {
        /// The name of an entity set, singleton, property or type.
        public var name: Identifier
        /// The key; `nil` if there is none.
        public var key: KeyPredicate?

        /// Creates a segment.
        public init(_ name: Identifier, key: KeyPredicate? = nil) {
            self.name = name
            self.key = key
        }
    }

    /// An item of the select list.
    public struct Item: Hashable, Sendable {
        /// The type casts and properties, an operation, `*`, or `Namespace.*`.
        public var path: [Identifier]
        /// Whether the property is expanded recursively (`+`).
        public var isRecursive: Bool
        /// The items selected within an expanded property; `nil` if it is not expanded with a list.
        public var items: [Item]?

        /// Creates an item.
        public init(_ path: [Identifier], isRecursive: Bool = false, items: [Item]? = nil) {
            self.path = path
            self.isRecursive = isRecursive
            self.items = items
        }
    }

    /// The segment after the select list.
    public enum Suffix: String, Hashable, Sendable, CaseIterable {
        /// A single entity of a set.
        case entity = "$entity"
        /// Changes to a collection.
        case delta = "$delta"
        /// A deleted entity in a delta.
        case deletedEntity = "$deletedEntity"
        /// An added link in a delta.
        case link = "$link"
        /// A deleted link in a delta.
        case deletedLink = "$deletedLink"
    }

    /// The content of a payload.
    public enum Target: Hashable, Sendable {
        /// Entities, an entity or a property by its path from the service root, or a value of a type if the path is
        /// one qualified name.
        case path([Segment])
        /// A collection of values of a type.
        case collection(of: Identifier)
        /// A reference (`$ref`).
        case reference
        /// References (`Collection($ref)`).
        case references
    }

    /// The content of the payload.
    public var target: Target
    /// The select list; `nil` if there is none.
    public var items: [Item]?
    /// The segment after the select list; `nil` if there is none.
    public var suffix: Suffix?

    /// Creates a context.
    public init(_ target: Target, items: [Item]? = nil, suffix: Suffix? = nil) {
        self.target = target
        self.items = items
        self.suffix = suffix
    }
}
