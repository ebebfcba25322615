import ODataModel

/// `ancestors`, `descendants` and `traverse` (OData Data Aggregation 4.0, 6.2).
extension Evaluator {
    /// The nodes of a hierarchy, known by their identifiers.
    private struct Hierarchy {
        var order: [GroupKey] = []
        var identifiers: [GroupKey: ODataValue] = [:]
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

    private func hierarchy(
        _ reference: HierarchyReference, restrictedBy restriction: [BoundTransformation] = [],
        in outer: Environment
    ) throws -> Hierarchy {
        func identifier(_ row: EvaluatedRow) throws -> ODataValue {
            try value(
                .path(reference.nodeProperty), in: outer.with(row, as: reference.nodeProperty.variable.identifier))
        }
        var result = Hierarchy()
        for node in try apply(restriction, to: instances(reference.nodes, in: outer), in: outer) {
            let identity = try identifier(node)
            let own = GroupKey([identity])
            guard result.parents[own] == nil else { continue }
            result.order.append(own)
            result.identifiers[own] = identity
            let parents = try node.rows(through: reference.parentNavigation.name).map { GroupKey([try identifier($0)]) }
            result.parents[own] = parents
            for parent in parents { result.children[parent, default: []].append(own) }
        }
        return result
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
        let hierarchy = try hierarchy(grouping.reference, restrictedBy: grouping.restriction, in: outer)
        let nodes = try rows.map { try node(of: $0, grouping.reference, in: outer) }
        let name = grouping.reference.input.steps.compactMap(\.name).joined(separator: "/")
        return try hierarchy.order.flatMap { node -> [EvaluatedRow] in
            let below = hierarchy.reached(from: [node], upwards: false, distance: nil).union([node])
            let group = zip(rows, nodes).filter { below.contains($1) }.map(\.0)
            return try apply(grouping.then, to: group, in: outer).map { row in
                var row = row
                row.values[name] = hierarchy.identifiers[node] ?? .null
                return row
            }
        }
    }

    /// The rows in the order of their nodes: each node with its rows before or after those below it. A node with
    /// several parents comes once below each.
    func traversed(
        _ traversal: BoundTraversal, _ rows: [EvaluatedRow], in outer: Environment
    ) throws -> [EvaluatedRow] {
        let hierarchy = try hierarchy(traversal.reference, in: outer)
        var rowsByNode: [GroupKey: [EvaluatedRow]] = [:]
        var ranks: [GroupKey: Int] = [:]
        for (rank, row) in try sorted(rows, by: traversal.orderBy, { outer.with($0) }).enumerated() {
            let node = try node(of: row, traversal.reference, in: outer)
            rowsByNode[node, default: []].append(row)
            if ranks[node] == nil { ranks[node] = rank }
        }
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
            starts = try apply(traversal.start, to: rows, in: outer)
                .map { try node(of: $0, traversal.reference, in: outer) }.filter { seen.insert($0).inserted }
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
