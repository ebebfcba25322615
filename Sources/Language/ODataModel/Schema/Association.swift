/// The number of entities at one end of an association (CSDL 3.0, 2.2.11 *Association End*).
public enum Multiplicity: String, Hashable, Sendable {
    /// Exactly one.
    case one = "1"
    /// One or none.
    case zeroOrOne = "0..1"
    /// Any number.
    case many = "*"
}

/// The element of V2 and V3 metadata that defines navigation properties: two ends, and possibly a foreign key (CSDL
/// 3.0, 2.1.10 *Association*).
///
/// The parts that V4 also supports are in the corresponding ``NavigationProperty`` values. The model keeps
/// associations for other details, such as ends without a navigation property, and for writing the metadata again.
public struct Association: Hashable, Sendable {
    /// One end of an association.
    public struct End: Hashable, Sendable {
        /// The name of the end, unique within the association.
        public var role: String
        /// The type of the entities at the end.
        public var type: QualifiedName
        /// The number of entities at this end for one entity at the other end.
        public var multiplicity: Multiplicity
        /// The effect on the other end when an entity at this end is deleted; `nil` if unstated.
        public var onDelete: OnDeleteAction?
        /// The annotations on the end.
        public var annotations: [Annotation]

        /// Creates an end.
        public init(
            role: String, type: QualifiedName, multiplicity: Multiplicity, onDelete: OnDeleteAction? = nil,
            annotations: [Annotation] = []
        ) {
            self.role = role
            self.type = type
            self.multiplicity = multiplicity
            self.onDelete = onDelete
            self.annotations = annotations
        }
    }

    /// The foreign key: properties at one end that contain the key at the other end.
    public struct Constraint: Hashable, Sendable {
        /// The role of the end with the key.
        public var principalRole: String
        /// The key properties, in order.
        public var principalProperties: [String]
        /// The role of the end with the foreign key.
        public var dependentRole: String
        /// The foreign key properties, in the same order.
        public var dependentProperties: [String]

        /// Creates a constraint.
        public init(
            principalRole: String, principalProperties: [String], dependentRole: String, dependentProperties: [String]
        ) {
            self.principalRole = principalRole
            self.principalProperties = principalProperties
            self.dependentRole = dependentRole
            self.dependentProperties = dependentProperties
        }

        /// The pairs of a dependent property and its principal property.
        var pairs: [ReferentialConstraint] {
            zip(dependentProperties, principalProperties).map {
                ReferentialConstraint(property: $0, referencedProperty: $1)
            }
        }
    }

    /// The qualified name of the association.
    public var name: QualifiedName
    /// The two ends.
    public var ends: [End]
    /// The foreign key; `nil` if none is stated.
    public var constraint: Constraint?
    /// The annotations on the association.
    public var annotations: [Annotation]

    /// Creates an association.
    public init(
        name: QualifiedName, ends: [End], constraint: Constraint? = nil, annotations: [Annotation] = []
    ) {
        self.name = name
        self.ends = ends
        self.constraint = constraint
        self.annotations = annotations
    }

    /// Returns the end with a role.
    public func end(_ role: String) -> End? { ends.first { $0.role == role } }
}

/// The direction of a navigation property along an association of V2 or V3 metadata.
public struct NavigationRelationship: Hashable, Sendable {
    /// The qualified name of the association.
    public var association: QualifiedName
    /// The role of the end at which the property starts.
    public var fromRole: String
    /// The role of the end to which the property leads.
    public var toRole: String

    /// Creates a relationship.
    public init(association: QualifiedName, fromRole: String, toRole: String) {
        self.association = association
        self.fromRole = fromRole
        self.toRole = toRole
    }
}

/// The assignment of entity sets to the ends of an association (CSDL 3.0, 2.1.19 *AssociationSet*).
public struct AssociationSet: Hashable, Sendable {
    /// One end of an association set.
    public struct End: Hashable, Sendable {
        /// The role; `nil` if the types of the sets distinguish the ends.
        public var role: String?
        /// The name of the entity set.
        public var entitySet: String
        /// The annotations on the end.
        public var annotations: [Annotation]

        /// Creates an end.
        public init(role: String? = nil, entitySet: String, annotations: [Annotation] = []) {
            self.role = role
            self.entitySet = entitySet
            self.annotations = annotations
        }
    }

    /// The name, unique within the container.
    public var name: String
    /// The qualified name of the association.
    public var association: QualifiedName
    /// The two ends.
    public var ends: [End]
    /// The annotations on the set.
    public var annotations: [Annotation]

    /// Creates an association set.
    public init(name: String, association: QualifiedName, ends: [End], annotations: [Annotation] = []) {
        self.name = name
        self.association = association
        self.ends = ends
        self.annotations = annotations
    }
}
