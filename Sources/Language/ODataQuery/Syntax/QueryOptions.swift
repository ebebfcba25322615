import ODataModel

/// The query part of a URL (OData URL Conventions 4.01, 5).
///
/// ```swift
/// var options = QueryOptions()
/// options.top = 10
/// options.skip = 20
/// let page = try await service.entities("Orders", options)
/// ```
public struct QueryOptions: Hashable, Sendable {
    /// The condition of `$filter`.
    public var filter: CommonExpression?
    /// The items of `$orderby`, most significant first.
    public var orderBy: [OrderItem]
    /// The items of `$select`; empty if it is absent.
    public var select: [SelectItem]
    /// The items of `$expand`.
    public var expand: [ExpandItem]
    /// The value of `$top`.
    public var top: Int?
    /// The value of `$skip`.
    public var skip: Int?
    /// The value of `$count`; `nil` if it is absent.
    public var count: Bool?
    /// The expression of `$search`.
    public var search: SearchExpression?
    /// The items of `$compute`.
    public var compute: [ComputeItem]
    /// The transformations of `$apply`, in order.
    public var apply: [Transformation]
    /// The value of `$levels`, which is only allowed within `$expand`.
    public var levels: Levels?
    /// The value of `$skiptoken`, which is opaque.
    public var skipToken: String?
    /// The value of `$deltatoken`, which is opaque.
    public var deltaToken: String?
    /// The value of `$format`.
    public var format: String?
    /// The value of `$id`, for `$entity` and `$ref` requests.
    public var id: String?
    /// The value of `$index`.
    public var index: Int?
    /// The value of `$schemaversion`.
    public var schemaVersion: String?
    /// The values of `$at`, `$from`, `$to` and `$toInclusive` of *OData Extension for Temporal Data*, by name with
    /// `$`.
    public var temporal: [String: CommonExpression]
    /// The values of `@name` options, by name without `@`.
    public var aliases: [String: CommonExpression]
    /// The custom query options, in order of appearance.
    public var custom: [CustomOption]

    /// A query option that a service defines itself.
    public struct CustomOption: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The value, percent-decoded.
        public var value: String

        /// Creates an option.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The depth of a recursive `$expand`.
    public enum Levels: Hashable, Sendable {
        /// A number of levels, 1 or more.
        case exactly(Int)
        /// All levels.
        case max
    }

    /// Creates empty options.
    public init() {
        orderBy = []
        select = []
        expand = []
        compute = []
        apply = []
        temporal = [:]
        aliases = [:]
        custom = []
    }

    /// Whether no option is set.
    public var isEmpty: Bool { self == QueryOptions() }

    /// Hashes the parts that distinguish most queries, since hashing all parts would take longer than a comparison.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(filter)
        hasher.combine(orderBy.count)
        hasher.combine(select.count)
        hasher.combine(expand.count)
        hasher.combine(top)
        hasher.combine(skip)
        hasher.combine(search)
        hasher.combine(apply)
        hasher.combine(aliases)
        hasher.combine(custom)
    }
}

/// An item of `$orderby`.
public struct OrderItem: Hashable, Sendable {
    /// The expression by which rows are ordered.
    public var expression: CommonExpression
    /// Whether the order is descending.
    public var isDescending: Bool

    /// Creates an item.
    public init(_ expression: CommonExpression, isDescending: Bool = false) {
        self.expression = expression
        self.isDescending = isDescending
    }
}

/// An item of `$select`.
public struct SelectItem: Hashable, Sendable {
    /// The selected properties or operations.
    public enum Kind: Hashable, Sendable {
        /// `*`: all declared and dynamic properties.
        case all
        /// `Namespace.*`: all operations of a schema.
        case operations(String)
        /// A path of properties and type casts, or one qualified operation.
        case path([Identifier])
        /// One overload of a function, possibly after a type cast, by the names of its parameters.
        case operation([Identifier], parameters: [Identifier])
    }

    /// The selected properties or operations.
    public var kind: Kind
    /// The options; empty in nearly all cases. They are stored in an array because they are large.
    private var nested: [QueryOptions] = []

    /// The options in parentheses (4.01).
    public var options: QueryOptions {
        get { nested.first ?? QueryOptions() }
        set { nested = newValue.isEmpty ? [] : [newValue] }
    }

    /// Whether there are options.
    public var hasOptions: Bool { !nested.isEmpty }

    /// Creates an item without options.
    public init(_ kind: Kind) { self.kind = kind }

    /// Creates an item.
    public init(_ kind: Kind, options: QueryOptions) {
        self.kind = kind
        self.options = options
    }
}

/// An item of `$expand`.
public struct ExpandItem: Hashable, Sendable {
    /// The path to the navigation property: complex properties and casts, then the property; a single `*` for all
    /// of them.
    public var path: [Identifier]
    /// The form of the related entities in the response.
    public var form: Form
    /// The nested options.
    public var options: QueryOptions

    /// The form of related entities in the response.
    public enum Form: Hashable, Sendable {
        /// The related entities.
        case entities
        /// Their references (`/$ref`).
        case references
        /// The number of related entities (`/$count`).
        case count
        /// The bytes of a stream (`/$value`); the media entity itself if the path is empty.
        case value
    }

    /// Creates an item.
    public init(path: [Identifier], form: Form = .entities, options: QueryOptions = QueryOptions()) {
        self.path = path
        self.form = form
        self.options = options
    }
}

/// An item of `$compute`.
public struct ComputeItem: Hashable, Sendable {
    /// The computed expression.
    public var expression: CommonExpression
    /// The name of the result.
    public var name: Identifier

    /// Creates an item.
    public init(_ expression: CommonExpression, as name: Identifier) {
        self.expression = expression
        self.name = name
    }
}

/// A `$search` expression (OData URL Conventions 4.01, 5.1.7).
public indirect enum SearchExpression: Hashable, Sendable {
    /// A single word.
    case word(String)
    /// A phrase in double quotes.
    case phrase(String)
    /// The negation of an expression (`NOT`).
    case not(SearchExpression)
    /// A conjunction (`AND`).
    case and(SearchExpression, SearchExpression)
    /// A disjunction (`OR`).
    case or(SearchExpression, SearchExpression)
}

/// A transformation of `$apply` (OData Data Aggregation 4.0, 3).
public indirect enum Transformation: Hashable, Sendable {
    /// `aggregate(…)`.
    case aggregate([AggregateItem])
    /// `groupby((…),…)`: the grouping paths and the transformations of each group.
    case groupBy([GroupItem], then: [Transformation])
    /// `filter(…)`.
    case filter(CommonExpression)
    /// `orderby(…)`.
    case orderBy([OrderItem])
    /// `search(…)`.
    case search(SearchExpression)
    /// `compute(…)`.
    case compute([ComputeItem])
    /// `top(n)`.
    case top(CommonExpression)
    /// `skip(n)`.
    case skip(CommonExpression)
    /// `topcount`, `topsum`, `toppercent`, `bottomcount`, `bottomsum`, `bottompercent`.
    case ranked(String, CommonExpression, CommonExpression)
    /// `identity`.
    case identity
    /// `concat(…)` with sequences of transformations.
    case concat([[Transformation]])
    /// `expand(…)`.
    case expand(ExpandItem, filter: CommonExpression?)
    /// `join(path as name,…)`, or `outerjoin`.
    case join([Identifier], as: Identifier, then: [Transformation], outer: Bool)
    /// `nest(… as name)`.
    case nest([NestItem])
    /// `addnested(path,… as name)`.
    case addNested([Identifier], [NestItem])
    /// `ancestors(…)` or `descendants(…)`.
    case hierarchy(String, HierarchyArguments)
    /// `traverse(…)`.
    case traverse(TraverseArguments)
    /// A set function that the service defines.
    case custom(Identifier, [CommonExpression.NamedArgument])

    /// An item of `nest`.
    public struct NestItem: Hashable, Sendable {
        /// The transformations.
        public var transformations: [Transformation]
        /// The name of the nested collection.
        public var name: Identifier

        /// Creates an item.
        public init(_ transformations: [Transformation], as name: Identifier) {
            self.transformations = transformations
            self.name = name
        }
    }

    /// The arguments of `ancestors` and `descendants`.
    public struct HierarchyArguments: Hashable, Sendable {
        /// The path of the root collection.
        public var root: CommonExpression
        /// The qualifier of the hierarchy.
        public var qualifier: Identifier
        /// The path of the node identifier.
        public var node: [Identifier]
        /// The transformations that select the start nodes.
        public var start: [Transformation]
        /// The maximum distance; `nil` for any.
        public var distance: Int?
        /// Whether the start nodes are kept.
        public var keepStart: Bool

        /// Creates arguments.
        public init(
            root: CommonExpression, qualifier: Identifier, node: [Identifier], start: [Transformation],
            distance: Int? = nil, keepStart: Bool = false
        ) {
            self.root = root
            self.qualifier = qualifier
            self.node = node
            self.start = start
            self.distance = distance
            self.keepStart = keepStart
        }
    }

    /// The arguments of `traverse`.
    public struct TraverseArguments: Hashable, Sendable {
        /// The path of the root collection.
        public var root: CommonExpression
        /// The qualifier of the hierarchy.
        public var qualifier: Identifier
        /// The path of the node identifier.
        public var node: [Identifier]
        /// Whether the order is `preorder`; otherwise it is `postorder`.
        public var isPreorder: Bool
        /// The transformations that select the start nodes.
        public var start: [Transformation]
        /// The order of siblings.
        public var orderBy: [OrderItem]

        /// Creates arguments.
        public init(
            root: CommonExpression, qualifier: Identifier, node: [Identifier], isPreorder: Bool,
            start: [Transformation] = [], orderBy: [OrderItem] = []
        ) {
            self.root = root
            self.qualifier = qualifier
            self.node = node
            self.isPreorder = isPreorder
            self.start = start
            self.orderBy = orderBy
        }
    }
}

/// An item of `aggregate`.
public struct AggregateItem: Hashable, Sendable {
    /// The operand of an aggregation.
    public enum Operand: Hashable, Sendable {
        /// `$count`, possibly at the end of a path.
        case count(path: [Identifier])
        /// An expression with its method: `sum`, `min`, `max`, `average`, `countdistinct` or a qualified name.
        case expression(CommonExpression, with: Identifier)
        /// A custom aggregate by name.
        case custom(Identifier)
    }

    /// The operand of the aggregation.
    public var operand: Operand
    /// The steps of `from`, in order.
    public var from: [FromItem]
    /// The name of the result; `nil` for a custom aggregate that keeps its own name.
    public var name: Identifier?

    /// A `from` step.
    public struct FromItem: Hashable, Sendable {
        /// The grouping path.
        public var path: [Identifier]
        /// Additional grouping paths of the same step.
        public var others: [[Identifier]]
        /// The method; `nil` if it is not stated.
        public var method: Identifier?

        /// Creates a step.
        public init(path: [Identifier], others: [[Identifier]] = [], method: Identifier? = nil) {
            self.path = path
            self.others = others
            self.method = method
        }
    }

    /// Creates an item.
    public init(_ operand: Operand, from: [FromItem] = [], as name: Identifier?) {
        self.operand = operand
        self.from = from
        self.name = name
    }
}

/// An item of `groupby`.
public enum GroupItem: Hashable, Sendable {
    /// A path of properties.
    case path([Identifier])
    /// `rollup(…)`; the first path is `nil` for `$all`. A single name may be the name of a leveled hierarchy.
    case rollup([[Identifier]?])
    /// `rolluprecursive(…)`.
    case recursiveRollup(RecursiveRollup)

    /// The arguments of `rolluprecursive`.
    public struct RecursiveRollup: Hashable, Sendable {
        /// The path of the root collection.
        public var root: CommonExpression
        /// The qualifier of the hierarchy.
        public var qualifier: Identifier
        /// The path of the node identifier.
        public var node: [Identifier]
        /// The transformations that restrict the nodes of the hierarchy; empty for all nodes.
        public var restriction: [Transformation]

        /// Creates arguments.
        public init(
            root: CommonExpression, qualifier: Identifier, node: [Identifier], restriction: [Transformation] = []
        ) {
            self.root = root
            self.qualifier = qualifier
            self.node = node
            self.restriction = restriction
        }
    }
}
