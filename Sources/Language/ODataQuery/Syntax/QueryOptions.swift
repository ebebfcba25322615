import ODataModel

/// The query part of a URL (OData URL Conventions 4.01, 5).
public struct QueryOptions: Hashable, Sendable {
    /// `$filter`.
    public var filter: CommonExpression?
    /// `$orderby`, most significant first.
    public var orderBy: [OrderItem]
    /// `$select`; empty when absent.
    public var select: [SelectItem]
    /// `$expand`.
    public var expand: [ExpandItem]
    /// `$top`.
    public var top: Int?
    /// `$skip`.
    public var skip: Int?
    /// `$count`; `nil` when absent.
    public var count: Bool?
    /// `$search`.
    public var search: SearchExpression?
    /// `$compute`.
    public var compute: [ComputeItem]
    /// `$apply`, in order.
    public var apply: [Transformation]
    /// `$levels`, within `$expand` only.
    public var levels: Levels?
    /// `$skiptoken`, opaque.
    public var skipToken: String?
    /// `$deltatoken`, opaque.
    public var deltaToken: String?
    /// `$format`.
    public var format: String?
    /// `$id`, on `$entity` and `$ref` requests.
    public var id: String?
    /// `$index`.
    public var index: Int?
    /// `$schemaversion`.
    public var schemaVersion: String?
    /// `$at`, `$from`, `$to` and `$toInclusive` of *OData Extension for Temporal Data*, by name with `$`.
    public var temporal: [String: CommonExpression]
    /// Values of `@name` options.
    public var aliases: [String: CommonExpression]
    /// Options that are neither the standard's nor aliases, in order of appearance.
    public var custom: [CustomOption]

    /// A query option of the service's own.
    public struct CustomOption: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The value, percent-decoded.
        public var value: String

        /// Makes an option.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// How deep a recursive `$expand` goes.
    public enum Levels: Hashable, Sendable {
        /// This many levels, 1 or more.
        case exactly(Int)
        /// As many as there are.
        case max
    }

    /// Makes options with nothing set.
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

    /// Whether nothing is set.
    public var isEmpty: Bool { self == QueryOptions() }

    /// Hashes what tells most queries apart: a hash of all of it would take longer than a comparison.
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

/// One item of `$orderby`.
public struct OrderItem: Hashable, Sendable {
    /// What to order by.
    public var expression: CommonExpression
    /// Whether greatest first.
    public var isDescending: Bool

    /// Makes an item.
    public init(_ expression: CommonExpression, isDescending: Bool = false) {
        self.expression = expression
        self.isDescending = isDescending
    }
}

/// One item of `$select`.
public struct SelectItem: Hashable, Sendable {
    /// What is selected.
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

    /// What is selected.
    public var kind: Kind
    /// The options where there are any: nearly always none, and they are large.
    private var nested: [QueryOptions] = []

    /// Options in parentheses (4.01).
    public var options: QueryOptions {
        get { nested.first ?? QueryOptions() }
        set { nested = newValue.isEmpty ? [] : [newValue] }
    }

    /// Whether there are options.
    public var hasOptions: Bool { !nested.isEmpty }

    /// Makes an item without options.
    public init(_ kind: Kind) { self.kind = kind }

    /// Makes an item.
    public init(_ kind: Kind, options: QueryOptions) {
        self.kind = kind
        self.options = options
    }
}

/// One item of `$expand`.
public struct ExpandItem: Hashable, Sendable {
    /// The path to the navigation property: complex properties and casts, then the property; a single
    /// `*` for all of them.
    public var path: [Identifier]
    /// Whether references or only a count are asked for.
    public var form: Form
    /// The nested options.
    public var options: QueryOptions

    /// What is put into the response.
    public enum Form: Hashable, Sendable {
        /// The related entities.
        case entities
        /// Their references (`/$ref`).
        case references
        /// Their number alone (`/$count`).
        case count
        /// A stream's bytes (`/$value`); of the media entity itself when the path is empty.
        case value
    }

    /// Makes an item.
    public init(path: [Identifier], form: Form = .entities, options: QueryOptions = QueryOptions()) {
        self.path = path
        self.form = form
        self.options = options
    }
}

/// One item of `$compute`.
public struct ComputeItem: Hashable, Sendable {
    /// What to compute.
    public var expression: CommonExpression
    /// The name of the result.
    public var name: Identifier

    /// Makes an item.
    public init(_ expression: CommonExpression, as name: Identifier) {
        self.expression = expression
        self.name = name
    }
}

/// A `$search` expression (OData URL Conventions 4.01, 5.1.7).
public indirect enum SearchExpression: Hashable, Sendable {
    /// A single word.
    case word(String)
    /// Words in double quotes.
    case phrase(String)
    /// Negation.
    case not(SearchExpression)
    /// Both.
    case and(SearchExpression, SearchExpression)
    /// Either.
    case or(SearchExpression, SearchExpression)
}

/// One transformation of `$apply` (OData Data Aggregation 4.0, 3).
public indirect enum Transformation: Hashable, Sendable {
    /// `aggregate(…)`.
    case aggregate([AggregateItem])
    /// `groupby((…),…)`: the grouping paths and what to do with each group.
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
    /// `concat(…)` of whole sequences.
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
    /// A set function of the service's own.
    case custom(Identifier, [CommonExpression.NamedArgument])

    /// One item of `nest`.
    public struct NestItem: Hashable, Sendable {
        /// The transformations.
        public var transformations: [Transformation]
        /// The name of the nested collection.
        public var name: Identifier

        /// Makes an item.
        public init(_ transformations: [Transformation], as name: Identifier) {
            self.transformations = transformations
            self.name = name
        }
    }

    /// What `ancestors` and `descendants` take.
    public struct HierarchyArguments: Hashable, Sendable {
        /// The root collection's path.
        public var root: CommonExpression
        /// The qualifier of the hierarchy.
        public var qualifier: Identifier
        /// The path of the node identifier.
        public var node: [Identifier]
        /// The start set's transformations.
        public var start: [Transformation]
        /// The greatest distance; `nil` for any.
        public var distance: Int?
        /// Whether start nodes are kept.
        public var keepStart: Bool

        /// Makes arguments.
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

    /// What `traverse` takes.
    public struct TraverseArguments: Hashable, Sendable {
        /// The root collection's path.
        public var root: CommonExpression
        /// The qualifier of the hierarchy.
        public var qualifier: Identifier
        /// The path of the node identifier.
        public var node: [Identifier]
        /// `preorder` or `postorder`.
        public var isPreorder: Bool
        /// The start set's transformations.
        public var start: [Transformation]
        /// The order among siblings.
        public var orderBy: [OrderItem]

        /// Makes arguments.
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

/// One item of `aggregate`.
public struct AggregateItem: Hashable, Sendable {
    /// What is aggregated.
    public enum Operand: Hashable, Sendable {
        /// `$count`, possibly at the end of a path.
        case count(path: [Identifier])
        /// An expression with its method: `sum`, `min`, `max`, `average`, `countdistinct` or a qualified name.
        case expression(CommonExpression, with: Identifier)
        /// A custom aggregate by name.
        case custom(Identifier)
    }

    /// What is aggregated.
    public var operand: Operand
    /// The steps of `from`, in order.
    public var from: [FromItem]
    /// The name of the result; `nil` for a custom aggregate under its own name.
    public var name: Identifier?

    /// One `from` step.
    public struct FromItem: Hashable, Sendable {
        /// The grouping path.
        public var path: [Identifier]
        /// Further grouping paths of the same step.
        public var others: [[Identifier]]
        /// The method, if stated.
        public var method: Identifier?

        /// Makes a step.
        public init(path: [Identifier], others: [[Identifier]] = [], method: Identifier? = nil) {
            self.path = path
            self.others = others
            self.method = method
        }
    }

    /// Makes an item.
    public init(_ operand: Operand, from: [FromItem] = [], as name: Identifier?) {
        self.operand = operand
        self.from = from
        self.name = name
    }
}

/// One item of `groupby`.
public enum GroupItem: Hashable, Sendable {
    /// A path of properties.
    case path([Identifier])
    /// `rollup(…)`; the first path is `nil` for `$all`. A single name may be that of a leveled hierarchy.
    case rollup([[Identifier]?])
    /// `rolluprecursive(…)`.
    case recursiveRollup(RecursiveRollup)

    /// What `rolluprecursive` takes.
    public struct RecursiveRollup: Hashable, Sendable {
        /// The root collection's path.
        public var root: CommonExpression
        /// The hierarchy's qualifier.
        public var qualifier: Identifier
        /// The path of the node's identifier.
        public var node: [Identifier]
        /// What restricts the hierarchy to some of its nodes; empty for all.
        public var restriction: [Transformation]

        /// Makes the arguments.
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
