/// A structural property (OData CSDL 4.01, 7 *Structural Property*).
///
/// ```swift
/// guard let shape = model.shape(ofSet: "Orders") else { return }
/// for property in shape.properties where property.isUpdatable { show(property.name, property.type) }
/// ```
public struct Property: Hashable, Sendable {
    /// The name, unique within its type and all base types.
    public var name: String
    /// The resolved type.
    public var type: TypeReference
    /// Whether the value, or for a collection its members, may be null.
    public var isNullable: Bool
    /// The facets that the document states.
    public var facets: Facets
    /// The default value in lexical form; `nil` if none is stated.
    public var defaultValue: String?
    /// V2 and V3: whether the property takes part in concurrency checks (`ConcurrencyMode="Fixed"`).
    public var isConcurrencyToken: Bool
    /// The annotations on the property.
    public var annotations: [Annotation]

    /// Creates a property.
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
///
/// ```swift
/// guard let shape = model.shape(ofSet: "Orders") else { return }
/// for navigation in shape.navigationProperties { show(navigation.name, navigation.target, navigation.isCollection) }
/// ```
public struct NavigationProperty: Hashable, Sendable {
    /// The name, unique within its type and all base types.
    public var name: String
    /// The type of the related entities.
    public var target: QualifiedName
    /// Whether the property leads to a collection of entities.
    public var isCollection: Bool
    /// Whether a single-valued property may be null.
    public var isNullable: Bool
    /// The path of the opposite property; `nil` if none is stated.
    public var partner: String?
    /// Whether the related entities are contained in this entity.
    public var isContainment: Bool
    /// The pairs of a dependent property of this type and a key property of the principal.
    public var constraints: [ReferentialConstraint]
    /// The effect on the related entities when this entity is deleted; `nil` if unstated.
    public var onDelete: OnDeleteAction?
    /// The annotations on the delete action.
    public var onDeleteAnnotations: [Annotation]
    /// V2 and V3: the association that defines the property.
    public var relationship: NavigationRelationship?
    /// The annotations on the property.
    public var annotations: [Annotation]

    /// Creates a navigation property.
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

/// A constraint by which a dependent property has the value of a principal property (OData CSDL 4.01, 8.5
/// *Referential Constraint*).
public struct ReferentialConstraint: Hashable, Sendable {
    /// The path of the property on the type that declares the navigation property.
    public var property: String
    /// The path of the property on the related type.
    public var referencedProperty: String
    /// The annotations on the constraint.
    public var annotations: [Annotation]

    /// Creates a constraint.
    public init(property: String, referencedProperty: String, annotations: [Annotation] = []) {
        self.property = property
        self.referencedProperty = referencedProperty
        self.annotations = annotations
    }
}

/// The effect on dependent entities when the principal entity is deleted (OData CSDL 4.01, 8.6).
public enum OnDeleteAction: String, Hashable, Sendable {
    /// The dependent entities are deleted too.
    case cascade = "Cascade"
    /// The deletion fails.
    case none = "None"
    /// The dependent properties become null.
    case setNull = "SetNull"
    /// The dependent properties get their default values.
    case setDefault = "SetDefault"
}
