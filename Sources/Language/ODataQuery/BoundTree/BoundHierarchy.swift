import ODataModel

/// A recursive hierarchy (OData Data Aggregation 4.0, 5.5.2): nodes with an identifier, and a navigation property
/// to their parents.
public struct HierarchyReference: Hashable, Sendable {
    /// The nodes: a path to a collection that starts with `$root`.
    public var nodes: BoundPath
    /// The qualifier under which the annotation declares the hierarchy.
    public var qualifier: String
    /// The property that identifies a node.
    public var nodeProperty: BoundPath
    /// The navigation property from a node to its parent or parents.
    public var parentNavigation: NavigationProperty

    /// Creates a reference.
    public init(
        nodes: BoundPath, qualifier: String, nodeProperty: BoundPath, parentNavigation: NavigationProperty
    ) {
        self.nodes = nodes
        self.qualifier = qualifier
        self.nodeProperty = nodeProperty
        self.parentNavigation = parentNavigation
    }
}

/// The path from a row to the identifiers of its nodes (6.1): to one node, or through collections to several.
public struct NodePath: Hashable, Sendable {
    /// The path up to the last collection, and the variable for its members; `nil` if the path has no collection.
    public var members: BoundAggregate.Members?
    /// The rest of the path, from the row or from a member to an identifier.
    public var identifier: BoundPath

    /// Creates a path.
    public init(_ identifier: BoundPath, of members: BoundAggregate.Members? = nil) {
        self.identifier = identifier
        self.members = members
    }

    /// All steps from the row.
    public var steps: [BoundStep] { (members?.path.steps ?? []) + identifier.steps }
}

/// The representation of a related node in a row: the three cases of 6.2.2.
public indirect enum NodeInjection: Hashable, Sendable {
    /// All properties of the node: the rows have the type of the nodes and contain their own identifier.
    case properties
    /// The node itself, under the name of the path to it.
    case entity(String)
    /// The identifier of the node, under the name of the path that contains it. The row has no path to the node.
    case identifier(String)
    /// The identifier as the only member of a named collection.
    case identifiers(String)
    /// An object under a name, or a collection with only that object, which contains a further injection.
    ///
    /// The path to the node contains collections in this case.
    case member(String, isCollection: Bool, NodeInjection)
    /// Nothing: the row keeps its representation of the node.
    case nothing

    /// Returns whether the injection replaces the value that rows have under a name.
    ///
    /// - Parameters:
    ///   - name: a name or a path with slashes.
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

/// A test of a node's place in a recursive hierarchy (5.5.2.1). It depends only on the identifiers, and is null if
/// one of them is null.
public struct BoundHierarchyTest: Hashable, Sendable {
    /// The kinds of tests, named like the functions.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Whether the hierarchy has a node with the identifier.
        case isNode = "isnode"
        /// Whether the node has no parent.
        case isRoot = "isroot"
        /// Whether the node is below the other one.
        case isDescendant = "isdescendant"
        /// Whether the node is above the other one.
        case isAncestor = "isancestor"
        /// Whether two nodes have a common parent or are both roots. A node is not a sibling of itself.
        case isSibling = "issibling"
        /// Whether the node has no children.
        case isLeaf = "isleaf"
    }

    /// The kind of the test.
    public var kind: Kind
    /// The hierarchy.
    public var reference: HierarchyReference
    /// The identifier of the tested node.
    public var node: BoundExpression
    /// The identifier of the second node, for tests of two nodes.
    public var other: BoundExpression?
    /// The maximum distance, 1 or more; `nil` for any.
    public var distance: Int?
    /// Whether a node counts as above and below itself.
    public var includesSelf: Bool

    /// Creates a test.
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

/// A resolved `groupby((rolluprecursive(…), …), …)` (OData Data Aggregation 4.0, 6.3).
///
/// It groups rows by the nodes of a hierarchy. The group of a node has the rows of the node and of the nodes below
/// it. Several `rolluprecursive` are nested, the first outermost.
public struct BoundNodeGrouping: Hashable, Sendable {
    /// The hierarchy.
    public var reference: HierarchyReference
    /// The path from a row to its nodes.
    public var input: NodePath
    /// The type of the nodes.
    public var nodes: TypeShape
    /// The transformations that restrict the nodes by which rows are grouped. A group still contains the rows of
    /// excluded nodes below its node.
    public var restriction: [BoundTransformation]
    /// The representation of the node in the result.
    public var injection: NodeInjection
    /// The position of the `rolluprecursive` in its `groupby`, from 1.
    ///
    /// Within ``then``, `rollupnode(Position=…)` is the variable ``RangeVariable/rollupNode(_:)``.
    public var position: Int
    /// The transformations of the rows of each node, including a `groupby` for the other grouping paths.
    public var then: [BoundTransformation]
    /// The paths at which later `rolluprecursive` groupings injected their nodes, which are not replaced.
    public var kept: Set<String> = []

    /// Creates a grouping.
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

    /// Returns whether the node replaces the value that transformed rows have under a name.
    ///
    /// - Parameter name: a name or a path with slashes.
    public func replaces(_ name: String) -> Bool {
        if kept.contains(where: { name == $0 || name.hasPrefix("\($0)/") }) { return false }
        return injection.replaces(name, nodes: nodes)
    }
}

/// A resolved `ancestors` or `descendants` (6.2.1).
public struct BoundHierarchy: Hashable, Sendable {
    /// Whether the transformation is `ancestors`.
    public var isAncestors: Bool
    /// The hierarchy.
    public var reference: HierarchyReference
    /// The path from a row to its nodes.
    public var input: NodePath
    /// The transformations that select the start nodes among the input rows.
    public var start: [BoundTransformation]
    /// The maximum distance; `nil` for any.
    public var distance: Int?
    /// Whether the start nodes are kept.
    public var keepsStart: Bool

    /// Creates a resolved transformation.
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
    /// The path from a row to its nodes.
    public var input: NodePath
    /// Whether a node comes before its descendants.
    public var isPreorder: Bool
    /// The transformations that select the start nodes among all nodes; empty for the roots.
    public var start: [BoundTransformation]
    /// The order of siblings, evaluated on the nodes.
    public var orderBy: [BoundOrder]
    /// The representation of the node in a row. If a row has several nodes, only this value shows the node to which
    /// its position belongs.
    public var injection: NodeInjection

    /// Creates a traversal.
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
