import ODataModel

/// Binding of `aggregate` (OData Data Aggregation 4.0, 3.2.1).
extension BindingSession {
    /// Resolves the items of `aggregate`; returns them and the properties of the result, after the given ones.
    func aggregates(
        _ items: [AggregateItem], in scope: Scope, taken: [Property]
    ) throws(QueryError) -> ([BoundAggregate], [Property]) {
        var bound: [BoundAggregate] = []
        var properties = taken
        for item in items {
            let next = try aggregate(item, in: scope)
            if let alias = item.name { try requireFree(alias, in: scope) }
            guard !properties.contains(where: { $0.name == next.name }) else {
                throw typeError("\(next.name) is the name of two results.", at: item.name?.offset)
            }
            let isCount = next.method == .count || next.method == .countDistinct
            properties.append(Property(name: next.name, type: next.type, isNullable: !isCount))
            bound.append(next)
        }
        return (bound, properties)
    }

    /// Resolves one item of `aggregate`.
    ///
    /// Counts are `Edm.Decimal` (3.2.1.4) and sums of integers `Edm.Int64`. Averages of integers and decimals are
    /// decimals.
    ///
    /// - Parameter isNamed: whether the result must have a name, as in `$apply` but not within an expression.
    func aggregate(
        _ item: AggregateItem, in scope: Scope, isNamed: Bool = true
    ) throws(QueryError) -> BoundAggregate {
        let name = item.name?.text ?? ""
        func requireName() throws(QueryError) {
            if isNamed, name.isEmpty { throw typeError("Expected a name for the result.", at: item.offset) }
        }
        switch item.operand {
        case .count(let path):
            try requireName()
            var aggregate = BoundAggregate(nil, method: .count, as: name, type: .primitive(.decimal))
            if !path.isEmpty {
                guard let (members, rest) = try members(along: path.map { .name($0) }, in: scope), rest.isEmpty else {
                    throw typeError("$count needs a collection before it.", at: path.first?.offset)
                }
                aggregate.members = members
            }
            return try add(item.from, to: aggregate, in: scope)
        case .custom(let custom):
            if var definition = functions.customAggregates[custom.text] {
                definition.name = item.name ?? custom
                definition.from = item.from
                return try aggregate(definition, in: scope, isNamed: isNamed)
            }
            if !custom.text.contains("/"), scope.current.shape?.ordinal(of: custom.text) != nil {
                throw typeError(
                    "\(custom) is a property; expected \u{201C}with\u{201D} and a method.", at: custom.offset)
            }
            throw unsupported("The custom aggregate \(custom)", at: custom.offset)
        case .expression(let expression, let methodName):
            try requireName()
            return try aggregate(expression, methodName, as: name, from: item.from, in: scope)
        }
    }

    private func aggregate(
        _ expression: CommonExpression, _ methodName: Identifier, as name: String, from: [AggregateItem.FromItem],
        in scope: Scope
    ) throws(QueryError) -> BoundAggregate {
        let (method, function) = try self.method(methodName)
        var value: BoundExpression
        var members: BoundAggregate.Members?
        if case .path(let steps) = expression, let (found, rest) = try self.members(along: steps[...], in: scope) {
            members = found
            var inner = scope
            inner.current = found.variable
            inner.source = source(at: found.path)
            inner.computed = [:]
            value =
                rest.isEmpty
                ? .path(BoundPath(variable: found.variable, steps: [], type: found.variable.type))
                : try bind(.path(Array(rest)), in: inner)
        } else {
            value = try bind(expression, in: scope)
        }
        if case .collection = value.type {
            throw typeError("A collection has no single value to aggregate.", at: expression.offset)
        }
        let type = try resultType(of: method, function, over: value.type, at: expression.offset)
        var aggregate = BoundAggregate(
            value, method: method, as: name, type: type, members: members, function: function)
        if method == .sum || method == .average || method == .custom { aggregate.owner = owner(of: value) }
        return try add(from, to: aggregate, in: scope)
    }

    /// Returns the entity whose property is the value of a path through single-valued navigation properties.
    ///
    /// The result is the path up to the last navigation property and a cast after it.
    private func owner(of value: BoundExpression) -> BoundPath? {
        guard case .path(let path) = value else { return nil }
        let last = path.steps.lastIndex { if case .navigation = $0 { true } else { false } }
        guard var end = last, end < path.steps.count - 1 else { return nil }
        if case .cast = path.steps[end + 1] { end += 1 }
        guard case .navigation(let navigation, _, _)? = last.map({ path.steps[$0] }) else { return nil }
        return BoundPath(
            variable: path.variable, steps: Array(path.steps[...end]), type: .entity(navigation.target))
    }

    private func method(_ name: Identifier) throws(QueryError) -> (BoundAggregate.Method, AggregateFunction?) {
        if let function = functions.aggregate[name.text] { return (.custom, function) }
        guard let method = BoundAggregate.Method(rawValue: name.text), method != .count, method != .custom else {
            throw QueryError(
                .unsupported(feature: "The aggregation method \(name)"),
                "The aggregation method \(name) is not supported here.", offset: name.offset,
                suggestions: nearest(to: name.text, among: functions.aggregate.keys))
        }
        return (method, nil)
    }

    /// Adds the `from` steps to an aggregate (3.2.1.4).
    private func add(
        _ from: [AggregateItem.FromItem], to aggregate: BoundAggregate, in scope: Scope
    ) throws(QueryError) -> BoundAggregate {
        var result = aggregate
        for step in from {
            var paths: [BoundPath] = []
            for path in [step.path] + step.others { paths.append(try grouping(path, in: scope).path) }
            let (method, function) =
                try step.method.map { name throws(QueryError) in try self.method(name) }
                ?? (aggregate.method == .count ? .sum : aggregate.method, aggregate.function)
            result.type = try resultType(of: method, function, over: result.type, at: step.path.first?.offset)
            result.from.append(.init(paths, method: method, function: function))
        }
        return result
    }

    // MARK: Collections

    /// Splits a path after its last collection; `nil` if the path has no collection.
    func members(
        along steps: ArraySlice<PathStep>, in scope: Scope
    ) throws(QueryError) -> (BoundAggregate.Members, rest: ArraySlice<PathStep>)? {
        var state = Self.current(of: scope)
        var found: (PathState, Int)?
        for (index, step) in zip(steps.indices, steps) {
            guard case .name(let name) = step, !name.text.hasPrefix("@"), let shape = state.shape else { break }
            if index == steps.startIndex, scope.variables[name.text] != nil { return nil }
            let isMember = shape.ordinal(of: name.text) != nil || shape.navigationProperty(name.text) != nil
            guard isMember || self.shape(named: name.text) != nil else { break }
            // The path continues in each member of the preceding collection.
            if state.isCollection, isMember { state.type = state.type.element }
            try append(name, to: &state, in: scope)
            if state.isCollection { found = (state, index) }
        }
        guard let (end, index) = found else { return nil }
        let variable = makeVariable("$this", type: end.type.element)
        return (.init(of: end.path, variable: variable), steps[(index + 1)...])
    }

    /// Returns the name of the entity set of a path's members.
    func source(at path: BoundPath) -> String? {
        for step in path.steps.reversed() {
            if case .navigation(_, _, let set) = step { return set?.name }
        }
        return nil
    }

    private func resultType(
        of method: BoundAggregate.Method, _ function: AggregateFunction?, over type: TypeReference, at offset: Int?
    ) throws(QueryError) -> TypeReference {
        if method == .count || method == .countDistinct { return .primitive(.decimal) }
        if method == .custom { return function?.returnType ?? type }
        switch type {
        case .collection, .complex, .entity:
            throw typeError("\(method.rawValue) is not defined for values of type \(type).", at: offset)
        case .untyped: return type
        case .primitive, .typeDefinition, .enumeration: break
        }
        if method == .min || method == .max {
            if let primitive = type.primitive, primitive == .stream || primitive == .binary || primitive.isGeo {
                throw typeError("Values of type \(type) have no order.", at: offset)
            }
            return type
        }
        guard let primitive = type.primitive, primitive.isNumeric || primitive == .duration else {
            throw typeError("\(method.rawValue) needs numbers or durations, not \(type).", at: offset)
        }
        if primitive.isInteger { return .primitive(method == .sum ? .int64 : .decimal) }
        return .primitive(primitive == .single ? .double : primitive)
    }
}

extension BindingSession {
    private func members(
        along steps: [PathStep], in scope: Scope
    ) throws(QueryError) -> (BoundAggregate.Members, rest: ArraySlice<PathStep>)? {
        try members(along: steps[...], in: scope)
    }
}
