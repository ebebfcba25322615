import ODataModel

/// A collection or entity request with everything resolved: what a provider executes.
public struct BoundQuery: Hashable, Sendable {
    /// The shape of the rows read, before `$apply`.
    public var shape: Shape
    /// The entity set of the rows; `nil` when contained.
    public var set: EntitySet?
    /// The current instance that expressions start from.
    public var variable: RangeVariable
    /// `$apply`, in order.
    public var apply: [BoundTransformation]
    /// `$compute`.
    public var compute: [BoundCompute]
    /// `$filter`.
    public var filter: BoundExpression?
    /// `$search`.
    public var search: SearchExpression?
    /// `$orderby`.
    public var orderBy: [BoundOrder]
    /// What to return of each row.
    public var projection: BoundProjection
    /// What to return of the complex values among the projected properties, by ordinal of the result shape;
    /// whole values where an ordinal is absent. Returning more is allowed (Protocol 4.01, 11.2.5.1).
    public var nestedProjections: [Int: BoundProjection]
    /// `$expand`.
    public var expand: [BoundExpand]
    /// `$top`.
    public var top: Int?
    /// `$skip`.
    public var skip: Int?
    /// Whether the total count is wanted.
    public var count: Bool
    /// `$skiptoken`.
    public var skipToken: String?
    /// `$deltatoken`.
    public var deltaToken: String?

    /// The shape of the rows returned: that of the last transformation when there is an `$apply`.
    public var resultShape: Shape { apply.last?.resultShape ?? shape }

    /// A query for all rows of a shape.
    public init(shape: Shape, set: EntitySet?, variable: RangeVariable) {
        self.shape = shape
        self.set = set
        self.variable = variable
        apply = []
        compute = []
        orderBy = []
        projection = .all
        nestedProjections = [:]
        expand = []
        count = false
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
    /// These: ordinals of the result shape (whole complex values), with computed and dynamic names besides.
    /// The key is not added: the caller adds what its protocol needs.
    case some(ordinals: [Int], names: [String])
}

/// One resolved item of `$expand`.
public struct BoundExpand: Hashable, Sendable {
    /// Complex properties and casts on the way, then the navigation property.
    public var path: [BoundStep]
    /// The navigation property.
    public var navigation: NavigationProperty
    /// What is put into the response.
    public var form: ExpandItem.Form
    /// How deep a recursive one goes; 1 otherwise, `nil` for `max`.
    public var levels: Int?
    /// The query over the related entities.
    public var query: BoundQuery

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

/// One resolved transformation of `$apply`.
///
/// Each carries the shape of the rows after it:
///
/// - `filter`, `orderBy`, `top`, `skip` and `identity` leave the shape as it is.
/// - `compute` appends its results to the properties: the ordinals before stay what they were. The navigation
///   properties stay too. The result is a dynamic shape without key.
/// - `aggregate` makes a dynamic shape of its results, in order.
/// - `groupBy` makes a dynamic shape of the grouping properties, in order, then the aggregates. A property that
///   was reached through navigation or complex properties is named by the whole path, with slashes and without
///   casts, such as `Customer/Country`; whoever writes rows nests it: `{"Customer":{"Country":"USA"}}`. Later
///   expressions address it by that one ``BoundStep/property(_:ordinal:of:)`` step. A property that was reached
///   through a nullable navigation property is nullable.
public indirect enum BoundTransformation: Hashable, Sendable {
    /// `filter`.
    case filter(BoundExpression, shape: Shape)
    /// `aggregate`, with the shape of its single row.
    case aggregate([BoundAggregate], shape: Shape)
    /// `groupby` with the grouping paths and the aggregates of each group (empty for distinct values).
    case groupBy([BoundPath], [BoundAggregate], shape: Shape)
    /// `compute`.
    case compute([BoundCompute], shape: Shape)
    /// `orderby`.
    case orderBy([BoundOrder], shape: Shape)
    /// `top`.
    case top(Int, shape: Shape)
    /// `skip`.
    case skip(Int, shape: Shape)
    /// `identity`.
    case identity(shape: Shape)

    /// The shape of the rows after it.
    public var resultShape: Shape {
        switch self {
        case .filter(_, let shape), .aggregate(_, let shape), .groupBy(_, _, let shape), .compute(_, let shape),
            .orderBy(_, let shape), .top(_, let shape), .skip(_, let shape), .identity(let shape):
            shape
        }
    }
}

/// One resolved aggregate.
public struct BoundAggregate: Hashable, Sendable {
    /// The standard methods (OData Data Aggregation 4.0, 3.1).
    public enum Method: String, Hashable, Sendable {
        /// Total.
        case sum
        /// Least.
        case min
        /// Greatest.
        case max
        /// Mean.
        case average
        /// Number of different values.
        case countDistinct = "countdistinct"
        /// Number of rows.
        case count = "$count"
    }

    /// What is aggregated; `nil` for the count of rows.
    public var expression: BoundExpression?
    /// How.
    public var method: Method
    /// The name of the result.
    public var name: String
    /// The type of the result.
    public var type: TypeReference

    /// Makes an aggregate.
    public init(_ expression: BoundExpression?, method: Method, as name: String, type: TypeReference) {
        self.expression = expression
        self.method = method
        self.name = name
        self.type = type
    }
}
