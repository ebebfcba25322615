import ODataModel

/// A resolved transformation of `$apply` (OData Data Aggregation 4.0, 3).
///
/// Each transformation contains the shape of the rows after it:
///
/// - `filter`, `search`, `orderBy`, `top`, `skip`, `ranked`, `ancestors`, `descendants` and `identity` keep the
///   shape.
/// - `compute` appends its results to the properties, so that earlier ordinals do not change. The navigation
///   properties are kept. The result is a dynamic shape without a key.
/// - `aggregate` creates a dynamic shape of its results, in order.
/// - `groupBy` creates a dynamic shape with the grouping properties in order, followed by the aggregates. A
///   property at the end of a path has the whole path as its name, with slashes and without casts, such as
///   `Customer/Country`. A writer of rows nests it: `{"Customer":{"Country":"USA"}}`. Later expressions address it
///   with one ``BoundStep/property(_:ordinal:of:)`` step. It is nullable if a navigation property of the path is.
/// - `concat` has the properties of all its branches by name, in order of appearance. Properties that a branch does
///   not create read as null in its rows and are not written.
/// - `join` appends a single-valued navigation property, `nest` and `addNested` append collection-valued ones.
///   Their target types are dynamic shapes if transformations change the related rows.
public indirect enum BoundTransformation: Hashable, Sendable {
    /// The transformation `filter`.
    case filter(BoundExpression, shape: TypeShape)
    /// The transformation `aggregate`, with the shape of its single row.
    case aggregate([BoundAggregate], shape: TypeShape)
    /// The transformation `groupby` with the grouping paths and the aggregates of each group, which may be empty.
    case groupBy([BoundPath], [BoundAggregate], shape: TypeShape)
    /// The transformation `compute`.
    case compute([BoundCompute], shape: TypeShape)
    /// The transformation `orderby`.
    case orderBy([BoundOrder], shape: TypeShape)
    /// The transformation `top`.
    case top(Int, shape: TypeShape)
    /// The transformation `skip`.
    case skip(Int, shape: TypeShape)
    /// The transformation `identity`.
    case identity(shape: TypeShape)
    /// The transformation `search`.
    case search(SearchExpression, shape: TypeShape)
    /// A transformation such as `topcount` or `bottompercent`: the amount and the ranking expression.
    case ranked(RankedMethod, BoundExpression, by: BoundExpression, shape: TypeShape)
    /// The transformation `concat`: the results of several sequences over the same input, one after the other. It
    /// also implements `rollup`.
    case concat([[BoundTransformation]], shape: TypeShape)
    /// The transformation `groupby` with transformations of each group other than a single `aggregate`.
    case groupByApplying([BoundPath], [BoundTransformation], shape: TypeShape)
    /// The transformation `groupby` with `rolluprecursive`.
    case groupByNode(BoundNodeGrouping, shape: TypeShape)
    /// The transformation `expand`, which adds related entities to the rows and can restrict them.
    case expand(BoundExpand, shape: TypeShape)
    /// The transformation `join` or `outerjoin`, which combines each row with each of its related rows.
    case join(BoundJoin, shape: TypeShape)
    /// The transformation `nest`, which returns one row with a collection for each item.
    case nest([BoundNest], shape: TypeShape)
    /// The transformation `addnested`, which adds collections of transformed related rows.
    case addNested(BoundPath, [BoundNest], shape: TypeShape)
    /// The transformation `ancestors` or `descendants`.
    case hierarchy(BoundHierarchy, shape: TypeShape)
    /// The transformation `traverse`.
    case traverse(BoundTraversal, shape: TypeShape)

    /// The shape of the rows after the transformation.
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
    /// The names of properties and navigation properties that some rows of the result lack.
    ///
    /// The rows of `concat` and `rollup` differ in structure (OData Data Aggregation 4.0, 3.1.1).
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
    /// The names of all properties and navigation properties.
    fileprivate var names: Set<String> { Set(properties.map(\.name) + navigationProperties.map(\.name)) }
}

/// The transformations that keep the first rows by a rank (OData Data Aggregation 4.0, 3.4).
public enum RankedMethod: String, Hashable, Sendable, CaseIterable {
    /// The given number of rows with the greatest values.
    case topCount = "topcount"
    /// The fewest rows with the greatest values that together reach the given sum.
    case topSum = "topsum"
    /// The fewest rows with the greatest values that together reach the given percentage of the total.
    case topPercent = "toppercent"
    /// The given number of rows with the least values.
    case bottomCount = "bottomcount"
    /// The fewest rows with the least values that together reach the given sum.
    case bottomSum = "bottomsum"
    /// The fewest rows with the least values that together reach the given percentage of the total.
    case bottomPercent = "bottompercent"

    /// Whether the method keeps the greatest values.
    public var isTop: Bool { rawValue.hasPrefix("top") }
}

/// A resolved `join` or `outerjoin` (3.5).
public struct BoundJoin: Hashable, Sendable {
    /// The collection-valued path to the related rows.
    public var path: BoundPath
    /// The name of the related row in the result.
    public var name: String
    /// The transformations of the related rows of each row.
    public var then: [BoundTransformation]
    /// Whether a row without related rows is kept, with a null value.
    public var isOuter: Bool
    /// The variable at which ``then`` starts.
    public var variable: RangeVariable

    /// Creates a join.
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
    /// The transformations of the collection.
    public var transformations: [BoundTransformation]
    /// The name of the collection.
    public var name: String

    /// Creates an item.
    public init(_ transformations: [BoundTransformation], as name: String) {
        self.transformations = transformations
        self.name = name
    }
}

/// A resolved item of `aggregate`.
public struct BoundAggregate: Hashable, Sendable {
    /// The standard methods (OData Data Aggregation 4.0, 3.2.1), and a case for registered functions.
    public enum Method: String, Hashable, Sendable {
        /// The sum.
        case sum
        /// The least value.
        case min
        /// The greatest value.
        case max
        /// The mean.
        case average
        /// The number of distinct values.
        case countDistinct = "countdistinct"
        /// The number of rows.
        case count = "$count"
        /// The registered ``BoundAggregate/function``.
        case custom
    }

    /// A `from` step, which first aggregates the values in groups that are finer than the groups of the result.
    public struct From: Hashable, Sendable {
        /// The additional grouping paths of the step.
        public var paths: [BoundPath]
        /// The method that aggregates the values of the groups.
        public var method: Method
        /// The registered function, if the method is custom.
        public var function: AggregateFunction?

        /// Creates a step.
        public init(_ paths: [BoundPath], method: Method, function: AggregateFunction? = nil) {
            self.paths = paths
            self.method = method
            self.function = function
        }
    }

    /// The aggregated expression; `nil` for the count of rows.
    public var expression: BoundExpression?
    /// The aggregation method.
    public var method: Method
    /// The name of the result.
    public var name: String
    /// The type of the result.
    public var type: TypeReference
    /// The collection-valued path with the members that the expression is evaluated on; `nil` for the rows
    /// themselves. Nested collections are flattened.
    public var members: Members?
    /// The entity that has the aggregated value, if the expression is a path through a single-valued navigation
    /// property.
    ///
    /// The value of an entity counts once, however many rows lead to it (OData Data Aggregation 4.0, 3.2.1.1).
    /// `nil` if the distinction does not matter.
    public var owner: BoundPath?
    /// The `from` steps, in order.
    public var from: [From]
    /// The registered function, if the method is custom.
    public var function: AggregateFunction?

    /// The members of a collection-valued path, on which an aggregate is evaluated.
    public struct Members: Hashable, Sendable {
        /// The path to the collection.
        public var path: BoundPath
        /// The variable for a member, at which the expression starts.
        public var variable: RangeVariable

        /// Creates the members of a path.
        public init(of path: BoundPath, variable: RangeVariable) {
            self.path = path
            self.variable = variable
        }
    }

    /// Creates an aggregate.
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
