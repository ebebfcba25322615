import ODataModel

/// `$apply` (OData Data Aggregation 4.0, 3). After each transformation the scope holds the shape of its result.
extension BindingSession {
    func transformations(
        _ transformations: [Transformation], in scope: inout Scope
    ) throws(QueryError) -> [BoundTransformation] {
        var bound: [BoundTransformation] = []
        for transformation in transformations {
            guard let shape = scope.current.shape else { throw unsupported("$apply over primitive values", at: nil) }
            let next = try bind(transformation, over: shape, in: scope)
            bound.append(next)
            if next.resultShape != shape { scope = after(next, in: scope) }
        }
        return bound
    }

    private func bind(
        _ transformation: Transformation, over shape: Shape, in scope: Scope
    ) throws(QueryError) -> BoundTransformation {
        switch transformation {
        case .filter(let expression): return .filter(try condition(expression, in: scope), shape: shape)
        case .orderBy(let items): return .orderBy(try order(items, in: scope), shape: shape)
        case .top(let number): return .top(try count(number, of: "top", in: scope), shape: shape)
        case .skip(let number): return .skip(try count(number, of: "skip", in: scope), shape: shape)
        case .identity: return .identity(shape: shape)
        case .compute(let items):
            var inner = scope
            let bound = try compute(items, in: &inner)
            let added = bound.map { Property(name: $0.name, type: $0.expression.type) }
            return .compute(
                bound,
                shape: Shape(
                    dynamic: shape.name, properties: shape.properties + added,
                    navigationProperties: shape.navigationProperties))
        case .aggregate(let items):
            let (bound, properties) = try aggregates(items, in: scope, taken: [])
            return .aggregate(bound, shape: Shape(dynamic: resultName(shape), properties: properties))
        case .groupBy(let items, let then): return try groupBy(items, then, over: shape, in: scope)
        case .search: throw unsupported("The transformation search", at: nil)
        case .ranked(let name, let amount, _): throw unsupported("The transformation \(name)", at: amount.offset)
        case .concat: throw unsupported("The transformation concat", at: nil)
        case .expand(let item, _): throw unsupported("The transformation expand", at: item.path.first?.offset)
        case .join(let path, _, _, let isOuter):
            throw unsupported("The transformation \(isOuter ? "outerjoin" : "join")", at: path.first?.offset)
        case .nest(let items): throw unsupported("The transformation nest", at: items.first?.name.offset)
        case .addNested(let path, _): throw unsupported("The transformation addnested", at: path.first?.offset)
        case .hierarchy(let name, let arguments):
            throw unsupported("The transformation \(name)", at: arguments.root.offset)
        case .traverse(let arguments): throw unsupported("The transformation traverse", at: arguments.root.offset)
        case .custom(let name, _): throw unsupported("The transformation \(name)", at: name.offset)
        }
    }

    /// The scope over the rows that a transformation makes. Computed values are properties of the new shape; the
    /// entities behind computed rows are still those of the set.
    private func after(_ transformation: BoundTransformation, in scope: Scope) -> Scope {
        let isStillEntities = if case .compute = transformation { true } else { false }
        var next = Scope(shape: transformation.resultShape, source: isStillEntities ? scope.source : nil)
        if scope.it == nil { next.it = nil }
        return next
    }

    private func resultName(_ shape: Shape) -> QualifiedName {
        QualifiedName(shape.name.namespace, shape.name.name + "_aggregated")
    }

    private func count(_ number: Expression, of name: String, in scope: Scope) throws(QueryError) -> Int {
        guard case .constant(.integer(let value), _) = try bind(number, in: scope), let count = Int(exactly: value),
            count >= 0
        else { throw typeError("\(name) takes a whole number that is not negative.", at: number.offset) }
        return count
    }

    // MARK: aggregate

    private func aggregates(
        _ items: [AggregateItem], in scope: Scope, taken: [Property]
    ) throws(QueryError) -> ([BoundAggregate], [Property]) {
        var bound: [BoundAggregate] = []
        var properties = taken
        for item in items {
            let next = try aggregate(item, in: scope)
            guard !properties.contains(where: { $0.name == next.name }) else {
                throw typeError("\(next.name) is the name of two results.", at: item.name?.offset)
            }
            let isCount = next.method == .count || next.method == .countDistinct
            properties.append(Property(name: next.name, type: next.type, isNullable: !isCount))
            bound.append(next)
        }
        return (bound, properties)
    }

    /// Counts are `Edm.Int64`, sums of whole numbers too; averages of whole numbers and decimals are decimals.
    private func aggregate(_ item: AggregateItem, in scope: Scope) throws(QueryError) -> BoundAggregate {
        let offset = item.name?.offset
        if let step = item.from.first { throw unsupported("from in aggregate", at: step.path.first?.offset) }
        switch item.operand {
        case .count(let path):
            if let first = path.first { throw unsupported("A path before $count in aggregate", at: first.offset) }
            guard let name = item.name else { throw typeError("Expected a name for the count.", at: offset) }
            return BoundAggregate(nil, method: .count, as: name.text, type: .primitive(.int64))
        case .custom(let name):
            let isProperty = !name.text.contains("/") && scope.current.shape?.ordinal(of: name.text) != nil
            guard !isProperty else {
                throw typeError("\(name) is a property; expected \u{201C}with\u{201D} and a method.", at: name.offset)
            }
            throw unsupported("The custom aggregate \(name)", at: name.offset)
        case .expression(let expression, let methodName):
            guard let method = BoundAggregate.Method(rawValue: methodName.text), method != .count else {
                throw unsupported("The aggregation method \(methodName)", at: methodName.offset)
            }
            guard let name = item.name else { throw typeError("Expected a name for the result.", at: offset) }
            try requireSingleValues(expression, in: scope)
            let value = try bind(expression, in: scope)
            let type = try resultType(of: method, over: value.type, at: expression.offset)
            return BoundAggregate(value, method: method, as: name.text, type: type)
        }
    }

    /// A path through a collection has a value for each member, which the bound tree cannot say.
    private func requireSingleValues(_ expression: Expression, in scope: Scope) throws(QueryError) {
        guard case .path(let steps) = expression else { return }
        var shape = scope.current.shape
        for step in steps.dropLast() {
            guard case .name(let name) = step, let current = shape else { return }
            if let navigation = current.navigationProperty(name.text) {
                if navigation.isCollection {
                    throw unsupported("aggregate over a collection-valued path", at: name.offset)
                }
                shape = model.shape(navigation.target)
            } else if let property = current.property(name.text) {
                if property.type.isCollection {
                    throw unsupported("aggregate over a collection-valued path", at: name.offset)
                }
                shape = self.shape(of: property.type)
            } else {
                shape = nil
            }
        }
    }

    private func resultType(
        of method: BoundAggregate.Method, over type: TypeReference, at offset: Int?
    ) throws(QueryError) -> TypeReference {
        switch type {
        case .collection, .complex, .entity: throw unsupported("\(method.rawValue) of \(type)", at: offset)
        case .untyped:
            return method == .countDistinct ? .primitive(.int64) : type
        case .primitive, .typeDefinition, .enumeration: break
        }
        switch method {
        case .count, .countDistinct: return .primitive(.int64)
        case .min, .max:
            if let primitive = type.primitive, primitive == .stream || primitive == .binary || primitive.isGeo {
                throw typeError("Values of type \(type) have no order.", at: offset)
            }
            return type
        case .sum, .average:
            guard let primitive = type.primitive, primitive.isNumeric || primitive == .duration else {
                throw typeError("\(method.rawValue) needs numbers or durations, not \(type).", at: offset)
            }
            if primitive.isInteger { return .primitive(method == .sum ? .int64 : .decimal) }
            return .primitive(primitive == .single ? .double : primitive)
        }
    }

    // MARK: groupby

    private func groupBy(
        _ items: [GroupItem], _ then: [Transformation], over shape: Shape, in scope: Scope
    ) throws(QueryError) -> BoundTransformation {
        var paths: [BoundPath] = []
        var properties: [Property] = []
        for item in items {
            switch item {
            case .path(let path):
                let (bound, property) = try grouping(path, in: scope)
                guard !properties.contains(where: { $0.name == property.name }) else { continue }
                paths.append(bound)
                properties.append(property)
            case .rollup(let paths): throw unsupported("rollup", at: paths.lazy.compactMap { $0?.first?.offset }.first)
            case .other(let name, _): throw unsupported(name.text, at: name.offset)
            }
        }
        var aggregates: [BoundAggregate] = []
        if !then.isEmpty {
            guard then.count == 1, case .aggregate(let items) = then[0] else {
                throw unsupported("groupby with other transformations than one aggregate", at: nil)
            }
            (aggregates, properties) = try self.aggregates(items, in: scope, taken: properties)
        }
        return .groupBy(paths, aggregates, shape: Shape(dynamic: resultName(shape), properties: properties))
    }

    /// A grouping path and the property of the result, named by the path.
    private func grouping(_ path: [Identifier], in scope: Scope) throws(QueryError) -> (BoundPath, Property) {
        let offset = path.first?.offset
        guard case .path(let bound) = try bind(path: path.map { .name($0) }, in: scope) else {
            throw typeError("Expected a path of properties.", at: offset)
        }
        var name: [String] = []
        var isNullable = false
        var facets = Facets()
        for step in bound.steps {
            switch step {
            case .property(let property, _, _):
                name.append(property.name)
                isNullable = isNullable || property.isNullable
                facets = property.facets
            case .navigation(let navigation, _, _):
                name.append(navigation.name)
                isNullable = isNullable || navigation.isNullable
            case .cast: isNullable = true
            case .dynamic(let text), .computed(let text, _):
                name.append(text)
                isNullable = true
            }
        }
        switch bound.type {
        case .entity: throw unsupported("groupby of a navigation property", at: offset)
        case .complex: throw unsupported("groupby of a complex property", at: offset)
        case .collection: throw typeError("A collection cannot be grouped by.", at: offset)
        case .primitive(let type) where type == .stream || type.isGeo:
            throw typeError("Values of type \(bound.type) cannot be grouped by.", at: offset)
        default: break
        }
        let property = Property(
            name: name.joined(separator: "/"), type: bound.type, isNullable: isNullable, facets: facets)
        return (bound, property)
    }
}
