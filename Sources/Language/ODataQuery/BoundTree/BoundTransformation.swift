import ODataModel

/// One resolved transformation of `$apply` (OData Data Aggregation 4.0, 3).
///
/// Each carries the shape of the rows after it:
///
/// - `filter`, `search`, `orderBy`, `top`, `skip`, `ranked`, `ancestors`, `descendants` and `identity` leave the shape
///   as it is.
/// - `compute` appends its results to the properties: the ordinals before stay what they were. The navigation
///   properties stay too. The result is a dynamic shape without key.
/// - `aggregate` makes a dynamic shape of its results, in order.
/// - `groupBy` makes a dynamic shape of the grouping properties, in order, then the aggregates. A property that
///   was reached through navigation or complex properties is named by the whole path, with slashes and without
///   casts, such as `Customer/Country`; whoever writes rows nests it: `{"Customer":{"Country":"USA"}}`. Later
///   expressions address it by that one ``BoundStep/property(_:ordinal:of:)`` step. A property that was reached
///   through a nullable navigation property is nullable.
/// - `concat` has the properties of all its branches, by name, in order of appearance. A row lacks the properties
///   that its branch does not make: they read as null and are not written.
/// - `join` appends a single-valued navigation property, `nest` and `addNested` collection-valued ones. Their target
///   types are dynamic shapes where transformations change the related rows.
public indirect enum BoundTransformation: Hashable, Sendable {
    /// `filter`.
    case filter(BoundExpression, shape: TypeShape)
    /// `aggregate`, with the shape of its single row.
    case aggregate([BoundAggregate], shape: TypeShape)
    /// `groupby` with the grouping paths and the aggregates of each group (empty for distinct values).
    case groupBy([BoundPath], [BoundAggregate], shape: TypeShape)
    /// `compute`.
    case compute([BoundCompute], shape: TypeShape)
    /// `orderby`.
    case orderBy([BoundOrder], shape: TypeShape)
    /// `top`.
    case top(Int, shape: TypeShape)
    /// `skip`.
    case skip(Int, shape: TypeShape)
    /// `identity`.
    case identity(shape: TypeShape)
    /// `search`.
    case search(SearchExpression, shape: TypeShape)
    /// `topcount`, `bottompercent` and their like: the amount, and what to rank by.
    case ranked(RankedMethod, BoundExpression, by: BoundExpression, shape: TypeShape)
    /// `concat`: the rows of each sequence over the same input, one after the other. `rollup` is expressed by it.
    case concat([[BoundTransformation]], shape: TypeShape)
    /// `groupby` with transformations other than one `aggregate` for each group.
    case groupByApplying([BoundPath], [BoundTransformation], shape: TypeShape)
    /// `groupby` with `rolluprecursive`: the transformations applied for each node of a hierarchy.
    case groupByNode(BoundNodeGrouping, shape: TypeShape)
    /// `expand`: the rows with related entities read and, in the item's query, restricted.
    case expand(BoundExpand, shape: TypeShape)
    /// `join` and `outerjoin`: each row with each of the related rows under a name.
    case join(BoundJoin, shape: TypeShape)
    /// `nest`: one row with a collection for each item.
    case nest([BoundNest], shape: TypeShape)
    /// `addnested`: the rows with collections made of what stands at a path.
    case addNested(BoundPath, [BoundNest], shape: TypeShape)
    /// `ancestors` and `descendants`.
    case hierarchy(BoundHierarchy, shape: TypeShape)
    /// `traverse`.
    case traverse(BoundTraversal, shape: TypeShape)

    /// The shape of the rows after it.
    public var resultShape: TypeShape {
        switch self {
        case .filter(_, let shape), .aggregate(_, let shape), .groupBy(_, _, let shape), .compute(_, let shape),
            .orderBy(_, let shape), .top(_, let shape), .skip(_, let shape), .identity(let shape),
            .search(_, let shape), .ranked(_, _, _, let shape), .concat(_, let shape),
            .groupByApplying(_, _, let shape), .groupByNode(_, let shape), .expand(_, let shape), .join(_, let shape),
            .nest(_, let shape),
            .addNested(_, _, let shape), .hierarchy(_, let shape), .traverse(_, let shape):
            shape
        }
    }

    /// The name of the transformation in `$apply`, for messages.
    public var name: String {
        switch self {
        case .filter: "filter"
        case .aggregate: "aggregate"
        case .groupBy, .groupByApplying, .groupByNode: "groupby"
        case .compute: "compute"
        case .orderBy: "orderby"
        case .top: "top"
        case .skip: "skip"
        case .identity: "identity"
        case .search: "search"
        case .ranked(let method, _, _, _): method.rawValue
        case .concat: "concat"
        case .expand: "expand"
        case .join(let join, _): join.isOuter ? "outerjoin" : "join"
        case .nest: "nest"
        case .addNested: "addnested"
        case .hierarchy(let hierarchy, _): hierarchy.isAncestors ? "ancestors" : "descendants"
        case .traverse: "traverse"
        }
    }
}

extension [BoundTransformation] {
    /// The names of properties and navigation properties that some rows of the result lack: the rows of `concat`, and so of
    /// `rollup`, differ in structure (OData Data Aggregation 4.0, 3.1.1).
    public var partialNames: Set<String> { partialNames(after: []) }

    private func partialNames(after before: Set<String>) -> Set<String> {
        reduce(into: before) { partial, transformation in
            switch transformation {
            case .concat(let branches, let shape):
                let own = branches.map { branch in
                    (names: branch.last?.resultShape.names ?? shape.names, partial: branch.partialNames(after: partial))
                }
                partial = shape.names.filter { name in
                    own.contains { !$0.names.contains(name) || $0.partial.contains(name) }
                }
            default: partial.formIntersection(transformation.resultShape.names)
            }
        }
    }
}

extension TypeShape {
    /// The names of properties and navigation properties.
    fileprivate var names: Set<String> { Set(properties.map(\.name) + navigationProperties.map(\.name)) }
}

/// The transformations that keep the first rows by a rank (OData Data Aggregation 4.0, 3.4).
public enum RankedMethod: String, Hashable, Sendable, CaseIterable {
    /// The given number of rows with the greatest values.
    case topCount = "topcount"
    /// The fewest rows with the greatest values whose sum reaches the given one.
    case topSum = "topsum"
    /// The fewest rows with the greatest values whose sum reaches the given percentage of the total.
    case topPercent = "toppercent"
    /// The given number of rows with the least values.
    case bottomCount = "bottomcount"
    /// The fewest rows with the least values whose sum reaches the given one.
    case bottomSum = "bottomsum"
    /// The fewest rows with the least values whose sum reaches the given percentage of the total.
    case bottomPercent = "bottompercent"

    /// Whether the greatest values come first.
    public var isTop: Bool { rawValue.hasPrefix("top") }
}

/// A resolved `join` or `outerjoin` (3.5).
public struct BoundJoin: Hashable, Sendable {
    /// The collection-valued path to the related rows.
    public var path: BoundPath
    /// The name under which a related row stands in the result.
    public var name: String
    /// What is done with the related rows of each row first.
    public var then: [BoundTransformation]
    /// Whether a row without related rows is kept, with null under the name.
    public var isOuter: Bool
    /// The variable that ``then`` starts from.
    public var variable: RangeVariable

    /// Makes a join.
    public init(
        path: BoundPath, name: String, then: [BoundTransformation], isOuter: Bool, variable: RangeVariable
    ) {
        self.path = path
        self.name = name
        self.then = then
        self.isOuter = isOuter
        self.variable = variable
    }
}

/// One resolved item of `nest` or `addnested`.
public struct BoundNest: Hashable, Sendable {
    /// The transformations.
    public var transformations: [BoundTransformation]
    /// The name of the collection.
    public var name: String

    /// Makes an item.
    public init(_ transformations: [BoundTransformation], as name: String) {
        self.transformations = transformations
        self.name = name
    }
}

/// One resolved aggregate.
public struct BoundAggregate: Hashable, Sendable {
    /// The standard methods (OData Data Aggregation 4.0, 3.2.1), and those registered.
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
        /// What ``BoundAggregate/function`` does.
        case custom
    }

    /// One `from` step: the values of each group of a grouping finer than the result's are aggregated first.
    public struct From: Hashable, Sendable {
        /// What is grouped by, besides the grouping of the steps after it.
        public var paths: [BoundPath]
        /// How the values of the groups are then aggregated.
        public var method: Method
        /// The registered function where the method is one.
        public var function: AggregateFunction?

        /// Makes a step.
        public init(_ paths: [BoundPath], method: Method, function: AggregateFunction? = nil) {
            self.paths = paths
            self.method = method
            self.function = function
        }
    }

    /// What is aggregated; `nil` for the count of rows.
    public var expression: BoundExpression?
    /// How.
    public var method: Method
    /// The name of the result.
    public var name: String
    /// The type of the result.
    public var type: TypeReference
    /// The collection-valued path whose members the expression is evaluated on, and the variable that stands for
    /// one; `nil` where that are the rows themselves. Collections on the way are gone through one after the other.
    public var members: Members?
    /// The entity that the values are those of, where the expression is a path through a single-valued navigation property:
    /// its value counts once, however many rows lead to it (OData Data Aggregation 4.0, 3.2.1.1). `nil` where that makes
    /// no difference.
    public var owner: BoundPath?
    /// The `from` steps, in order.
    public var from: [From]
    /// The registered function where the method is one.
    public var function: AggregateFunction?

    /// What an aggregate over a collection-valued path is evaluated on.
    public struct Members: Hashable, Sendable {
        /// The path.
        public var path: BoundPath
        /// The variable that the expression starts from.
        public var variable: RangeVariable

        /// Makes members.
        public init(of path: BoundPath, variable: RangeVariable) {
            self.path = path
            self.variable = variable
        }
    }

    /// Makes an aggregate.
    public init(
        _ expression: BoundExpression?, method: Method, as name: String, type: TypeReference,
        members: Members? = nil, from: [From] = [], function: AggregateFunction? = nil
    ) {
        self.expression = expression
        self.method = method
        self.name = name
        self.type = type
        self.members = members
        self.from = from
        self.function = function
        owner = nil
    }
}
