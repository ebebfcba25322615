import ODataModel

/// Evaluation of recursive hierarchies: the tests of nodes, `ancestors`, `descendants`, `traverse` and
/// `rolluprecursive` (OData Data Aggregation 4.0, 5.5.2.1 and 6).
extension Evaluator {
    /// The nodes of a hierarchy, by their identifiers.
    struct Hierarchy {
        var order: [GroupKey] = []
        var parents: [GroupKey: [GroupKey]] = [:]
        var children: [GroupKey: [GroupKey]] = [:]

        /// Returns the nodes within a distance of the start nodes. Each node of a circle is visited only once.
        func reached(from start: Set<GroupKey>, upwards: Bool, distance: Int?) -> Set<GroupKey> {
            var reached: Set<GroupKey> = []
            var front = start
            var steps = 0
            while !front.isEmpty, steps < distance ?? .max {
                let next = front.reduce(into: Set<GroupKey>()) { next, node in
                    next.formUnion((upwards ? parents : children)[node] ?? [])
                }
                front = next.subtracting(reached)
                reached.formUnion(next)
                steps += 1
            }
            return reached
        }

        func isRoot(_ node: GroupKey) -> Bool { parents[node]?.isEmpty ?? false }
    }

    /// A cache of the hierarchies in one evaluation.
    final class KnownHierarchies {
        var hierarchies: [HierarchyReference: Hierarchy] = [:]
    }

    private static let noNode = GroupKey([.null])

    private func hierarchy(_ reference: HierarchyReference, in outer: Environment) throws -> Hierarchy {
        if let known = outer.known.hierarchies[reference] { return known }
        var result = Hierarchy()
        var nodes: [(GroupKey, EvaluatedRow)] = []
        for node in try instances(reference.nodes, in: outer) {
            let own = try identifier(of: node, reference, in: outer)
            guard own != Self.noNode, result.parents.updateValue([], forKey: own) == nil else { continue }
            nodes.append((own, node))
        }
        for (own, node) in nodes {
            result.order.append(own)
            // Parents are nodes of the same collection (5.5.2).
            let parents = try node.rows(through: reference.parentNavigation.name).map {
                try identifier(of: $0, reference, in: outer)
            }.filter { result.parents[$0] != nil }
            result.parents[own] = parents
            for parent in parents { result.children[parent, default: []].append(own) }
        }
        if reference.nodes.steps.count == 1 { outer.known.hierarchies[reference] = result }
        return result
    }

    private func identifier(
        of node: EvaluatedRow, _ reference: HierarchyReference, in outer: Environment
    ) throws -> GroupKey {
        GroupKey([
            try value(
                .path(reference.nodeProperty), in: outer.with(node, as: reference.nodeProperty.variable.identifier))
        ])
    }

    /// Returns the nodes of a row, without null.
    private func nodes(of row: EvaluatedRow, _ input: NodePath, in outer: Environment) throws -> Set<GroupKey> {
        let own = outer.with(row)
        let places =
            try input.members.map { members in
                try self.members(of: members.path, in: own).map { own.with($0, as: members.variable.identifier) }
            } ?? [own]
        return Set(try places.map { GroupKey([try value(.path(input.identifier), in: $0)]) })
            .subtracting([Self.noNode])
    }

    // MARK: Tests

    /// Evaluates a test of a node; null if an identifier is null.
    func test(_ expression: BoundExpression, in environment: Environment) throws -> ODataValue {
        // The case is matched here, so that callers do not need stack space for the test.
        guard case .hierarchyTest(let test) = expression else { return .null }
        let identifier = try value(test.node, in: environment)
        let otherIdentifier = try test.other.map { try value($0, in: environment) }
        if identifier.isNull || otherIdentifier?.isNull == true { return .null }
        let (node, other) = (GroupKey([identifier]), otherIdentifier.map { GroupKey([$0]) })
        let hierarchy = try hierarchy(test.reference, in: environment)
        switch test.kind {
        case .isNode: return .boolean(hierarchy.parents[node] != nil)
        case .isRoot: return .boolean(hierarchy.isRoot(node))
        case .isLeaf: return .boolean(hierarchy.parents[node] != nil && hierarchy.children[node] == nil)
        case .isSibling:
            guard let other, node != other else { return .boolean(false) }
            let common = Set(hierarchy.parents[node] ?? []).intersection(hierarchy.parents[other] ?? [])
            return .boolean(!common.isEmpty || hierarchy.isRoot(node) && hierarchy.isRoot(other))
        case .isDescendant, .isAncestor:
            guard let other else { return .null }
            if test.includesSelf, node == other { return .boolean(true) }
            let reached = hierarchy.reached(
                from: [other], upwards: test.kind == .isAncestor, distance: test.distance)
            return .boolean(reached.contains(node))
        }
    }

    // MARK: Transformations

    func related(
        _ step: BoundHierarchy, _ rows: [EvaluatedRow], in outer: Environment
    ) throws -> [EvaluatedRow] {
        let hierarchy = try hierarchy(step.reference, in: outer)
        let start = Set(try apply(step.start, to: rows, in: outer).flatMap { try nodes(of: $0, step.input, in: outer) })
        var reached = hierarchy.reached(from: start, upwards: step.isAncestors, distance: step.distance)
        if step.keepsStart { reached.formUnion(start) }
        return try rows.filter { !reached.isDisjoint(with: try nodes(of: $0, step.input, in: outer)) }
    }

    /// Evaluates `rolluprecursive`: transforms the rows of each node and of the nodes below it.
    func grouped(
        _ grouping: BoundNodeGrouping, _ rows: [EvaluatedRow], in outer: Environment
    ) throws -> [EvaluatedRow] {
        let reference = grouping.reference
        let hierarchy = try hierarchy(reference, in: outer)
        let inputs = try rows.map { try nodes(of: $0, grouping.input, in: outer) }
        let grouped = try apply(grouping.restriction, to: instances(reference.nodes, in: outer), in: outer)
        return try grouped.flatMap { node -> [EvaluatedRow] in
            let own = try identifier(of: node, reference, in: outer)
            guard own != Self.noNode else { return [] }
            let below = hierarchy.reached(from: [own], upwards: false, distance: nil).union([own])
            let group = zip(rows, inputs).filter { !below.isDisjoint(with: $1) }.map(\.0)
            let inner = outer.with(node, as: RangeVariable.rollupNode(grouping.position))
            return try apply(grouping.then, to: group, in: inner).map { row in
                try injecting(node, grouping, into: row, in: outer)
            }
        }
    }

    /// Returns a row with the representation of its node.
    private func injecting(
        _ node: EvaluatedRow, _ grouping: BoundNodeGrouping, into row: EvaluatedRow, in outer: Environment
    ) throws -> EvaluatedRow {
        var result = row
        result.values = row.values.filter { !grouping.replaces($0.key) }
        result.relations = row.relations.filter { !grouping.replaces($0.key) }
        if case .properties = grouping.injection {
            let (values, relations, inline) = (result.values, result.relations, row.inline)
            result = node
            result.values.merge(values) { _, new in new }
            result.relations.merge(relations) { _, new in new }
            result.inline = inline.filter { !grouping.replaces($0) }
            return result
        }
        try inject(node, grouping.injection, reference: grouping.reference, into: &result, in: outer)
        return result
    }

    /// Adds the representation of a node to a row.
    private func inject(
        _ node: EvaluatedRow, _ injection: NodeInjection, reference: HierarchyReference, into row: inout EvaluatedRow,
        in outer: Environment
    ) throws {
        func identifier() throws -> ODataValue {
            let property = reference.nodeProperty
            return try value(.path(property), in: outer.with(node, as: property.variable.identifier))
        }
        switch injection {
        case .entity(let name): row.relations[name] = [node]
        case .identifier(let name): row.values[name] = try identifier()
        case .identifiers(let name): row.values[name] = .collection([try identifier()])
        case .member(let name, _, .properties): row.relations[name] = [node]
        case .member(let name, _, let inner):
            var member = EvaluatedRow(type: node.typeName)
            try inject(node, inner, reference: reference, into: &member, in: outer)
            row.relations[name] = [member]
        case .properties, .nothing: break
        }
        switch injection {
        case .entity(let name), .member(let name, _, _): row.inline.insert(name)
        default: break
        }
    }

    /// Returns the rows in the order of their nodes, each node before or after its descendants. A node with several
    /// parents comes once below each.
    func traversed(
        _ traversal: BoundTraversal, _ rows: [EvaluatedRow], in outer: Environment
    ) throws -> [EvaluatedRow] {
        let reference = traversal.reference
        let hierarchy = try hierarchy(reference, in: outer)
        var rowsByNode: [GroupKey: [EvaluatedRow]] = [:]
        for row in rows {
            for node in try nodes(of: row, traversal.input, in: outer) { rowsByNode[node, default: []].append(row) }
        }
        // The order of siblings is evaluated on the nodes.
        let nodes = try sorted(self.instances(reference.nodes, in: outer), by: traversal.orderBy) { outer.with($0) }
        var ranks: [GroupKey: Int] = [:]
        var instances: [GroupKey: EvaluatedRow] = [:]
        for (rank, row) in nodes.enumerated() {
            let own = try identifier(of: row, reference, in: outer)
            ranks[own] = rank
            instances[own] = row
        }
        /// Returns the rows of a node with the representation of the node.
        func related(to node: GroupKey) throws -> [EvaluatedRow] {
            guard let instance = instances[node] else { return [] }
            return try (rowsByNode[node] ?? []).map { row in
                var row = row
                try inject(instance, traversal.injection, reference: reference, into: &row, in: outer)
                return row
            }
        }
        func siblings(_ nodes: [GroupKey]) -> [GroupKey] {
            nodes.enumerated().sorted {
                (ranks[$0.element] ?? .max, $0.offset) < (ranks[$1.element] ?? .max, $1.offset)
            }.map(\.element)
        }
        let starts: [GroupKey]
        if traversal.start.isEmpty {
            starts = hierarchy.order.filter(hierarchy.isRoot)
        } else {
            var seen: Set<GroupKey> = []
            starts = try apply(traversal.start, to: self.instances(reference.nodes, in: outer), in: outer)
                .map { try identifier(of: $0, reference, in: outer) }
                .filter { $0 != Self.noNode && seen.insert($0).inserted }
        }
        var result: [EvaluatedRow] = []
        // An explicit list takes the place of recursion, since a hierarchy may be deeper than the stack.
        enum Task { case enter(GroupKey), leave(GroupKey) }
        var tasks: [Task] = siblings(starts).reversed().map { .enter($0) }
        var open: Set<GroupKey> = []
        while let task = tasks.popLast() {
            switch task {
            case .enter(let node):
                // A node below itself is not entered again.
                guard open.insert(node).inserted else { continue }
                if traversal.isPreorder { result += try related(to: node) }
                guard result.count <= source.maxRows else { throw EvaluationError.limit("maxJoinedRows") }
                tasks.append(.leave(node))
                tasks += siblings(hierarchy.children[node] ?? []).reversed().map { .enter($0) }
            case .leave(let node):
                open.remove(node)
                if !traversal.isPreorder { result += try related(to: node) }
            }
        }
        return result
    }
}
