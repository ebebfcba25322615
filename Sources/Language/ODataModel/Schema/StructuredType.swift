/// An entity type or complex type as declared, without inherited members (OData CSDL 4.01, 6 *Entity Type* and 9
/// *Complex Type*). A ``TypeShape`` includes inherited members.
public struct StructuredType: Hashable, Sendable {
    /// The kinds of structured type.
    public enum Kind: Hashable, Sendable {
        /// A type whose instances have an identity.
        case entity
        /// A type whose instances are values.
        case complex
    }

    /// One part of an entity key (OData CSDL 4.01, 6.5 *Key*).
    public struct KeyProperty: Hashable, Sendable {
        /// The path from the entity to the property.
        public var path: String
        /// The name for key predicates if the path is not a simple name.
        public var alias: String?

        /// The name used in key predicates.
        public var name: String { alias ?? path }

        /// Creates a key part.
        public init(path: String, alias: String? = nil) {
            self.path = path
            self.alias = alias
        }
    }

    /// The qualified name of the type.
    public var name: QualifiedName
    /// The kind of structured type.
    public var kind: Kind
    /// The base type.
    public var baseType: QualifiedName?
    /// The base type if its document was not read; the members inherited from it are unknown.
    public var undeclaredBaseType: QualifiedName?
    /// Whether the type is abstract and has no direct instances.
    public var isAbstract: Bool
    /// Whether instances may contain undeclared properties.
    public var isOpen: Bool
    /// Whether the entity is a media entity.
    public var hasStream: Bool
    /// The key declared by this type; empty if inherited.
    public var key: [KeyProperty]
    /// The structural properties declared by this type.
    public var properties: [Property]
    /// The navigation properties declared by this type.
    public var navigationProperties: [NavigationProperty]
    /// The annotations on the type.
    public var annotations: [Annotation]

    /// Creates a structured type.
    public init(
        name: QualifiedName, kind: Kind, baseType: QualifiedName? = nil, undeclaredBaseType: QualifiedName? = nil,
        isAbstract: Bool = false, isOpen: Bool = false, hasStream: Bool = false, key: [KeyProperty] = [],
        properties: [Property] = [],
        navigationProperties: [NavigationProperty] = [], annotations: [Annotation] = []
    ) {
        self.name = name
        self.kind = kind
        self.baseType = baseType
        self.undeclaredBaseType = undeclaredBaseType
        self.isAbstract = isAbstract
        self.isOpen = isOpen
        self.hasStream = hasStream
        self.key = key
        self.properties = properties
        self.navigationProperties = navigationProperties
        self.annotations = annotations
    }
}

/// A closed set of named integers (OData CSDL 4.01, 10 *Enumeration Type*).
public struct EnumType: Hashable, Sendable {
    /// A named value.
    public struct Member: Hashable, Sendable {
        /// The member's name.
        public var name: String
        /// The numeric value.
        public var value: Int64
        /// The annotations on the member.
        public var annotations: [Annotation]

        /// Creates a member.
        public init(name: String, value: Int64, annotations: [Annotation] = []) {
            self.name = name
            self.value = value
            self.annotations = annotations
        }
    }

    /// The qualified name of the type.
    public var name: QualifiedName
    /// The integer type of the values.
    public var underlyingType: PrimitiveType
    /// Whether values may combine several members.
    public var isFlags: Bool
    /// The members in document order.
    public var members: [Member]
    /// The annotations on the type.
    public var annotations: [Annotation]

    /// Creates an enumeration type.
    public init(
        name: QualifiedName, underlyingType: PrimitiveType = .int32, isFlags: Bool = false, members: [Member],
        annotations: [Annotation] = []
    ) {
        self.name = name
        self.underlyingType = underlyingType
        self.isFlags = isFlags
        self.members = members
        self.annotations = annotations
    }
}

/// A primitive type with a name of its own (OData CSDL 4.01, 11 *Type Definition*).
public struct TypeDefinition: Hashable, Sendable {
    /// The qualified name of the type.
    public var name: QualifiedName
    /// The underlying primitive type.
    public var underlyingType: PrimitiveType
    /// The facets of the definition.
    public var facets: Facets
    /// The annotations on the definition.
    public var annotations: [Annotation]

    /// Creates a type definition.
    public init(
        name: QualifiedName, underlyingType: PrimitiveType, facets: Facets = Facets(), annotations: [Annotation] = []
    ) {
        self.name = name
        self.underlyingType = underlyingType
        self.facets = facets
        self.annotations = annotations
    }
}
