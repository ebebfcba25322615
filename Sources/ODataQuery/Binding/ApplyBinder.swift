import ODataModel

/// Resolves the transformations of `$apply`, each over the rows of the one before
/// (OData Data Aggregation 4.0, 3).
///
/// The rows of an aggregation have a shape of their own, whose properties are named by whole paths: grouping by
/// `Customer/Country` gives a property of that name, and writers nest it as
/// `{"Customer":{"Country":…}}`.
struct ApplyBinder {
    let model: EntityDataModel
    let aliases: [String: Expression]
    private var shape: Shape
    private var set: String?
    private var binder: ExpressionBinder

    init(model: EntityDataModel, aliases: [String: Expression], shape: Shape, set: String?) {
        self.model = model
        self.aliases = aliases
        self.shape = shape
        self.set = set
        binder = ExpressionBinder(model: model, aliases: aliases, shape: shape, set: set)
    }

    mutating func bind(_ transformations: [Transformation]) throws(QueryError) -> [BoundTransformation] {
        var bound: [BoundTransformation] = []
        for transformation in transformations { bound.append(try bind(transformation)) }
        return bound
    }

    private mutating func bind(_ transformation: Transformation) throws(QueryError) -> BoundTransformation {
        switch transformation {
        case .identity: return .identity(shape: shape)
        case .filter(let condition): return .filter(try binder.bindCondition(condition), shape: shape)
        case .orderBy(let items):
            var bound: [BoundOrder] = []
            for item in items { bound.append(try binder.bind(order: item)) }
            return .orderBy(bound, shape: shape)
        case .top(let count): return .top(try number(count, "top"), shape: shape)
        case .skip(let count): return .skip(try number(count, "skip"), shape: shape)
        case .compute(let items): return try compute(items)
        case .aggregate(let items):
            let aggregates = try bind(aggregates: items)
            enter(Shape(dynamic: rowName, properties: aggregates.map(Self.property)))
            return .aggregate(aggregates, shape: shape)
        case .groupBy(let items, let then): return try groupBy(items, then)
        case .search: throw unsupported("search in $apply")
        case .ranked(let name, _, _): throw unsupported(name)
        case .concat: throw unsupported("concat in $apply")
        case .expand: throw unsupported("expand in $apply")
        case .join(_, _, _, let outer): throw unsupported(outer ? "outerjoin" : "join")
        case .nest: throw unsupported("nest")
        case .addNested: throw unsupported("addnested")
        case .hierarchy(let name, _): throw unsupported(name)
        case .traverse: throw unsupported("traverse")
        case .custom(let name, _): throw unsupported("the transformation \(name)")
        }
    }

    private func unsupported(_ feature: String) -> QueryError {
        QueryError(.unsupported(feature: feature), "\(feature) is not supported.")
    }

    private var rowName: QualifiedName { QualifiedName("$apply", shape.name.name) }

    private mutating func enter(_ next: Shape) {
        shape = next
        set = nil
        binder = ExpressionBinder(model: model, aliases: aliases, shape: next, set: nil)
    }

    private mutating func number(_ expression: Expression, _ name: String) throws(QueryError) -> Int {
        guard case .constant(.integer(let count), _) = try binder.bind(expression), count >= 0 else {
            throw QueryError(.type, "\(name) takes a whole number of 0 or more.", offset: expression.offset)
        }
        return Int(count)
    }

    private mutating func compute(_ items: [ComputeItem]) throws(QueryError) -> BoundTransformation {
        var bound: [BoundCompute] = []
        for item in items { bound.append(try binder.bind(compute: item)) }
        let properties = shape.properties + bound.map { Property(name: $0.name, type: $0.expression.type) }
        enter(Shape(dynamic: rowName, properties: properties, navigationProperties: shape.navigationProperties))
        return .compute(bound, shape: shape)
    }

    // MARK: aggregate

    private static func property(_ aggregate: BoundAggregate) -> Property {
        Property(name: aggregate.name, type: aggregate.type)
    }

    private mutating func bind(aggregates items: [AggregateItem]) throws(QueryError) -> [BoundAggregate] {
        var bound: [BoundAggregate] = []
        for item in items {
            let aggregate = try bind(item)
            guard !bound.contains(where: { $0.name == aggregate.name }) else {
                throw QueryError(.type, "The name \(aggregate.name) is taken.", offset: item.name?.offset)
            }
            bound.append(aggregate)
        }
        return bound
    }

    private mutating func bind(_ item: AggregateItem) throws(QueryError) -> BoundAggregate {
        if !item.from.isEmpty { throw unsupported("'from' in aggregate") }
        switch item.operand {
        case .custom(let name): throw unsupported("the custom aggregate \(name)")
        case .count(let path):
            guard path.isEmpty else { throw unsupported("the count of related entities in aggregate") }
            guard let name = item.name else { throw QueryError(.syntax, "$count in aggregate needs 'as' and a name.") }
            return BoundAggregate(nil, method: .count, as: name.text, type: .primitive(.int64))
        case .expression(let expression, let with):
            guard let method = BoundAggregate.Method(rawValue: with.text), method != .count else {
                throw QueryError(
                    with.text.contains(".") ? .unsupported(feature: "the method \(with)") : .unknownName,
                    "There is no aggregation method \(with).", offset: with.offset,
                    suggestions: nearest(to: with.text, among: ["sum", "min", "max", "average", "countdistinct"]))
            }
            guard let name = item.name else {
                throw QueryError(.syntax, "aggregate needs 'as' and a name.", offset: expression.offset)
            }
            let bound = try binder.bind(expression)
            return BoundAggregate(
                bound, method: method, as: name.text, type: try resultType(method, bound, expression.offset))
        }
    }

    private func resultType(
        _ method: BoundAggregate.Method, _ operand: BoundExpression, _ offset: Int?
    ) throws(QueryError) -> TypeReference {
        if case .path(let path) = operand, path.steps.contains(where: \.leadsToMany) {
            throw QueryError(
                .unsupported(feature: "aggregate over related collections"),
                "Aggregating over a related collection is not supported.", offset: offset)
        }
        switch method {
        case .count, .countDistinct: return .primitive(.int64)
        case .min, .max: return operand.type
        case .sum, .average:
            guard let type = operand.type.primitive, type.isNumeric else {
                throw QueryError(.type, "\(method.rawValue) takes numbers, not \(operand.type).", offset: offset)
            }
            if type == .single || type == .double { return .primitive(.double) }
            if type == .decimal { return .primitive(.decimal) }
            return .primitive(method == .sum ? .int64 : .decimal)
        }
    }

    // MARK: groupby

    private mutating func groupBy(
        _ items: [GroupItem], _ then: [Transformation]
    ) throws(QueryError) -> BoundTransformation {
        var paths: [BoundPath] = []
        var properties: [Property] = []
        for item in items {
            guard case .path(let names) = item else { throw unsupported("rollup") }
            let bound = try binder.bind(.path(names.map { .name($0) }))
            guard case .path(let path) = bound, !path.steps.contains(where: \.leadsToMany) else {
                throw QueryError(
                    .unsupported(feature: "grouping by related collections"),
                    "Grouping by a related collection is not supported.", offset: names.first?.offset)
            }
            if bound.type.isStructured || bound.type.isCollection {
                throw QueryError(
                    .unsupported(feature: "grouping by \(bound.type)"),
                    "Grouping by \(bound.type) is not supported.", offset: names.first?.offset)
            }
            let name = names.map(\.text).joined(separator: "/")
            guard !properties.contains(where: { $0.name == name }) else {
                throw QueryError(.type, "\(name) is grouped by twice.", offset: names.first?.offset)
            }
            paths.append(path)
            properties.append(Property(name: name, type: bound.type))
        }
        var aggregates: [BoundAggregate] = []
        switch then.count {
        case 0: break
        case 1:
            guard case .aggregate(let items) = then[0] else {
                throw unsupported("groupby with anything but aggregate")
            }
            aggregates = try bind(aggregates: items)
        default: throw unsupported("groupby with several transformations")
        }
        for aggregate in aggregates where properties.contains(where: { $0.name == aggregate.name }) {
            throw QueryError(.type, "The name \(aggregate.name) is taken.")
        }
        enter(Shape(dynamic: rowName, properties: properties + aggregates.map(Self.property)))
        return .groupBy(paths, aggregates, shape: shape)
    }
}

extension BoundStep {
    /// Whether the step leads to a collection.
    fileprivate var leadsToMany: Bool {
        switch self {
        case .navigation(let navigation, _, _): navigation.isCollection
        case .property(let property, _, _): property.type.isCollection
        default: false
        }
    }
}
