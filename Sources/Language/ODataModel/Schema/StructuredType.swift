/// An entity type or complex type as declared, without what it inherits
/// (OData CSDL 4.01, 6 *Entity Type* and 9 *Complex Type*). What a value looks like with
/// everything inherited is its ``TypeShape``.
public struct StructuredType: Hashable, Sendable {
    /// What kind of structured type this is.
    public enum Kind: Hashable, Sendable {
        /// Instances have an identity.
        case entity
        /// Instances are values.
        case complex
    }

    /// One part of an entity key (OData CSDL 4.01, 6.5 *Key*).
    public struct KeyProperty: Hashable, Sendable {
        /// The path from the entity to the property.
        public var path: String
        /// The name to use in key predicates when the path is not a simple name.
        public var alias: String?

        /// The name used in key predicates.
        public var name: String { alias ?? path }

        /// Makes a key part.
        public init(path: String, alias: String? = nil) {
            self.path = path
            self.alias = alias
        }
    }

    /// The qualified name.
    public var name: QualifiedName
    /// Entity or complex.
    public var kind: Kind
    /// The type this one derives from.
    public var baseType: QualifiedName?
    /// The type this one derives from, where that stands in another document which was not read: what is inherited
    /// from there is not known.
    public var undeclaredBaseType: QualifiedName?
    /// Whether it has no instances of its own.
    public var isAbstract: Bool
    /// Whether instances may carry properties that are not declared.
    public var isOpen: Bool
    /// Whether the entity is a media entity.
    public var hasStream: Bool
    /// The key as declared here; empty when inherited.
    public var key: [KeyProperty]
    /// The structural properties declared here.
    public var properties: [Property]
    /// The navigation properties declared here.
    public var navigationProperties: [NavigationProperty]
    /// The annotations on the type.
    public var annotations: [Annotation]

    /// Makes a structured type.
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
    /// One named value.
    public struct Member: Hashable, Sendable {
        /// The member's name.
        public var name: String
        /// Its number.
        public var value: Int64
        /// The annotations on the member.
        public var annotations: [Annotation]

        /// Makes a member.
        public init(name: String, value: Int64, annotations: [Annotation] = []) {
            self.name = name
            self.value = value
            self.annotations = annotations
        }
    }

    /// The qualified name.
    public var name: QualifiedName
    /// The integer type behind it.
    public var underlyingType: PrimitiveType
    /// Whether values combine several members.
    public var isFlags: Bool
    /// The members in document order.
    public var members: [Member]
    /// The annotations on the type.
    public var annotations: [Annotation]

    /// Makes an enumeration type.
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

/// A primitive type under a name of its own (OData CSDL 4.01, 11 *Type Definition*).
public struct TypeDefinition: Hashable, Sendable {
    /// The qualified name.
    public var name: QualifiedName
    /// The primitive type behind it.
    public var underlyingType: PrimitiveType
    /// The facets stated with it.
    public var facets: Facets
    /// The annotations on it.
    public var annotations: [Annotation]

    /// Makes a type definition.
    public init(
        name: QualifiedName, underlyingType: PrimitiveType, facets: Facets = Facets(), annotations: [Annotation] = []
    ) {
        self.name = name
        self.underlyingType = underlyingType
        self.facets = facets
        self.annotations = annotations
    }
}
