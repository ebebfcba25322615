import ODataModel

/// The transformations that relate rows to others: `join`, `nest`, `addnested`, and those over recursive
/// hierarchies (OData Data Aggregation 4.0, 3.5, 3.6 and 6.2).
extension BindingSession {
    // MARK: join

    func join(
        _ path: [Identifier], as name: Identifier, _ then: [Transformation], isOuter: Bool, over shape: Shape,
        in scope: Scope
    ) throws(QueryError) -> BoundTransformation {
        let (bound, inner) = try collection(path, in: scope)
        var result = inner
        let transformations = try transformations(then, in: &result)
        try requireFree(name, in: shape)
        let target = result.current.shape ?? shape
        let navigation = NavigationProperty(
            name: name.text, target: targetName(for: target), isCollection: false, isNullable: isOuter)
        return .join(
            BoundJoin(
                path: bound, name: name.text, then: transformations, isOuter: isOuter, variable: inner.current),
            shape: adding([navigation], to: shape))
    }

    /// A path to a collection of structured values, and the scope over its members.
    private func collection(_ path: [Identifier], in scope: Scope) throws(QueryError) -> (BoundPath, Scope) {
        let offset = path.first?.offset
        guard case .path(let bound) = try bind(path: path.map { .name($0) }, in: scope),
            case .collection(let element) = bound.type, let target = self.shape(of: element)
        else { throw typeError("Expected a path to a collection of entities or complex values.", at: offset) }
        var source: String?
        if case .navigation(_, _, let set)? = bound.steps.last { source = set?.name }
        var inner = Scope(shape: target, source: source)
        (inner.it, inner.itSource) = (scope.it, scope.itSource)
        return (bound, inner)
    }

    private func requireFree(_ name: Identifier, in shape: Shape) throws(QueryError) {
        guard shape.ordinal(of: name.text) == nil, shape.navigationOrdinal(of: name.text) == nil else {
            throw typeError("\(name) is the name of a property already.", at: name.offset)
        }
    }

    private func adding(_ navigation: [NavigationProperty], to shape: Shape) -> Shape {
        Shape(
            dynamic: shape.name, properties: shape.properties,
            navigationProperties: shape.navigationProperties + navigation)
    }

    // MARK: nest

    /// The items of `nest`, and a collection-valued navigation property for each.
    func nests(
        _ items: [Transformation.NestItem], in scope: Scope, taken: [String]
    ) throws(QueryError) -> ([BoundNest], [NavigationProperty]) {
        var bound: [BoundNest] = []
        var navigation: [NavigationProperty] = []
        for item in items {
            guard !taken.contains(item.name.text), !navigation.contains(where: { $0.name == item.name.text }) else {
                throw typeError("\(item.name) is the name of a property already.", at: item.name.offset)
            }
            var inner = scope
            bound.append(BoundNest(try transformations(item.transformations, in: &inner), as: item.name.text))
            guard let shape = inner.current.shape else { continue }
            navigation.append(
                NavigationProperty(name: item.name.text, target: targetName(for: shape), isCollection: true))
        }
        return (bound, navigation)
    }

    func addNested(
        _ path: [Identifier], _ items: [Transformation.NestItem], over shape: Shape, in scope: Scope
    ) throws(QueryError) -> BoundTransformation {
        let (bound, inner) = try collection(path, in: scope)
        for step in bound.steps.dropLast() {
            guard case .cast = step else {
                throw unsupported("addnested to related rows", at: path.first?.offset)
            }
        }
        let taken = shape.properties.map(\.name) + shape.navigationProperties.map(\.name)
        let (nests, navigation) = try nests(items, in: inner, taken: taken)
        return .addNested(bound, nests, shape: adding(navigation, to: shape))
    }

    // MARK: Hierarchies

    func hierarchy(
        _ arguments: Transformation.HierarchyArguments, isAncestors: Bool, over shape: Shape, in scope: Scope
    ) throws(QueryError) -> BoundTransformation {
        let reference = try reference(arguments.root, arguments.qualifier, arguments.node, in: scope)
        return .hierarchy(
            BoundHierarchy(
                isAncestors: isAncestors, reference: reference,
                start: try start(arguments.start, over: shape, in: scope),
                distance: arguments.distance, keepsStart: arguments.keepStart), shape: shape)
    }

    func traversal(
        _ arguments: Transformation.TraverseArguments, over shape: Shape, in scope: Scope
    ) throws(QueryError) -> BoundTransformation {
        let reference = try reference(arguments.root, arguments.qualifier, arguments.node, in: scope)
        guard let nodes = self.shape(of: reference.nodes.type.element) else {
            throw typeError("Expected a collection of entities after $root/.", at: arguments.root.offset)
        }
        // Start nodes and their order are those of the nodes, whatever rows are related to them (6.2.2).
        var inner = Scope(shape: nodes, source: reference.set?.name)
        (inner.it, inner.itSource) = (scope.it, scope.itSource)
        return .traverse(
            BoundTraversal(
                reference: reference, isPreorder: arguments.isPreorder,
                start: try start(arguments.start, over: nodes, in: inner),
                orderBy: try order(arguments.orderBy, in: inner)), shape: shape)
    }

    /// What chooses start nodes must leave their shape as it is.
    private func start(
        _ transformations: [Transformation], over shape: Shape, in scope: Scope
    ) throws(QueryError) -> [BoundTransformation] {
        var inner = scope
        let bound = try self.transformations(transformations, in: &inner)
        guard inner.current.shape == shape else {
            throw typeError("The start nodes of a hierarchy must be some of the rows they are chosen from.", at: nil)
        }
        return bound
    }

    func reference(
        _ root: Expression, _ qualifier: Identifier, _ node: [Identifier], in scope: Scope
    ) throws(QueryError) -> HierarchyReference {
        guard case .path(let nodes) = try bind(root, in: scope), case .collection(.entity(let name?)) = nodes.type,
            let shape = self.shape(name)
        else { throw typeError("Expected a collection of entities after $root/.", at: root.offset) }
        let hierarchies = annotations(of: shape).filter { $0.term.hasSuffix(".RecursiveHierarchy") }
        guard let hierarchy = hierarchies.first(where: { ($0.qualifier ?? "") == qualifier.text }) else {
            throw QueryError(
                .unknownName, "\(shape.name) has no recursive hierarchy \(qualifier).", offset: qualifier.offset,
                suggestions: nearest(to: qualifier.text, among: hierarchies.compactMap(\.qualifier)))
        }
        guard case .path(let input) = try bind(path: node.map { .name($0) }, in: scope), !input.type.isCollection else {
            throw typeError("Expected the path of a node's identifier.", at: node.first?.offset)
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
            nodes: nodes, qualifier: qualifier.text, nodeProperty: identifier, parentNavigation: parent, input: input)
    }

    /// The annotations of a type and of its base types.
    func annotations(of shape: Shape) -> [Annotation] {
        var all = shape.annotations
        var base = shape.baseType
        while let name = base, let next = model.shape(name) {
            all += next.annotations
            base = next.baseType
        }
        return all
    }
}

extension Annotation {
    /// The path in a property of the record that is the value.
    fileprivate func path(_ property: String) -> String? {
        guard case .record(_, let properties)? = value,
            case .path(_, let text)? = properties.first(where: { $0.name == property })?.value
        else { return nil }
        return text
    }
}
