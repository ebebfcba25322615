import ODataModel

/// A resource path with every segment resolved against the model.
public struct BoundResource: Hashable, Sendable {
    /// The steps from the service root.
    public var steps: [BoundSegment]
    /// What the path addresses.
    public var target: Target

    /// What a path addresses.
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
        /// The raw value of a property (`/$value`), or of a media entity when `nil`.
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
        /// property for each set, by its name.
        case crossJoin([EntitySet], TypeShape)
    }

    /// Makes a resource.
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
    /// A key within the collection before it.
    case key(EntityKey)
    /// A navigation property, the set it leads to and the shape there.
    case navigation(NavigationProperty, set: EntitySet?, TypeShape)
    /// A structural property.
    case property(Property, ordinal: Int, of: TypeShape)
    /// A cast to a derived type.
    case cast(TypeShape)
    /// An alternate key (OData URL Conventions 4.01, 4.3.5): the names and values given, and the condition that they
    /// are on the collection before them.
    case alternateKey(EntityKey, BoundExpression, RangeVariable)
    /// A `$filter(…)` segment.
    case filter(BoundExpression, RangeVariable)
    /// `$each`.
    case each
    /// An operation with its parameters by name.
    case operation(ODataOperation, [String: BoundExpression])
}

/// A request URL resolved: the path and, where it addresses entities, the query over them.
public struct BoundURL: Hashable, Sendable {
    /// The resource.
    public var resource: BoundResource
    // Spelt out, the variable begins without a value, and the initialiser fills its place; `BoundQuery?` would begin with
    // nil, and the whole would be copied when it is done.
    /// The query over the addressed rows; `nil` where the target is not made of rows.
    public var query: Optional<BoundQuery>

    /// Makes a resolved URL.
    public init(resource: BoundResource, query: BoundQuery?) {
        self.resource = resource
        self.query = query
    }
}
