import ODataModel

/// A collection or entity request with everything resolved: what a provider executes.
public struct BoundQuery: Hashable, Sendable {
    /// The shape of the rows read, before `$apply`.
    public var shape: TypeShape
    // Optional is spelt out for the reason at `BoundURL.query`: so that the whole is not copied when it is made.
    /// The entity set of the rows; `nil` when contained.
    public var set: Optional<EntitySet>
    /// The current instance that expressions start from.
    public var variable: RangeVariable
    /// `$apply`, in order.
    public var apply: [BoundTransformation]
    /// `$compute`.
    public var compute: [BoundCompute]
    /// `$filter`.
    public var filter: Optional<BoundExpression>
    /// `$search`.
    public var search: Optional<SearchExpression>
    /// `$orderby`.
    public var orderBy: [BoundOrder]
    /// What to return of each row.
    public var projection: BoundProjection
    /// What to return of the complex values among the projected properties, by ordinal of the result shape;
    /// whole values where an ordinal is absent. Returning more is allowed (Protocol 4.01, 11.2.5.1).
    public var nestedProjections: [Int: BoundProjection]
    /// Options nested in `$select` after a collection-valued property, by its ordinal: the query over its members.
    public var nestedQueries: [Int: BoundQuery]
    /// `$expand`.
    public var expand: [BoundExpand]
    /// Streams that are asked for inline (`$expand=Photo`, `$expand=$value`): the steps to each stream property;
    /// none for the media resource of the entity itself.
    public var expandedStreams: [[BoundStep]]
    /// `$top`.
    public var top: Optional<Int>
    /// `$skip`.
    public var skip: Optional<Int>
    /// Whether the total count is wanted.
    public var count: Bool
    /// `$skiptoken`.
    public var skipToken: Optional<String>
    /// `$deltatoken`.
    public var deltaToken: Optional<String>
    /// `$index`: where a new member is inserted into an ordered collection; negative counts from the end.
    public var index: Optional<Int>

    /// The shape of the rows returned: that of the last transformation when there is an `$apply`.
    public var resultShape: TypeShape { apply.last?.resultShape ?? shape }

    /// A query for all rows of a shape.
    public init(shape: TypeShape, set: EntitySet?, variable: RangeVariable) {
        self.shape = shape
        self.set = set
        self.variable = variable
        apply = []
        compute = []
        filter = nil
        search = nil
        orderBy = []
        projection = .all
        nestedProjections = [:]
        nestedQueries = [:]
        expand = []
        expandedStreams = []
        top = nil
        skip = nil
        count = false
        skipToken = nil
        deltaToken = nil
        index = nil
    }
}

/// One resolved item of `$orderby`.
public struct BoundOrder: Hashable, Sendable {
    /// What to order by.
    public var expression: BoundExpression
    /// Whether greatest first.
    public var isDescending: Bool

    /// Makes an item.
    public init(_ expression: BoundExpression, isDescending: Bool) {
        self.expression = expression
        self.isDescending = isDescending
    }
}

/// One resolved item of `$compute`.
public struct BoundCompute: Hashable, Sendable {
    /// What to compute.
    public var expression: BoundExpression
    /// The name of the result.
    public var name: String

    /// Makes an item.
    public init(_ expression: BoundExpression, as name: String) {
        self.expression = expression
        self.name = name
    }
}

/// Which structural properties are returned.
public enum BoundProjection: Hashable, Sendable {
    /// All of them, and what is computed.
    case all
    /// These: ordinals of the result shape (whole complex values), and besides, by name: computed and dynamic
    /// properties, those of derived types, and annotations with their `@`.
    /// The key is not added: the caller adds what its protocol needs.
    case some(ordinals: [Int], names: [String])
}

/// One resolved item of `$expand`.
public struct BoundExpand: Hashable, Sendable {
    /// Complex properties, collections of complex values and casts on the way, then the navigation property.
    public var path: [BoundStep]
    /// The navigation property.
    public var navigation: NavigationProperty
    /// What is put into the response.
    public var form: ExpandItem.Form
    /// How deep a recursive one goes; 1 otherwise, `nil` for `max`.
    public var levels: Int?
    /// The query over the related entities.
    public var query: BoundQuery
    /// Whether an option refers to `$it`, the instance that the whole request is about.
    public var refersToOutermost = false

    /// Makes an item.
    public init(
        path: [BoundStep], navigation: NavigationProperty, form: ExpandItem.Form, levels: Int?, query: BoundQuery
    ) {
        self.path = path
        self.navigation = navigation
        self.form = form
        self.levels = levels
        self.query = query
    }
}
