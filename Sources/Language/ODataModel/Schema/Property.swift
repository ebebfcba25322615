/// A structural property (OData CSDL 4.01, 7 *Structural Property*).
public struct Property: Hashable, Sendable {
    /// The name, unique within its type and all base types.
    public var name: String
    /// The type, resolved.
    public var type: TypeReference
    /// Whether the value, or for a collection its members, may be null.
    public var isNullable: Bool
    /// The facets that the document states.
    public var facets: Facets
    /// The default value in lexical form; `nil` when none is stated.
    public var defaultValue: String?
    /// V2 and V3: whether the property takes part in concurrency checks (`ConcurrencyMode="Fixed"`).
    public var isConcurrencyToken: Bool
    /// The annotations on the property.
    public var annotations: [Annotation]

    /// Makes a property.
    public init(
        name: String, type: TypeReference, isNullable: Bool = true, facets: Facets = Facets(),
        defaultValue: String? = nil, isConcurrencyToken: Bool = false, annotations: [Annotation] = []
    ) {
        self.name = name
        self.type = type
        self.isNullable = isNullable
        self.facets = facets
        self.defaultValue = defaultValue
        self.isConcurrencyToken = isConcurrencyToken
        self.annotations = annotations
    }
}

/// A property that leads to related entities (OData CSDL 4.01, 8 *Navigation Property*).
public struct NavigationProperty: Hashable, Sendable {
    /// The name, unique within its type and all base types.
    public var name: String
    /// The type of the related entities.
    public var target: QualifiedName
    /// Whether it leads to many.
    public var isCollection: Bool
    /// Whether a single-valued one may lead nowhere.
    public var isNullable: Bool
    /// The opposite property's path; `nil` when none is stated.
    public var partner: String?
    /// Whether the related entities live within this one.
    public var isContainment: Bool
    /// Pairs of a dependent property of this type and the principal's key property.
    public var constraints: [ReferentialConstraint]
    /// What happens to the related entities when this entity is deleted; `nil` when unstated.
    public var onDelete: OnDeleteAction?
    /// The annotations on what happens then.
    public var onDeleteAnnotations: [Annotation]
    /// V2 and V3: the association that the document has behind it.
    public var relationship: NavigationRelationship?
    /// The annotations on the property.
    public var annotations: [Annotation]

    /// Makes a navigation property.
    public init(
        name: String, target: QualifiedName, isCollection: Bool, isNullable: Bool = true, partner: String? = nil,
        isContainment: Bool = false, constraints: [ReferentialConstraint] = [], onDelete: OnDeleteAction? = nil,
        onDeleteAnnotations: [Annotation] = [], relationship: NavigationRelationship? = nil,
        annotations: [Annotation] = []
    ) {
        self.name = name
        self.target = target
        self.isCollection = isCollection
        self.isNullable = isNullable
        self.partner = partner
        self.isContainment = isContainment
        self.constraints = constraints
        self.onDelete = onDelete
        self.onDeleteAnnotations = onDeleteAnnotations
        self.relationship = relationship
        self.annotations = annotations
    }
}

/// States that a dependent property has the value of a principal's property
/// (OData CSDL 4.01, 8.5 *Referential Constraint*).
public struct ReferentialConstraint: Hashable, Sendable {
    /// The path of the property on the type that declares the navigation property.
    public var property: String
    /// The path of the property on the related type.
    public var referencedProperty: String
    /// The annotations on the constraint.
    public var annotations: [Annotation]

    /// Makes a constraint.
    public init(property: String, referencedProperty: String, annotations: [Annotation] = []) {
        self.property = property
        self.referencedProperty = referencedProperty
        self.annotations = annotations
    }
}

/// What a service does with dependent entities when the principal goes (OData CSDL 4.01, 8.6).
public enum OnDeleteAction: String, Hashable, Sendable {
    /// The dependents are deleted too.
    case cascade = "Cascade"
    /// The deletion fails.
    case none = "None"
    /// The dependent properties become null.
    case setNull = "SetNull"
    /// The dependent properties get their defaults.
    case setDefault = "SetDefault"
}
