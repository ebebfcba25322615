import ODataModel

/// Resolution of attributes and values.
extension SelectionBinder {
    /// Resolves a value.
    func bind(_ operand: QueryOperand, in scope: SelectionScope, at place: String) throws(SelectionError)
        -> BoundExpression
    {
        try enter(at: place)
        defer { leave() }
        switch operand {
        case .attribute(let attribute): return try bind(attribute, in: scope, at: place)
        case .value(let value): return try constant(value, at: place)
        case .list: throw SelectionError(.misplaced("A list stands only after in and notIn."), at: place)
        case .aggregate(let method, let attribute):
            let aggregate = SelectionScope.Aggregate(method: method, attribute: attribute)
            guard let group = scope.group, let index = group.aggregates.firstIndex(of: aggregate) else {
                throw SelectionError(
                    .misplaced("An aggregate stands only in select, having and orderBy."), at: place)
            }
            return group.property(group.keys.count + index)
        case .selection(let selection):
            return .subquery(.value(try column(selection, in: scope, at: place)))
        }
    }

    /// Resolves a query with one column.
    func column(_ selection: Selection, in scope: SelectionScope, at place: String) throws(SelectionError)
        -> BoundSelection
    {
        let bound = try bind(selection, outer: scope, at: place.member("query"))
        guard bound.columns.count == 1 else {
            throw SelectionError(
                .misplaced("A query as a value has one column, not \(bound.columns.count)."),
                at: place.member("query.select"))
        }
        return bound
    }

    /// Resolves a constant. Enumeration values take the type of the other operand.
    private func constant(_ value: ODataValue, at place: String) throws(SelectionError) -> BoundExpression {
        if case .enumeration = value { return .constant(value, .untyped("Edm.Untyped")) }
        do throws(QueryError) {
            return try session.bind(Literal(value))
        } catch {
            throw SelectionError(.wrongType("Only a single value can be compared."), at: place)
        }
    }

    // MARK: Attributes

    /// Resolves an attribute. After grouping, it must be one of the groups.
    func bind(_ attribute: QueryAttribute, in scope: SelectionScope, at place: String) throws(SelectionError)
        -> BoundExpression
    {
        let (owner, source) = try source(of: attribute, in: scope, at: place)
        let path = try path(attribute, source, at: place)
        guard let group = owner.group else { return .path(path) }
        guard let index = group.keys.firstIndex(of: .path(path)) else {
            throw SelectionError(.notGrouped(attribute.description), at: place)
        }
        return group.property(index)
    }

    /// Returns the source of an attribute, and the scope of its query.
    func source(
        of attribute: QueryAttribute, in scope: SelectionScope, at place: String
    ) throws(SelectionError) -> (SelectionScope, SelectionScope.Source) {
        var aliases: [String] = []
        var current: SelectionScope? = scope
        while let scope = current {
            if let alias = attribute.alias {
                if let source = scope.source(alias) { return (scope, source) }
            } else if let name = attribute.path.first {
                let owners = scope.sources.filter {
                    $0.shape.ordinal(of: name) != nil || $0.shape.navigationOrdinal(of: name) != nil
                }
                if owners.count > 1 { throw SelectionError(.ambiguousAttribute(name), at: place) }
                if let source = owners.first { return (scope, source) }
                // A cast has no owner but the only source.
                if name.contains("."), scope.sources.count == 1 { return (scope, scope.sources[0]) }
            }
            aliases += scope.sources.map(\.alias)
            current = scope.outer
        }
        guard let alias = attribute.alias else {
            let names = scope.sources.flatMap { $0.shape.properties.map(\.name) }
            throw SelectionError(
                .noSuchAttribute(attribute.description), at: place,
                suggestions: nearest(to: attribute.path.first ?? "", among: names))
        }
        throw SelectionError(.noSuchAlias(alias), at: place, suggestions: nearest(to: alias, among: aliases))
    }

    private func path(
        _ attribute: QueryAttribute, _ source: SelectionScope.Source, at place: String
    ) throws(SelectionError) -> BoundPath {
        func missing(_ suggestions: [String] = []) -> SelectionError {
            SelectionError(.noSuchAttribute(attribute.description), at: place, suggestions: suggestions)
        }
        guard !attribute.path.isEmpty,
            attribute.path.allSatisfy({ !$0.isEmpty && !$0.hasPrefix("@") && !$0.hasPrefix("$") })
        else { throw missing() }
        var scope = Scope(shape: source.shape, source: source.set)
        scope.current = source.variable
        scope.it = nil
        scope.variables = [source.alias: (source.variable, source.set)]
        let steps = ([source.alias] + attribute.path).map { PathStep.name(Identifier($0)) }
        let bound: BoundExpression
        do throws(QueryError) {
            bound = try session.bind(path: steps, in: scope)
        } catch {
            if case .limit(let name) = error.kind { throw SelectionError(.limit(name), at: place) }
            throw missing(error.suggestions)
        }
        guard case .path(let path) = bound else { throw missing() }
        if case .property(let property, _, _)? = path.steps.last, property.isLargeAttribute {
            throw SelectionError(.largeAttributeInPredicate(attribute.description), at: place)
        }
        guard path.type.isSingleValue else { throw missing() }
        return path
    }
}
