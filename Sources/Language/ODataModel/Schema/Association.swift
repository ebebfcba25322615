/// How many entities may stand at one end of an association (CSDL 3.0, 2.2.11 *Association End*).
public enum Multiplicity: String, Hashable, Sendable {
    /// Exactly one.
    case one = "1"
    /// One or none.
    case zeroOrOne = "0..1"
    /// Any number.
    case many = "*"
}

/// What V2 and V3 metadata has behind navigation properties: two ends, and perhaps a foreign key
/// (CSDL 3.0, 2.1.10 *Association*).
///
/// Everything in it that V4 has too stands in the ``NavigationProperty`` values made from it; it is kept for
/// what they leave out, such as ends that no property leads to, and to be written again as it was.
public struct Association: Hashable, Sendable {
    /// One side.
    public struct End: Hashable, Sendable {
        /// The name of the side, unique within the association.
        public var role: String
        /// The type of the entities there.
        public var type: QualifiedName
        /// How many of them belong to one at the other side.
        public var multiplicity: Multiplicity
        /// What happens to the other side when an entity here is deleted; `nil` when unstated.
        public var onDelete: OnDeleteAction?
        /// The annotations on the end.
        public var annotations: [Annotation]

        /// Makes an end.
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

    /// The foreign key: properties at one end that hold the key at the other.
    public struct Constraint: Hashable, Sendable {
        /// The role of the end with the key.
        public var principalRole: String
        /// The key properties, in order.
        public var principalProperties: [String]
        /// The role of the end with the foreign key.
        public var dependentRole: String
        /// The properties that hold it, in the same order.
        public var dependentProperties: [String]

        /// Makes a constraint.
        public init(
            principalRole: String, principalProperties: [String], dependentRole: String, dependentProperties: [String]
        ) {
            self.principalRole = principalRole
            self.principalProperties = principalProperties
            self.dependentRole = dependentRole
            self.dependentProperties = dependentProperties
        }

        /// Pairs of a dependent property and the principal's.
        var pairs: [ReferentialConstraint] {
            zip(dependentProperties, principalProperties).map {
                ReferentialConstraint(property: $0, referencedProperty: $1)
            }
        }
    }

    /// The qualified name.
    public var name: QualifiedName
    /// The two ends.
    public var ends: [End]
    /// The foreign key; `nil` when none is stated.
    public var constraint: Constraint?
    /// The annotations on the association.
    public var annotations: [Annotation]

    /// Makes an association.
    public init(
        name: QualifiedName, ends: [End], constraint: Constraint? = nil, annotations: [Annotation] = []
    ) {
        self.name = name
        self.ends = ends
        self.constraint = constraint
        self.annotations = annotations
    }

    /// The end with a role.
    public func end(_ role: String) -> End? { ends.first { $0.role == role } }
}

/// Which way a navigation property goes along an association of V2 or V3 metadata.
public struct NavigationRelationship: Hashable, Sendable {
    /// The association.
    public var association: QualifiedName
    /// The role of the end that the property starts from.
    public var fromRole: String
    /// The role of the end that it leads to.
    public var toRole: String

    /// Makes a relationship.
    public init(association: QualifiedName, fromRole: String, toRole: String) {
        self.association = association
        self.fromRole = fromRole
        self.toRole = toRole
    }
}

/// Which entity sets the ends of an association belong to (CSDL 3.0, 2.1.19 *AssociationSet*).
public struct AssociationSet: Hashable, Sendable {
    /// One side.
    public struct End: Hashable, Sendable {
        /// The role; `nil` where the types of the sets tell the ends apart.
        public var role: String?
        /// The entity set.
        public var entitySet: String
        /// The annotations on the end.
        public var annotations: [Annotation]

        /// Makes an end.
        public init(role: String? = nil, entitySet: String, annotations: [Annotation] = []) {
            self.role = role
            self.entitySet = entitySet
            self.annotations = annotations
        }
    }

    /// The name, unique within the container.
    public var name: String
    /// The association.
    public var association: QualifiedName
    /// The two ends.
    public var ends: [End]
    /// The annotations on the set.
    public var annotations: [Annotation]

    /// Makes an association set.
    public init(name: String, association: QualifiedName, ends: [End], annotations: [Annotation] = []) {
        self.name = name
        self.association = association
        self.ends = ends
        self.annotations = annotations
    }
}
