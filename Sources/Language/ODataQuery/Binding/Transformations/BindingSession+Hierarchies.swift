import ODataModel

/// Binding of recursive hierarchies: `ancestors`, `descendants`, `traverse` and the functions that test nodes
/// (OData Data Aggregation 4.0, 5.5.2.1 and 6.2).
extension BindingSession {
    // MARK: Transformations

    func hierarchy(
        _ arguments: Transformation.HierarchyArguments, isAncestors: Bool, over shape: TypeShape, in scope: Scope
    ) throws(QueryError) -> BoundTransformation {
        if let distance = arguments.distance { try requireDistance(distance, at: arguments.qualifier.offset) }
        return .hierarchy(
            BoundHierarchy(
                isAncestors: isAncestors, reference: try reference(arguments.root, arguments.qualifier, in: scope),
                input: try nodePath(arguments.node, in: scope),
                start: try start(arguments.start, over: shape, in: scope),
                distance: arguments.distance, keepsStart: arguments.keepStart), shape: shape)
    }

    func traversal(
        _ arguments: Transformation.TraverseArguments, over shape: TypeShape, in scope: Scope
    ) throws(QueryError) -> BoundTransformation {
        let reference = try reference(arguments.root, arguments.qualifier, in: scope)
        let input = try nodePath(arguments.node, in: scope)
        guard let nodes = self.shape(of: reference.nodes.type.element) else {
            throw typeError("Expected a collection of entities after $root/.", at: arguments.root.offset)
        }
        // The start nodes and their order apply to the nodes, independent of the rows related to them (6.2.2).
        var inner = Scope(shape: nodes, source: reference.set?.name)
        (inner.it, inner.itSource) = (scope.it, scope.itSource)
        return .traverse(
            BoundTraversal(
                reference: reference, input: input, isPreorder: arguments.isPreorder,
                start: try start(arguments.start, over: nodes, in: inner),
                orderBy: try order(arguments.orderBy, in: inner),
                injection: input.members == nil ? .nothing : injection(reference, input, nodes: nodes, into: shape)),
            shape: shape)
    }

    /// Resolves the transformations that select start nodes, which must not change the shape.
    private func start(
        _ transformations: [Transformation], over shape: TypeShape, in scope: Scope
    ) throws(QueryError) -> [BoundTransformation] {
        var inner = scope
        let bound = try self.transformations(transformations, in: &inner)
        guard inner.current.shape == shape else {
            throw typeError("The start nodes of a hierarchy must be some of the rows they are chosen from.", at: nil)
        }
        return bound
    }

    private func requireDistance(_ distance: Int, at offset: Int?) throws(QueryError) {
        guard distance >= 1 else {
            throw typeError("A distance in a hierarchy is 1 or more, not \(distance).", at: offset)
        }
    }

    // MARK: Hierarchies and nodes

    /// Resolves the hierarchy that is given by a collection after `$root` and a qualifier.
    func reference(
        _ root: CommonExpression, _ qualifier: Identifier, in scope: Scope
    ) throws(QueryError) -> HierarchyReference {
        guard case .path(let nodes) = try bind(root, in: scope), case .collection(.entity(let name?)) = nodes.type,
            let shape = self.shape(name), nodes.startsAtRoot
        else { throw typeError("Expected a collection of entities after $root/.", at: root.offset) }
        let hierarchies = annotations(of: shape).filter { $0.term.hasSuffix(".RecursiveHierarchy") }
        guard let hierarchy = hierarchies.first(where: { ($0.qualifier ?? "") == qualifier.text }) else {
            throw QueryError(
                .unknownName, "\(shape.name) has no recursive hierarchy \(qualifier).", offset: qualifier.offset,
                suggestions: nearest(to: qualifier.text, among: hierarchies.compactMap(\.qualifier)))
        }
        guard let property = hierarchy.path("NodeProperty"),
            let parent = hierarchy.path("ParentNavigationProperty").flatMap({ shape.navigationProperty($0) }),
            case .path(let identifier) = try bind(
                path: property.split(separator: "/").map { .name(Identifier(String($0))) },
                in: Scope(shape: shape, source: nil))
        else {
            throw unsupported("The recursive hierarchy \(qualifier) as it is declared", at: qualifier.offset)
        }
        return HierarchyReference(
            nodes: nodes, qualifier: qualifier.text, nodeProperty: identifier, parentNavigation: parent)
    }

    /// Resolves the path from a row to the identifiers of its nodes, which may contain collections (6.1).
    func nodePath(_ names: [Identifier], in scope: Scope) throws(QueryError) -> NodePath {
        let steps = names.map { PathStep.name($0) }
        var path: BoundPath?
        var found: BoundAggregate.Members?
        if let (members, rest) = try members(along: steps[...], in: scope) {
            found = members
            if rest.isEmpty {
                path = BoundPath(variable: members.variable, steps: [], type: members.variable.type)
            } else {
                var inner = scope
                inner.current = members.variable
                inner.source = source(at: members.path)
                inner.computed = [:]
                if case .path(let bound) = try bind(path: Array(rest), in: inner) { path = bound }
            }
        } else if case .path(let bound) = try bind(path: steps, in: scope) {
            path = bound
        }
        switch path?.type {
        case .primitive, .typeDefinition, .untyped, .enumeration: break
        default: path = nil
        }
        guard let path else { throw typeError("Expected the path of a node's identifier.", at: names.first?.offset) }
        return NodePath(path, of: found)
    }

    /// Returns the annotations of a type and its base types.
    func annotations(of shape: TypeShape) -> [Annotation] {
        var all = shape.annotations
        var base = shape.baseType
        while let name = base, let next = model.shape(name) {
            all += next.annotations
            base = next.baseType
        }
        return all
    }

    // MARK: Functions

    /// Returns the name, without namespace, of a function in the aggregation vocabulary; `nil` for other functions.
    static func aggregationFunction(_ name: Identifier) -> String? {
        for namespace in ["Aggregation.", Vocabulary.aggregation] where name.text.hasPrefix(namespace) {
            return String(name.text.dropFirst(namespace.count))
        }
        return nil
    }

    /// Resolves `isnode`, `isroot`, `isdescendant`, `isancestor`, `issibling` and `isleaf` (5.5.2.1); `nil` for
    /// other functions.
    func hierarchyTest(
        _ name: Identifier, _ arguments: [CommonExpression.NamedArgument], in scope: Scope
    ) throws(QueryError) -> BoundExpression? {
        guard let kind = Self.aggregationFunction(name).flatMap({ BoundHierarchyTest.Kind(rawValue: $0) }) else {
            return nil
        }
        let known = ["HierarchyNodes", "HierarchyQualifier", "Node"] + kind.parameters
        var given: [String: CommonExpression] = [:]
        for argument in arguments {
            guard known.contains(argument.name.text) else {
                throw QueryError(
                    .unknownName, "\(name) has no parameter \(argument.name).", offset: argument.name.offset,
                    suggestions: nearest(to: argument.name.text, among: known))
            }
            given[argument.name.text] = argument.value
        }
        func required(_ parameter: String) throws(QueryError) -> CommonExpression {
            guard let value = given[parameter] else {
                throw typeError("\(name) needs the parameter \(parameter).", at: name.offset)
            }
            return value
        }
        let qualifier = try required("HierarchyQualifier")
        guard case .constant(.string(let text), _) = try bind(qualifier, in: scope) else {
            throw typeError("HierarchyQualifier is the qualifier of a hierarchy as a string.", at: qualifier.offset)
        }
        let reference = try reference(
            try required("HierarchyNodes"), Identifier(text, at: qualifier.offset), in: scope)
        var test = BoundHierarchyTest(
            kind, in: reference, node: try identifier(required("Node"), of: reference, in: scope))
        if let other = kind.other { test.other = try identifier(required(other), of: reference, in: scope) }
        if let distance = given["MaxDistance"] {
            guard case .constant(.integer(let value), _) = try bind(distance, in: scope) else {
                throw typeError("MaxDistance is a whole number.", at: distance.offset)
            }
            try requireDistance(Int(clamping: value), at: distance.offset)
            test.distance = Int(clamping: value)
        }
        if let includes = given["IncludeSelf"] {
            guard case .constant(.boolean(let value), _) = try bind(includes, in: scope) else {
                throw typeError("IncludeSelf is true or false.", at: includes.offset)
            }
            test.includesSelf = value
        }
        return .hierarchyTest(test)
    }

    /// Resolves an expression for the identifier of a node, and checks its type.
    private func identifier(
        _ expression: CommonExpression, of reference: HierarchyReference, in scope: Scope
    ) throws(QueryError) -> BoundExpression {
        let bound = try bind(expression, in: scope)
        if case .constant(.null, _) = bound { return .constant(.null, reference.nodeProperty.type) }
        if let adapted = adapted(bound, to: reference.nodeProperty.type) { return adapted }
        if case .untyped = bound.type { return bound }
        guard !bound.type.isCollection, commonType(bound.type, reference.nodeProperty.type) != nil else {
            throw typeError(
                "A node of the hierarchy \(reference.qualifier) is known by a value of type "
                    + "\(reference.nodeProperty.type), not \(bound.type).", at: expression.offset)
        }
        return bound
    }
}

extension BoundHierarchyTest.Kind {
    /// The name of the parameter for the second node; `nil` for tests of a single node.
    fileprivate var other: String? {
        switch self {
        case .isNode, .isRoot, .isLeaf: nil
        case .isDescendant: "Ancestor"
        case .isAncestor: "Descendant"
        case .isSibling: "Other"
        }
    }

    /// The names of the parameters that not all tests have.
    fileprivate var parameters: [String] {
        switch self {
        case .isNode, .isRoot, .isLeaf: []
        case .isSibling: ["Other"]
        case .isDescendant: ["Ancestor", "MaxDistance", "IncludeSelf"]
        case .isAncestor: ["Descendant", "MaxDistance", "IncludeSelf"]
        }
    }
}

extension BoundPath {
    /// Whether the path starts at `$root`.
    fileprivate var startsAtRoot: Bool {
        switch steps.first {
        case .entitySet?, .singleton?: true
        default: false
        }
    }
}

extension Annotation {
    /// Returns the path in a property of a record.
    fileprivate func path(_ property: String) -> String? {
        guard case .record(_, let properties)? = value,
            case .path(_, let text)? = properties.first(where: { $0.name == property })?.value
        else { return nil }
        return text
    }
}
