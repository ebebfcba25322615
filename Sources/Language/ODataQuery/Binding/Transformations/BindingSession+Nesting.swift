import ODataModel

/// Binding of `join`, `nest` and `addnested`, which relate rows to other rows (OData Data Aggregation 4.0, 3.4.3
/// and 3.5).
extension BindingSession {
    // MARK: join

    func join(
        _ path: [Identifier], as name: Identifier, _ then: [Transformation], isOuter: Bool, over shape: TypeShape,
        in scope: Scope
    ) throws(QueryError) -> BoundTransformation {
        let (bound, inner) = try collection(path, in: scope)
        var result = inner
        let transformations = try transformations(then, in: &result)
        try requireFree(name, in: scope)
        let target = result.current.shape ?? shape
        let navigation = NavigationProperty(
            name: name.text, target: targetName(for: target), isCollection: false, isNullable: isOuter)
        return .join(
            BoundJoin(
                path: bound, name: name.text, then: transformations, isOuter: isOuter, variable: inner.current),
            shape: adding([navigation], to: shape))
    }

    /// Resolves a path to a collection of structured values; returns it and the scope over its members.
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

    /// Checks that neither the rows nor the input type of `$apply` have a property with the name of an alias
    /// (3.1.1).
    func requireFree(_ name: Identifier, in scope: Scope) throws(QueryError) {
        for shape in [scope.current.shape, scope.input] {
            guard let shape, shape.ordinal(of: name.text) != nil || shape.navigationOrdinal(of: name.text) != nil else {
                continue
            }
            throw typeError("\(name) is the name of a property already.", at: name.offset)
        }
    }

    private func adding(_ navigation: [NavigationProperty], to shape: TypeShape) -> TypeShape {
        TypeShape(
            dynamic: shape.name, properties: shape.properties,
            navigationProperties: shape.navigationProperties + navigation)
    }

    // MARK: nest

    /// Resolves the items of `nest`; returns them and a collection-valued navigation property for each.
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
        _ path: [Identifier], _ items: [Transformation.NestItem], over shape: TypeShape, in scope: Scope
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
}

extension Scope {
    /// The names that an alias must not have.
    var takenNames: [String] {
        [current.shape, input].compactMap { $0 }.flatMap {
            $0.properties.map(\.name) + $0.navigationProperties.map(\.name)
        }
    }
}
