import ODataModel

/// A resolved query over a collection or entity, which a provider executes.
public struct BoundQuery: Hashable, Sendable {
    /// The shape of the rows before `$apply`.
    public var shape: TypeShape
    // Optional is written in full for the reason given at `BoundURL.query`.
    /// The entity set of the rows; `nil` for contained entities.
    public var set: Optional<EntitySet>
    /// The current instance, at which expressions start.
    public var variable: RangeVariable
    /// The transformations of `$apply`, in order.
    public var apply: [BoundTransformation]
    /// The items of `$compute`.
    public var compute: [BoundCompute]
    /// The condition of `$filter`.
    public var filter: Optional<BoundExpression>
    /// The expression of `$search`.
    public var search: Optional<SearchExpression>
    /// The items of `$orderby`.
    public var orderBy: [BoundOrder]
    /// The returned properties of each row.
    public var projection: BoundProjection
    /// The returned properties of complex values, by the ordinal of the complex property in the result shape.
    ///
    /// A value without an entry is returned whole, which is always allowed (Protocol 4.01, 11.2.5.1).
    public var nestedProjections: [Int: BoundProjection]
    /// The queries over collection-valued properties with options in `$select`, by ordinal.
    public var nestedQueries: [Int: BoundQuery]
    /// The items of `$expand`.
    public var expand: [BoundExpand]
    /// The streams to include (`$expand=Photo`, `$expand=$value`), as steps to each stream property; no steps for
    /// the media resource of the entity itself.
    public var expandedStreams: [[BoundStep]]
    /// The value of `$top`.
    public var top: Optional<Int>
    /// The value of `$skip`.
    public var skip: Optional<Int>
    /// Whether the total count is requested.
    public var count: Bool
    /// The value of `$skiptoken`.
    public var skipToken: Optional<String>
    /// The value of `$deltatoken`.
    public var deltaToken: Optional<String>
    /// The value of `$index`: the position of a new member in an ordered collection; negative values count from the
    /// end.
    public var index: Optional<Int>

    /// The shape of the returned rows: the result shape of the last transformation in `$apply`, if there is one.
    public var resultShape: TypeShape { apply.last?.resultShape ?? shape }

    /// Creates a query for all rows of a shape.
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
    /// The expression by which rows are ordered.
    public var expression: BoundExpression
    /// Whether the order is descending.
    public var isDescending: Bool

    /// Creates an item.
    public init(_ expression: BoundExpression, isDescending: Bool) {
        self.expression = expression
        self.isDescending = isDescending
    }
}

/// One resolved item of `$compute`.
public struct BoundCompute: Hashable, Sendable {
    /// The computed expression.
    public var expression: BoundExpression
    /// The name of the result.
    public var name: String

    /// Creates an item.
    public init(_ expression: BoundExpression, as name: String) {
        self.expression = expression
        self.name = name
    }
}

/// The structural properties to return.
public enum BoundProjection: Hashable, Sendable {
    /// All properties, including computed ones.
    case all
    /// Some properties, without the key unless it is listed.
    ///
    /// The ordinals refer to the result shape and return whole complex values. The names are computed properties,
    /// dynamic properties, properties of derived types, and annotations with their `@`.
    case some(ordinals: [Int], names: [String])
}

/// One resolved item of `$expand`.
public struct BoundExpand: Hashable, Sendable {
    /// The complex properties, collections of complex values and casts before the navigation property.
    public var path: [BoundStep]
    /// The navigation property.
    public var navigation: NavigationProperty
    /// The form of the related entities in the response.
    public var form: ExpandItem.Form
    /// The depth of a recursive expansion; 1 for others, `nil` for `max`.
    public var levels: Int?
    /// The query over the related entities.
    public var query: BoundQuery
    /// Whether an option refers to `$it`, the instance of the whole request.
    public var refersToOutermost = false

    /// Creates an item.
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
