import ODataModel

/// `groupby` with `rolluprecursive`, and `rollupnode` within it (OData Data Aggregation 4.0, 6.3).
extension BindingSession {
    /// The arguments of one `rolluprecursive`, nothing applied yet.
    func nodes(
        of rollup: GroupItem.RecursiveRollup, position: Int, over shape: Shape, in scope: Scope
    ) throws(QueryError) -> BoundNodeGrouping {
        let reference = try reference(rollup.root, rollup.qualifier, in: scope)
        let input = try nodePath(rollup.node, in: scope)
        guard input.members == nil else {
            throw unsupported("rolluprecursive along a collection", at: rollup.node.first?.offset)
        }
        guard let nodes = self.shape(of: reference.nodes.type.element) else {
            throw typeError("Expected a collection of entities after $root/.", at: rollup.root.offset)
        }
        var inner = Scope(shape: nodes, source: reference.set?.name)
        (inner.it, inner.itSource) = (scope.it, scope.itSource)
        let restriction = try transformations(rollup.restriction, in: &inner)
        guard inner.current.shape == nodes else {
            throw typeError("What restricts a hierarchy must leave nodes of it.", at: rollup.qualifier.offset)
        }
        return BoundNodeGrouping(
            reference: reference, input: input, nodes: nodes, restriction: restriction,
            injection: injection(reference, input, nodes, into: shape), position: position, then: [])
    }

    /// What of a node is put into the rows: the three cases of 6.2.2, *Transformation traverse*.
    private func injection(
        _ reference: HierarchyReference, _ input: NodePath, _ nodes: Shape, into shape: Shape
    ) -> BoundNodeGrouping.Injection {
        func isRelated(_ name: QualifiedName) -> Bool {
            model.isType(name, nodes.name) || model.isType(nodes.name, name)
        }
        let steps = input.steps.filter { if case .cast = $0 { false } else { true } }
        let names = steps.compactMap(\.name)
        let identifier = reference.nodeProperty.steps.compactMap(\.name)
        guard Array(names.suffix(identifier.count)) == identifier else {
            return .identifier(names.joined(separator: "/"))
        }
        let before = steps.dropLast(identifier.count)
        if before.isEmpty, isRelated(shape.name) { return .properties }
        guard case .navigation(let navigation, _, _)? = before.last, isRelated(navigation.target) else {
            return .identifier(names.joined(separator: "/"))
        }
        return .entity(before.compactMap(\.name).joined(separator: "/"))
    }

    /// One grouping by nodes within the other, the first outermost, and within them all other levels.
    func group(
        byNodes nodes: ArraySlice<BoundNodeGrouping>, _ levels: [[Grouping]], _ then: [Transformation],
        over shape: Shape, in scope: Scope
    ) throws(QueryError) -> BoundTransformation {
        guard var own = nodes.first else {
            if levels.count > 1 { return try rollUp(levels, then, over: shape, in: scope) }
            return try group(by: levels[0], then, over: shape, in: scope)
        }
        let node = RangeVariable(
            name: "rollupnode", identifier: RangeVariable.rollupNode(own.position), shape: own.nodes,
            type: .entity(own.nodes.name))
        var inner = scope
        inner.rollupNodes.append((node, own.reference.set?.name))
        let others = nodes.dropFirst()
        if others.isEmpty, levels.count == 1, levels[0].isEmpty {
            own.then =
                then.isEmpty
                ? [.aggregate([], shape: Shape(dynamic: resultName(shape), properties: []))]
                // Without other paths the transformations see the rows of a node as they are, should there be none.
                : try transformations(then, in: &inner)
        } else {
            own.then = [try group(byNodes: others, levels, then, over: shape, in: inner)]
        }
        for other in others {
            own.injection = try injection(of: own, before: other)
            switch other.injection {
            case .entity(let name), .identifier(let name): own.kept.insert(name)
            case .properties, .nothing: break
            }
        }
        let result = own.then.last?.resultShape ?? shape
        var properties = result.properties.filter { !own.replaces($0.name) }
        var navigation = result.navigationProperties.filter { !own.replaces($0.name) }
        switch own.injection {
        case .properties:
            properties = own.nodes.properties + properties
            navigation = own.nodes.navigationProperties + navigation
        case .entity(let name):
            navigation.insert(
                NavigationProperty(name: name, target: own.nodes.name, isCollection: false, isNullable: false), at: 0)
        case .identifier(let name):
            properties.insert(Property(name: name, type: own.input.identifier.type), at: 0)
        case .nothing: break
        }
        return .groupByNode(
            own,
            shape: Shape(dynamic: resultName(shape), properties: properties, navigationProperties: navigation))
    }

    /// What is left to put into the rows when a later `rolluprecursive` puts its node there too.
    private func injection(
        of own: BoundNodeGrouping, before other: BoundNodeGrouping
    ) throws(QueryError) -> BoundNodeGrouping.Injection {
        switch (own.injection, other.injection) {
        case (.properties, .properties): return .nothing
        case (.entity(let name), _), (.identifier(let name), _): return other.replaces(name) ? .nothing : own.injection
        case (.properties, .entity(let name)), (.properties, .identifier(let name)):
            guard !own.replaces(name) else {
                throw unsupported("rolluprecursive by \(name) after one by the rows themselves", at: nil)
            }
            return own.injection
        default: return own.injection
        }
    }

    /// `rollupnode()` or `rollupnode(Position=…)`: the node that the rows at hand are grouped by; `nil` for other
    /// functions.
    func rollupNode(
        _ name: Identifier, _ arguments: [Expression.NamedArgument], in scope: Scope
    ) throws(QueryError) -> PathState? {
        guard Self.aggregationFunction(name) == "rollupnode" else { return nil }
        var position: Int64 = 1
        for argument in arguments {
            guard argument.name.text == "Position", case .literal(let literal) = argument.value,
                case .integer(let number) = literal.value
            else { throw typeError("rollupnode takes a whole number as Position.", at: argument.name.offset) }
            position = number
        }
        guard position > 0, position <= scope.rollupNodes.count else {
            throw typeError(
                "rollupnode(Position=\(position)) stands within \(scope.rollupNodes.count) rolluprecursive.",
                at: name.offset)
        }
        let (variable, source) = scope.rollupNodes[Int(position) - 1]
        return PathState(variable: variable, type: variable.type, shape: variable.shape, source: source)
    }
}

extension HierarchyReference {
    /// The entity set of the nodes; `nil` where a path leads to them.
    var set: EntitySet? {
        if nodes.steps.count == 1, case .entitySet(let set, _)? = nodes.steps.first { set } else { nil }
    }
}
