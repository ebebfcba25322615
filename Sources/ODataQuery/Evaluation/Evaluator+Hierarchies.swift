import ODataModel

/// `ancestors`, `descendants` and `traverse` (OData Data Aggregation 4.0, 6.2).
extension Evaluator {
    /// The nodes of a hierarchy, known by their identifiers.
    private struct Hierarchy {
        var order: [GroupKey] = []
        var parents: [GroupKey: [GroupKey]] = [:]
        var children: [GroupKey: [GroupKey]] = [:]

        /// The nodes within a distance of others, upwards or downwards; a circle ends where it begins.
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
    }

    private func hierarchy(_ reference: HierarchyReference, in outer: Environment) throws -> Hierarchy {
        var result = Hierarchy()
        for node in try instances(reference.nodes, in: outer) {
            let own = try identifier(of: node, reference, in: outer)
            guard result.parents[own] == nil else { continue }
            result.order.append(own)
            let parents = try node.rows(through: reference.parentNavigation.name).map {
                try identifier(of: $0, reference, in: outer)
            }
            result.parents[own] = parents
            for parent in parents { result.children[parent, default: []].append(own) }
        }
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

    private func node(of row: EvaluatedRow, _ reference: HierarchyReference, in outer: Environment) throws -> GroupKey {
        GroupKey([try value(.path(reference.input), in: outer.with(row))])
    }

    func related(
        _ step: BoundHierarchy, _ rows: [EvaluatedRow], in outer: Environment
    ) throws -> [EvaluatedRow] {
        let hierarchy = try hierarchy(step.reference, in: outer)
        let start = Set(
            try apply(step.start, to: rows, in: outer).map { try node(of: $0, step.reference, in: outer) }
        ).subtracting([GroupKey([.null])])  // null is no node
        var nodes = hierarchy.reached(from: start, upwards: step.isAncestors, distance: step.distance)
        if step.keepsStart { nodes.formUnion(start) }
        return try rows.filter { nodes.contains(try node(of: $0, step.reference, in: outer)) }
    }

    /// `rolluprecursive`: for each node the rows that belong to it or to one below it, transformed.
    func grouped(
        _ grouping: BoundNodeGrouping, _ rows: [EvaluatedRow], in outer: Environment
    ) throws -> [EvaluatedRow] {
        let reference = grouping.reference
        let hierarchy = try hierarchy(reference, in: outer)
        let inputs = try rows.map { try node(of: $0, reference, in: outer) }
        let nodes = try apply(grouping.restriction, to: instances(reference.nodes, in: outer), in: outer)
        return try nodes.flatMap { node -> [EvaluatedRow] in
            let own = try identifier(of: node, reference, in: outer)
            let below = hierarchy.reached(from: [own], upwards: false, distance: nil).union([own])
            let group = zip(rows, inputs).filter { below.contains($1) }.map(\.0)
            let inner = outer.with(node, as: RangeVariable.rollupNode(grouping.position))
            return try apply(grouping.then, to: group, in: inner).map { row in
                try injecting(node, grouping, into: row, in: outer)
            }
        }
    }

    /// A row with what it gets of its node.
    private func injecting(
        _ node: EvaluatedRow, _ grouping: BoundNodeGrouping, into row: EvaluatedRow, in outer: Environment
    ) throws -> EvaluatedRow {
        var result = row
        result.values = row.values.filter { !grouping.replaces($0.key) }
        result.relations = row.relations.filter { !grouping.replaces($0.key) }
        switch grouping.injection {
        case .properties:
            let (values, relations, inline) = (result.values, result.relations, row.inline)
            result = node
            result.values.merge(values) { _, new in new }
            result.relations.merge(relations) { _, new in new }
            result.inline = inline.filter { !grouping.replaces($0) }
        case .entity(let name):
            result.relations[name] = [node]
            result.inline.insert(name)
        case .identifier(let name):
            let property = grouping.reference.nodeProperty
            result.values[name] = try value(.path(property), in: outer.with(node, as: property.variable.identifier))
        case .nothing: break
        }
        return result
    }

    /// The rows in the order of their nodes: each node with its rows before or after those below it. A node with
    /// several parents comes once below each.
    func traversed(
        _ traversal: BoundTraversal, _ rows: [EvaluatedRow], in outer: Environment
    ) throws -> [EvaluatedRow] {
        let reference = traversal.reference
        let hierarchy = try hierarchy(reference, in: outer)
        var rowsByNode: [GroupKey: [EvaluatedRow]] = [:]
        for row in rows { rowsByNode[try node(of: row, reference, in: outer), default: []].append(row) }
        // The order among siblings is that of the nodes.
        let nodes = try sorted(instances(reference.nodes, in: outer), by: traversal.orderBy) { outer.with($0) }
        var ranks: [GroupKey: Int] = [:]
        for (rank, row) in nodes.enumerated() { ranks[try identifier(of: row, reference, in: outer)] = rank }
        func siblings(_ nodes: [GroupKey]) -> [GroupKey] {
            nodes.enumerated().sorted {
                (ranks[$0.element] ?? .max, $0.offset) < (ranks[$1.element] ?? .max, $1.offset)
            }.map(\.element)
        }
        let starts: [GroupKey]
        if traversal.start.isEmpty {
            starts = hierarchy.order.filter { hierarchy.parents[$0]?.isEmpty ?? true }
        } else {
            var seen: Set<GroupKey> = []
            starts = try apply(traversal.start, to: instances(reference.nodes, in: outer), in: outer)
                .map { try identifier(of: $0, reference, in: outer) }.filter { seen.insert($0).inserted }
        }
        var result: [EvaluatedRow] = []
        // The way down is kept in a list of our own, since a hierarchy may be deeper than the stack.
        enum Task { case enter(GroupKey), leave(GroupKey) }
        var tasks: [Task] = siblings(starts).reversed().map { .enter($0) }
        var open: Set<GroupKey> = []
        while let task = tasks.popLast() {
            switch task {
            case .enter(let node):
                // A node below itself is not entered again.
                guard open.insert(node).inserted else { continue }
                if traversal.isPreorder { result += rowsByNode[node] ?? [] }
                guard result.count <= Self.maxJoinedRows else { throw EvaluationError.limit("maxJoinedRows") }
                tasks.append(.leave(node))
                tasks += siblings(hierarchy.children[node] ?? []).reversed().map { .enter($0) }
            case .leave(let node):
                open.remove(node)
                if !traversal.isPreorder { result += rowsByNode[node] ?? [] }
            }
        }
        return result
    }
}
