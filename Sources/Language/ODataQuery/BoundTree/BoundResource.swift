import ODataModel

/// A resource path with every segment resolved against a model.
public struct BoundResource: Hashable, Sendable {
    /// The steps from the service root.
    public var steps: [BoundSegment]
    /// The addressed resource.
    public var target: Target

    /// The kind of an addressed resource.
    public enum Target: Hashable, Sendable {
        /// The service document.
        case service
        /// `$metadata`.
        case metadata
        /// `$batch`.
        case batch
        /// `$entity?$id=…`.
        case entityByID
        /// A collection of entities.
        case entities(TypeShape, set: EntitySet?)
        /// A single entity.
        case entity(TypeShape, set: EntitySet?)
        /// A structural property.
        case property(Property, of: TypeShape)
        /// The raw value of a property (`/$value`); `nil` for a media entity.
        case rawValue(Property?)
        /// The number of members of a collection (`/$count`).
        case count(TypeShape, set: EntitySet?)
        /// References to a single entity or a collection (`/$ref`).
        case references(NavigationProperty?, TypeShape, set: EntitySet?, isCollection: Bool)
        /// The result of an operation.
        case operation(ODataOperation)
        /// All entities of the service (`$all`).
        case all
        /// All combinations of the members of several sets (`$crossjoin`). The shape has a single-valued navigation
        /// property for each set, with the name of the set.
        case crossJoin([EntitySet], TypeShape)
    }

    /// Creates a resource.
    public init(steps: [BoundSegment], target: Target) {
        self.steps = steps
        self.target = target
    }
}

/// One resolved segment of a resource path.
public enum BoundSegment: Hashable, Sendable {
    /// An entity set.
    case entitySet(EntitySet, TypeShape)
    /// A singleton.
    case singleton(Singleton, TypeShape)
    /// A key within the preceding collection.
    case key(EntityKey)
    /// A navigation property, its target set and the shape of the related entities.
    case navigation(NavigationProperty, set: EntitySet?, TypeShape)
    /// A structural property.
    case property(Property, ordinal: Int, of: TypeShape)
    /// A cast to a derived type.
    case cast(TypeShape)
    /// An alternate key (OData URL Conventions 4.01, 4.3.5): its names and values, and the condition on the
    /// preceding collection that corresponds to them.
    case alternateKey(EntityKey, BoundExpression, RangeVariable)
    /// A `$filter(…)` segment.
    case filter(BoundExpression, RangeVariable)
    /// `$each`.
    case each
    /// An operation with its parameters by name.
    case operation(ODataOperation, [String: BoundExpression])
}

/// A resolved URL: the resource and, if it consists of entities, the query over them.
public struct BoundURL: Hashable, Sendable {
    /// The addressed resource.
    public var resource: BoundResource
    // `Optional<BoundQuery>` has no implicit initial value, in contrast to `BoundQuery?`. The initialiser therefore
    // avoids a copy of the whole value.
    /// The query over the addressed rows; `nil` if the target does not consist of rows.
    public var query: Optional<BoundQuery>

    /// Creates a resolved URL.
    public init(resource: BoundResource, query: BoundQuery?) {
        self.resource = resource
        self.query = query
    }
}
