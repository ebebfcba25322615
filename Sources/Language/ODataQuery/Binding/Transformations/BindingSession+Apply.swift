import ODataModel

/// Binding of `$apply` (OData Data Aggregation 4.0, 3). After each transformation the scope has the shape of its
/// result.
extension BindingSession {
    func transformations(
        _ transformations: [Transformation], in scope: inout Scope
    ) throws(QueryError) -> [BoundTransformation] {
        var bound: [BoundTransformation] = []
        for transformation in transformations {
            guard let shape = scope.current.shape else { throw unsupported("$apply over primitive values", at: nil) }
            let current = scope
            let next = try nested(at: nil) { () throws(QueryError) in try bind(transformation, over: shape, in: current)
            }
            bound.append(next)
            if next.resultShape != shape { scope = after(next, in: scope) }
        }
        return bound
    }

    private func bind(
        _ transformation: Transformation, over shape: TypeShape, in scope: Scope
    ) throws(QueryError) -> BoundTransformation {
        switch transformation {
        case .filter(let expression): return .filter(try condition(expression, in: scope), shape: shape)
        case .orderBy(let items): return .orderBy(try order(items, in: scope), shape: shape)
        case .top(let number): return .top(try count(number, of: "top", in: scope), shape: shape)
        case .skip(let number): return .skip(try count(number, of: "skip", in: scope), shape: shape)
        case .identity: return .identity(shape: shape)
        case .search(let search): return .search(search, shape: shape)
        case .compute(let items): return try compute(items, over: shape, in: scope)
        case .aggregate(let items):
            let (bound, properties) = try aggregates(items, in: scope, taken: [])
            return .aggregate(bound, shape: TypeShape(dynamic: resultName(shape), properties: properties))
        case .groupBy(let items, let then): return try groupBy(items, then, over: shape, in: scope)
        case .ranked(let name, let amount, let key): return try ranked(name, amount, key: key, over: shape, in: scope)
        case .concat(let sequences): return try concat(sequences, in: scope)
        case .expand(var item, let filter):
            item.options.filter = filter
            return .expand(try expand(item, in: scope), shape: shape)
        case .join(let path, let name, let then, let isOuter):
            return try join(path, as: name, then, isOuter: isOuter, over: shape, in: scope)
        case .nest(let items):
            let (bound, navigation) = try nests(items, in: scope, taken: scope.takenNames)
            return .nest(
                bound, shape: TypeShape(dynamic: resultName(shape), properties: [], navigationProperties: navigation))
        case .addNested(let path, let items): return try addNested(path, items, over: shape, in: scope)
        case .hierarchy(let name, let arguments):
            return try hierarchy(arguments, isAncestors: name == "ancestors", over: shape, in: scope)
        case .traverse(let arguments): return try traversal(arguments, over: shape, in: scope)
        case .custom(let name, _): throw unsupported("The transformation \(name)", at: name.offset)
        }
    }

    /// Returns the scope over the result of a transformation.
    ///
    /// Computed values become properties of the new shape. Rows that a transformation only extends still belong to
    /// their entity set.
    private func after(_ transformation: BoundTransformation, in scope: Scope) -> Scope {
        let source: String?
        switch transformation {
        case .compute, .join, .addNested, .concat: source = scope.source
        case .groupByNode(let grouping, _) where grouping.injection == .properties:
            source = grouping.reference.set?.name
        default: source = nil
        }
        var next = Scope(shape: transformation.resultShape, source: source)
        next.rollupNodes = scope.rollupNodes
        next.input = scope.input
        if scope.it?.identifier != scope.current.identifier { (next.it, next.itSource) = (scope.it, scope.itSource) }
        return next
    }

    func resultName(_ shape: TypeShape) -> QualifiedName {
        let suffix = "_aggregated"
        let name = shape.name.name
        return QualifiedName(shape.name.namespace, name.hasSuffix(suffix) ? name : name + suffix)
    }

    private func count(_ number: CommonExpression, of name: String, in scope: Scope) throws(QueryError) -> Int {
        guard case .constant(.integer(let value), _) = try bind(number, in: scope), let count = Int(exactly: value),
            count >= 0
        else { throw typeError("\(name) takes a whole number that is not negative.", at: number.offset) }
        return count
    }

    private func compute(
        _ items: [ComputeItem], over shape: TypeShape, in scope: Scope
    ) throws(QueryError) -> BoundTransformation {
        var inner = scope
        let bound = try compute(items, in: &inner)
        let added = bound.map { Property(name: $0.name, type: $0.expression.type) }
        return .compute(
            bound,
            shape: TypeShape(
                dynamic: shape.name, properties: shape.properties + added,
                navigationProperties: shape.navigationProperties))
    }

    private func ranked(
        _ name: String, _ amount: CommonExpression, key: CommonExpression, over shape: TypeShape, in scope: Scope
    ) throws(QueryError) -> BoundTransformation {
        guard let method = RankedMethod(rawValue: name) else {
            throw unsupported("The transformation \(name)", at: amount.offset)
        }
        let bound = try bind(amount, in: scope)
        guard bound.type.primitive?.isNumeric == true else {
            throw typeError("\(name) takes a number, not a value of type \(bound.type).", at: amount.offset)
        }
        if case .constant(let value, _) = bound { try check(value, of: method, at: amount.offset) }
        let rank = try order([OrderItem(key)], in: scope)[0].expression
        if method != .topCount, method != .bottomCount, rank.type.primitive?.isNumeric != true {
            throw typeError("\(name) adds up numbers, not values of type \(rank.type).", at: key.offset)
        }
        return .ranked(method, bound, by: rank, shape: shape)
    }

    /// Checks a constant amount (OData Data Aggregation 4.0, 3.3.1): a count is a positive integer, a percentage is
    /// positive and at most 100, and a sum is a number.
    private func check(_ amount: ODataValue, of method: RankedMethod, at offset: Int?) throws(QueryError) {
        func isPositive(_ value: ODataValue) -> Bool { ValueOrder.compare(value, .integer(0)) == .greater }
        switch method {
        case .topCount, .bottomCount:
            guard case .integer = amount, isPositive(amount) else {
                throw typeError("\(method.rawValue) takes a positive whole number.", at: offset)
            }
        case .topPercent, .bottomPercent:
            guard isPositive(amount), let order = ValueOrder.compare(amount, .integer(100)), order != .greater else {
                throw typeError("\(method.rawValue) takes a positive number of at most 100.", at: offset)
            }
        case .topSum, .bottomSum: break
        }
    }

    // MARK: concat

    private func concat(
        _ sequences: [[Transformation]], in scope: Scope
    ) throws(QueryError) -> BoundTransformation {
        var bound: [[BoundTransformation]] = []
        for sequence in sequences {
            var inner = scope
            bound.append(try transformations(sequence, in: &inner))
        }
        return .concat(bound, shape: try union(of: bound.compactMap { $0.last?.resultShape }, at: nil))
    }

    /// Returns a shape with the properties of several shapes, by name and in order of appearance.
    ///
    /// Properties that some of the shapes lack become nullable.
    func union(of shapes: [TypeShape], at offset: Int?) throws(QueryError) -> TypeShape {
        guard let first = shapes.first, shapes.contains(where: { $0 != first }) else {
            return shapes.first ?? TypeShape(dynamic: QualifiedName("Edm", "Untyped"), properties: [])
        }
        var properties: [Property] = []
        var navigation: [NavigationProperty] = []
        for shape in shapes {
            for property in shape.properties {
                guard let index = properties.firstIndex(where: { $0.name == property.name }) else {
                    properties.append(property)
                    continue
                }
                guard let common = commonType(properties[index].type, property.type) else {
                    throw typeError(
                        "concat makes \(property.name) as \(properties[index].type) and as \(property.type).",
                        at: offset)
                }
                properties[index].type = common
            }
            for next in shape.navigationProperties where !navigation.contains(where: { $0.name == next.name }) {
                navigation.append(next)
            }
        }
        for index in properties.indices where shapes.contains(where: { $0.ordinal(of: properties[index].name) == nil })
        {
            properties[index].isNullable = true
        }
        return TypeShape(dynamic: resultName(first), properties: properties, navigationProperties: navigation)
    }
}
