import ODataModel

/// The fragment of a context URL: what a payload holds (OData Protocol 4.01, 10 *Context URL*).
///
/// ```swift
/// let context = try ContextURL(parsing: "Customers(Name,Orders+(ID))/$entity")
/// ```
public struct ContextURL: Hashable, Sendable {
    /// One segment of the path, with the key in the parentheses after it.
    public struct Segment: Hashable, Sendable {
        /// An entity set, singleton, property or type.
        public var name: Identifier
        /// The key; `nil` when there is none.
        public var key: KeyPredicate?

        /// Makes a segment.
        public init(_ name: Identifier, key: KeyPredicate? = nil) {
            self.name = name
            self.key = key
        }
    }

    /// One item of the select list.
    public struct Item: Hashable, Sendable {
        /// Type casts and properties, an operation, `*`, or `Namespace.*`.
        public var path: [Identifier]
        /// Whether the property is expanded recursively (`+`).
        public var isRecursive: Bool
        /// What is selected of an expanded property; `nil` when it is not expanded with a list.
        public var items: [Item]?

        /// Makes an item.
        public init(_ path: [Identifier], isRecursive: Bool = false, items: [Item]? = nil) {
            self.path = path
            self.isRecursive = isRecursive
            self.items = items
        }
    }

    /// What follows the select list.
    public enum Suffix: String, Hashable, Sendable, CaseIterable {
        /// A single entity of a set.
        case entity = "$entity"
        /// Changes.
        case delta = "$delta"
        /// A deleted entity in changes.
        case deletedEntity = "$deletedEntity"
        /// An added link in changes.
        case link = "$link"
        /// A deleted link in changes.
        case deletedLink = "$deletedLink"
    }

    /// What the payload is made of.
    public enum Target: Hashable, Sendable {
        /// Entities, an entity or a property, by the path from the service root; or a value of a type, when the
        /// path is one qualified name.
        case path([Segment])
        /// A collection of values of a type.
        case collection(of: Identifier)
        /// A reference (`$ref`).
        case reference
        /// References (`Collection($ref)`).
        case references
    }

    /// What the payload is made of.
    public var target: Target
    /// The select list; `nil` when there is none.
    public var items: [Item]?
    /// What follows it.
    public var suffix: Suffix?

    /// Makes a context.
    public init(_ target: Target, items: [Item]? = nil, suffix: Suffix? = nil) {
        self.target = target
        self.items = items
        self.suffix = suffix
    }
}
