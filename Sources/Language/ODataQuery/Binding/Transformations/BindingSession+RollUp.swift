import ODataModel

/// Binding of `groupby` with `rolluprecursive`, and of `rollupnode` within it (OData Data Aggregation 4.0, 6.3).
extension BindingSession {
    /// Resolves the arguments of one `rolluprecursive`, without the transformations of its groups.
    func nodes(
        of rollup: GroupItem.RecursiveRollup, position: Int, over shape: TypeShape, in scope: Scope
    ) throws(QueryError) -> BoundNodeGrouping {
        let reference = try reference(rollup.root, rollup.qualifier, in: scope)
        let input = try nodePath(rollup.node, in: scope)
        guard let nodes = self.shape(of: reference.nodes.type.element) else {
            throw typeError("Expected a collection of entities after $root/.", at: rollup.root.offset)
        }
        var inner = Scope(shape: nodes, source: reference.set?.name)
        (inner.it, inner.itSource) = (scope.it, scope.itSource)
        let restriction = try transformations(rollup.restriction, in: &inner)
        guard inner.current.shape == nodes else {
            throw typeError("A restriction of a hierarchy must keep nodes of it.", at: rollup.qualifier.offset)
        }
        return BoundNodeGrouping(
            reference: reference, input: input, nodes: nodes, restriction: restriction,
            injection: injection(reference, input, nodes: nodes, into: shape), position: position, then: [])
    }

    /// Returns the representation of a node in the rows: the three cases of 6.2.2, *Transformation traverse*.
    func injection(
        _ reference: HierarchyReference, _ input: NodePath, nodes: TypeShape, into shape: TypeShape
    ) -> NodeInjection {
        func isRelated(_ name: QualifiedName) -> Bool {
            model.isType(name, nodes.name) || model.isType(nodes.name, name)
        }
        let steps = input.steps.filter { if case .cast = $0 { false } else { true } }
        let names = steps.compactMap(\.name)
        let identifier = reference.nodeProperty.steps.compactMap(\.name)
        var before = steps[...]
        var leaf = NodeInjection.identifier(input.members == nil ? names.joined(separator: "/") : names.last ?? "")
        if Array(names.suffix(identifier.count)) == identifier {
            let path = steps.dropLast(identifier.count)
            if path.isEmpty, isRelated(shape.name) { return .properties }
            if case .navigation(let navigation, _, _)? = path.last, isRelated(navigation.target) {
                if input.members == nil { return .entity(path.compactMap(\.name).joined(separator: "/")) }
                (before, leaf) = (path, .properties)
            }
        }
        guard input.members != nil else { return leaf }
        if case .identifier(let name) = leaf {
            let last = before.popLast()
            if last?.isCollection == true { leaf = .identifiers(name) }
        }
        return before.reversed().reduce(leaf) { inner, step in
            .member(step.name ?? "", isCollection: step.isCollection, inner)
        }
    }

    /// Returns the shape of an injected member.
    private func shape(of injection: NodeInjection, _ own: BoundNodeGrouping) -> TypeShape {
        let name = QualifiedName(own.nodes.name.namespace, "\(own.nodes.name.name)_node")
        switch injection {
        case .member(let path, let isCollection, let inner):
            let navigation = NavigationProperty(
                name: path, target: targetName(for: shape(of: inner, own)), isCollection: isCollection)
            return TypeShape(dynamic: name, properties: [], navigationProperties: [navigation])
        case .identifier(let path):
            return TypeShape(dynamic: name, properties: [Property(name: path, type: own.input.identifier.type)])
        default: return own.nodes
        }
    }

    /// Nests groupings by nodes, the first outermost, with all other levels within them.
    func group(
        byNodes nodes: ArraySlice<BoundNodeGrouping>, _ levels: [[Grouping]], _ then: [Transformation],
        over shape: TypeShape, in scope: Scope
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
                ? [.aggregate([], shape: TypeShape(dynamic: resultName(shape), properties: []))]
                // Without other grouping paths, the transformations apply to all rows of a node, even if there are
                // none.
                : try transformations(then, in: &inner)
        } else {
            own.then = [try group(byNodes: others, levels, then, over: shape, in: inner)]
        }
        for other in others {
            own.injection = try injection(of: own, before: other)
            switch other.injection {
            case .entity(let name), .identifier(let name), .identifiers(let name), .member(let name, _, _):
                own.kept.insert(name)
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
        case .identifiers(let name):
            properties.insert(Property(name: name, type: .collection(own.input.identifier.type)), at: 0)
        case .member(let name, let isCollection, let inner):
            let target = targetName(for: self.shape(of: inner, own))
            navigation.insert(NavigationProperty(name: name, target: target, isCollection: isCollection), at: 0)
        case .nothing: break
        }
        return .groupByNode(
            own,
            shape: TypeShape(dynamic: resultName(shape), properties: properties, navigationProperties: navigation))
    }

    /// Returns the remaining injection of a node if a later `rolluprecursive` injects its own node into the same
    /// property.
    private func injection(
        of own: BoundNodeGrouping, before other: BoundNodeGrouping
    ) throws(QueryError) -> NodeInjection {
        switch (own.injection, other.injection) {
        case (.properties, .properties): return .nothing
        case (.entity(let name), _), (.identifier(let name), _), (.identifiers(let name), _),
            (.member(let name, _, _), _):
            return other.replaces(name) ? .nothing : own.injection
        case (.properties, .entity(let name)), (.properties, .identifier(let name)),
            (.properties, .identifiers(let name)),
            (.properties, .member(let name, _, _)):
            guard !own.replaces(name) else {
                throw unsupported("rolluprecursive by \(name) after one by the rows themselves", at: nil)
            }
            return own.injection
        default: return own.injection
        }
    }

    /// Resolves `rollupnode()` or `rollupnode(Position=…)`, the node by which the current rows are grouped; `nil`
    /// for other functions.
    func rollupNode(
        _ name: Identifier, _ arguments: [CommonExpression.NamedArgument], in scope: Scope
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
    /// The entity set of the nodes; `nil` if a path leads to them.
    var set: EntitySet? {
        if nodes.steps.count == 1, case .entitySet(let set, _)? = nodes.steps.first { set } else { nil }
    }
}

extension BoundStep {
    /// Whether the step leads to a collection.
    fileprivate var isCollection: Bool {
        switch self {
        case .property(let property, _, _): property.type.isCollection
        case .navigation(let navigation, _, _): navigation.isCollection
        case .computed(_, let type): type.isCollection
        default: false
        }
    }
}
