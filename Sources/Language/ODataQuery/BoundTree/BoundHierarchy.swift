import ODataModel

/// A recursive hierarchy (OData Data Aggregation 4.0, 5.5.2): nodes with an identifier, and the way to a parent.
public struct HierarchyReference: Hashable, Sendable {
    /// The nodes: a collection that starts with `$root`.
    public var nodes: BoundPath
    /// The qualifier under which the annotation declares the hierarchy.
    public var qualifier: String
    /// The property of a node that identifies it.
    public var nodeProperty: BoundPath
    /// The navigation property from a node to its parent or parents.
    public var parentNavigation: NavigationProperty

    /// Makes a reference.
    public init(
        nodes: BoundPath, qualifier: String, nodeProperty: BoundPath, parentNavigation: NavigationProperty
    ) {
        self.nodes = nodes
        self.qualifier = qualifier
        self.nodeProperty = nodeProperty
        self.parentNavigation = parentNavigation
    }
}

/// The way from a row to the identifiers of its nodes (6.1): to one node, or through collections to several.
public struct NodePath: Hashable, Sendable {
    /// The part up to the last collection, and what stands for a member of it; `nil` where no collection is on the way.
    public var members: BoundAggregate.Members?
    /// The rest, from the row or from a member, which ends at an identifier.
    public var identifier: BoundPath

    /// Makes a path.
    public init(_ identifier: BoundPath, of members: BoundAggregate.Members? = nil) {
        self.identifier = identifier
        self.members = members
    }

    /// All steps from the row.
    public var steps: [BoundStep] { (members?.path.steps ?? []) + identifier.steps }
}

/// What a row gets of a node that it is related to: the three cases of 6.2.2.
public indirect enum NodeInjection: Hashable, Sendable {
    /// All properties of the node: the rows are of the type of the nodes and name their own identifier.
    case properties
    /// The node itself under the name of the path that leads from a row to it.
    case entity(String)
    /// Its identifier under the name of the path that holds it in a row: nothing leads from a row to its node.
    case identifier(String)
    /// Its identifier as the only member of a collection with a name.
    case identifiers(String)
    /// An object under a name, or a collection with that object alone, which has of the node what a further injection
    /// says: the way to the node leads through collections.
    case member(String, isCollection: Bool, NodeInjection)
    /// Nothing: what the row has of the node stays as it is.
    case nothing

    /// Whether what rows have under a name gives way to it.
    ///
    /// - Parameters:
    ///   - name: a name or, with slashes, a path.
    ///   - nodes: the type of the nodes.
    func replaces(_ name: String, nodes: TypeShape) -> Bool {
        switch self {
        case .properties:
            let first = String(name.prefix { $0 != "/" })
            return nodes.ordinal(of: first) != nil || nodes.navigationOrdinal(of: first) != nil
        case .entity(let path), .identifier(let path), .identifiers(let path), .member(let path, _, _):
            return name == path || name.hasPrefix("\(path)/")
        case .nothing: return false
        }
    }
}

/// A test of a node's place in a recursive hierarchy (5.5.2.1). It hangs on the identifiers alone, and is null where one
/// of them is.
public struct BoundHierarchyTest: Hashable, Sendable {
    /// The tests, by the names of the functions.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Whether the hierarchy has such a node.
        case isNode = "isnode"
        /// Whether the node has no parent.
        case isRoot = "isroot"
        /// Whether the node lies below the other one.
        case isDescendant = "isdescendant"
        /// Whether the node lies above the other one.
        case isAncestor = "isancestor"
        /// Whether two nodes have a parent in common or are both roots. A node is not a sibling of itself.
        case isSibling = "issibling"
        /// Whether no node lies below.
        case isLeaf = "isleaf"
    }

    /// What is tested.
    public var kind: Kind
    /// The hierarchy.
    public var reference: HierarchyReference
    /// The identifier of the node that is tested.
    public var node: BoundExpression
    /// The identifier of the other node, where a test is about two.
    public var other: BoundExpression?
    /// The greatest distance, 1 or more; `nil` for any.
    public var distance: Int?
    /// Whether a node counts as lying above and below itself.
    public var includesSelf: Bool

    /// Makes a test.
    public init(
        _ kind: Kind, in reference: HierarchyReference, node: BoundExpression, other: BoundExpression? = nil,
        distance: Int? = nil, includesSelf: Bool = false
    ) {
        self.kind = kind
        self.reference = reference
        self.node = node
        self.other = other
        self.distance = distance
        self.includesSelf = includesSelf
    }
}

/// `groupby((rolluprecursive(…), …), …)` (OData Data Aggregation 4.0, 6.3): for each node of a hierarchy the rows that
/// belong to it or to a node below it. Several `rolluprecursive` are nested, the first outermost.
public struct BoundNodeGrouping: Hashable, Sendable {
    /// The hierarchy.
    public var reference: HierarchyReference
    /// The way from a row to its nodes.
    public var input: NodePath
    /// The type of the nodes.
    public var nodes: TypeShape
    /// What restricts the nodes that rows are grouped by, as transformations of the nodes. What lies below one of them
    /// belongs to it whether it is left or not.
    public var restriction: [BoundTransformation]
    /// What the result has of the node.
    public var injection: NodeInjection
    /// Which `rolluprecursive` of the `groupby` this is, from 1: `rollupnode(Position=…)` within ``then`` is the node,
    /// the variable ``RangeVariable/rollupNode(_:)``.
    public var position: Int
    /// What is applied to the rows of each node: `groupby` by the other paths where there are any.
    public var then: [BoundTransformation]
    /// The paths under which later `rolluprecursive` have put their nodes, which stay.
    public var kept: Set<String> = []

    /// Makes a grouping.
    public init(
        reference: HierarchyReference, input: NodePath, nodes: TypeShape, restriction: [BoundTransformation],
        injection: NodeInjection, position: Int = 1, then: [BoundTransformation]
    ) {
        self.reference = reference
        self.input = input
        self.nodes = nodes
        self.restriction = restriction
        self.injection = injection
        self.position = position
        self.then = then
    }

    /// Whether what the transformed rows have under a name gives way to what they get of the node.
    ///
    /// - Parameter name: a name or, with slashes, a path.
    public func replaces(_ name: String) -> Bool {
        if kept.contains(where: { name == $0 || name.hasPrefix("\($0)/") }) { return false }
        return injection.replaces(name, nodes: nodes)
    }
}

/// A resolved `ancestors` or `descendants` (6.2.1).
public struct BoundHierarchy: Hashable, Sendable {
    /// Whether upwards.
    public var isAncestors: Bool
    /// The hierarchy.
    public var reference: HierarchyReference
    /// The way from a row to its nodes.
    public var input: NodePath
    /// What selects the start nodes among the input rows.
    public var start: [BoundTransformation]
    /// The greatest distance; `nil` for any.
    public var distance: Int?
    /// Whether start nodes are kept.
    public var keepsStart: Bool

    /// Makes a step.
    public init(
        isAncestors: Bool, reference: HierarchyReference, input: NodePath, start: [BoundTransformation],
        distance: Int?, keepsStart: Bool
    ) {
        self.isAncestors = isAncestors
        self.reference = reference
        self.input = input
        self.start = start
        self.distance = distance
        self.keepsStart = keepsStart
    }
}

/// A resolved `traverse` (6.2.2).
public struct BoundTraversal: Hashable, Sendable {
    /// The hierarchy.
    public var reference: HierarchyReference
    /// The way from a row to its nodes.
    public var input: NodePath
    /// Whether a node comes before those below it.
    public var isPreorder: Bool
    /// What selects the start nodes among all nodes; none for the roots.
    public var start: [BoundTransformation]
    /// The order among siblings, evaluated on nodes.
    public var orderBy: [BoundOrder]
    /// What a row gets of its node: where it leads to several nodes, only a row's node tells why it comes where it does.
    public var injection: NodeInjection

    /// Makes a traversal.
    public init(
        reference: HierarchyReference, input: NodePath, isPreorder: Bool, start: [BoundTransformation],
        orderBy: [BoundOrder], injection: NodeInjection = .nothing
    ) {
        self.reference = reference
        self.input = input
        self.isPreorder = isPreorder
        self.start = start
        self.orderBy = orderBy
        self.injection = injection
    }
}
