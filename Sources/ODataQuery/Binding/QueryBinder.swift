import ODataModel

/// Resolves query options over the rows of a shape.
struct QueryBinder {
    let model: EntityDataModel
    let aliases: [String: Expression]

    /// How deep `$expand` may be nested (a limit of this implementation).
    static let maxExpandDepth = 12

    func bind(
        _ options: QueryOptions, shape: Shape, set: EntitySet?, depth: Int = 0
    ) throws(QueryError) -> BoundQuery {
        if depth > Self.maxExpandDepth {
            throw QueryError(
                .limit(name: "maxExpandDepth"), "$expand is nested more than \(Self.maxExpandDepth) levels.",
                part: "$expand")
        }
        var binder = ExpressionBinder(model: model, aliases: aliases, shape: shape, set: set?.name)
        var query = BoundQuery(shape: shape, set: set, variable: binder.instance)
        // Evaluated in this order: apply, compute, search, filter, count, orderby, skip, top, expand, select
        // (Protocol 4.01, 11.2.1).
        if !options.apply.isEmpty {
            query.apply = try inPart("$apply") { () throws(QueryError) in
                var applying = ApplyBinder(model: model, aliases: aliases, shape: shape, set: set?.name)
                return try applying.bind(options.apply)
            }
            let result = query.resultShape
            if result != shape {
                binder = ExpressionBinder(model: model, aliases: aliases, shape: result, set: nil)
                query.variable = binder.instance
            }
        }
        for item in options.compute {
            query.compute.append(
                try inPart("$compute") { () throws(QueryError) in try binder.bind(compute: item) })
        }
        query.search = options.search
        if let filter = options.filter {
            query.filter = try inPart("$filter") { () throws(QueryError) in try binder.bindCondition(filter) }
        }
        for item in options.orderBy {
            query.orderBy.append(try inPart("$orderby") { () throws(QueryError) in try binder.bind(order: item) })
        }
        query.top = options.top
        query.skip = options.skip
        query.count = options.count ?? false
        query.skipToken = options.skipToken
        query.deltaToken = options.deltaToken
        let result = query.resultShape
        let current = binder
        query.projection = try inPart("$select") { () throws(QueryError) in
            try projection(options.select, result, current)
        }
        query.expand = try inPart("$expand") { () throws(QueryError) in
            try expansion(options.expand, result, set: result == shape ? set : nil, current, depth)
        }
        if !options.temporal.isEmpty { throw refusal("temporal data", "$at") }
        if options.index != nil { throw refusal("$index", "$index") }
        return query
    }

    private func refusal(_ feature: String, _ part: String) -> QueryError {
        QueryError(.unsupported(feature: feature), "\(feature) is not supported.", part: part)
    }

    /// Puts the option's name into errors.
    private func inPart<Value>(_ part: String, _ body: () throws(QueryError) -> Value) throws(QueryError) -> Value {
        do throws(QueryError) {
            return try body()
        } catch {
            throw QueryError(
                error.kind, error.message, offset: error.offset, text: error.text, part: error.part ?? part,
                suggestions: error.suggestions)
        }
    }

    // MARK: $select

    private func projection(
        _ items: [SelectItem], _ shape: Shape, _ binder: ExpressionBinder
    ) throws(QueryError) -> BoundProjection {
        if items.isEmpty { return .all }
        var ordinals: [Int] = []
        var names: [String] = []
        for item in items {
            if !item.options.isEmpty { throw refusal("options within $select", "$select") }
            switch item.kind {
            case .all: return .all
            case .operations: continue
            case .operation: continue
            case .path(let path):
                let whole = path.map(\.text).joined(separator: "/")
                guard let first = path.first else { continue }
                if let ordinal = shape.ordinal(of: whole) ?? shape.ordinal(of: first.text) {
                    if !ordinals.contains(ordinal) { ordinals.append(ordinal) }
                } else if binder.computed[first.text] != nil || shape.isOpen && !first.text.contains(".") {
                    names.append(first.text)
                } else if shape.navigationProperty(first.text) != nil {
                    continue  // Its link is asked for, which follows from the key.
                } else if first.text.contains(".") {
                    throw QueryError(
                        .unsupported(feature: "a type cast in $select"), "A type cast in $select is not supported.",
                        offset: first.offset)
                } else {
                    throw binder.unknownProperty(first, shape)
                }
            }
        }
        // Only links or operations were named: of the properties, none but the key is wanted.
        if ordinals.isEmpty, names.isEmpty { return .some(ordinals: shape.keyOrdinals, names: []) }
        return .some(ordinals: ordinals, names: names)
    }

    // MARK: $expand

    private func expansion(
        _ items: [ExpandItem], _ shape: Shape, set: EntitySet?, _ binder: ExpressionBinder, _ depth: Int
    ) throws(QueryError) -> [BoundExpand] {
        var bound: [BoundExpand] = []
        for item in items {
            if item.form == .value { throw refusal("expanding a stream", "$expand") }
            if item.path.count == 1, item.path[0].text == "*" {
                for navigation in shape.navigationProperties
                where !items.contains(where: { $0.path.first?.text == navigation.name }) {
                    bound.append(try expand(item, navigation, steps: [], shape, set, depth))
                }
                continue
            }
            guard item.path.count == 1, let name = item.path.first else {
                throw QueryError(
                    .unsupported(feature: "a path in $expand"), "A path in $expand is not supported.",
                    offset: item.path.first?.offset)
            }
            guard let navigation = shape.navigationProperty(name.text) else {
                if shape.property(name.text) != nil {
                    throw QueryError(.type, "\(name) is no navigation property.", offset: name.offset)
                }
                throw binder.unknownProperty(name, shape)
            }
            guard !bound.contains(where: { $0.navigation.name == name.text }) else {
                throw QueryError(.syntax, "\(name) is expanded twice.", offset: name.offset)
            }
            bound.append(try expand(item, navigation, steps: [], shape, set, depth))
        }
        return bound
    }

    private func expand(
        _ item: ExpandItem, _ navigation: NavigationProperty, steps: [BoundStep], _ shape: Shape, _ set: EntitySet?,
        _ depth: Int
    ) throws(QueryError) -> BoundExpand {
        guard let target = model.shape(navigation.target) else {
            throw QueryError(.unknownName, "There is no type \(navigation.target).", offset: item.path.first?.offset)
        }
        let targetSet = set.flatMap { model.targetSet(of: $0.name, path: navigation.name, target: navigation.target) }
        var levels: Int? = 1
        switch item.options.levels {
        case .exactly(let count)?: levels = count
        case .max?: levels = nil
        case nil: break
        }
        if item.options.levels != nil, !model.isType(navigation.target, shape.name), !model.isType(shape.name, navigation.target) {
            throw QueryError(
                .type, "$levels takes a property that leads to its own type, which \(navigation.name) does not.",
                offset: item.path.first?.offset)
        }
        var nested = item.options
        nested.levels = nil
        return BoundExpand(
            path: steps, navigation: navigation, form: item.form, levels: levels,
            query: try bind(nested, shape: target, set: targetSet, depth: depth + 1))
    }
}

extension ExpressionBinder {
    /// One item of `$orderby`.
    mutating func bind(order item: OrderItem) throws(QueryError) -> BoundOrder {
        let bound = try bind(item.expression)
        if bound.type.isCollection || bound.type.isStructured {
            throw QueryError(.type, "Rows cannot be ordered by \(bound.type).", offset: item.expression.offset)
        }
        return BoundOrder(bound, isDescending: item.isDescending)
    }

    /// One item of `$compute`, whose name can be used from then on.
    mutating func bind(compute item: ComputeItem) throws(QueryError) -> BoundCompute {
        let bound = try bind(item.expression)
        let name = item.name.text
        guard computed[name] == nil, instance.shape?.ordinal(of: name) == nil,
            instance.shape?.navigationProperty(name) == nil
        else { throw QueryError(.type, "The name \(name) is taken.", offset: item.name.offset) }
        computed[name] = bound.type
        return BoundCompute(bound, as: name)
    }
}

extension TypeReference {
    /// Whether this is an entity or complex type.
    var isStructured: Bool {
        switch self {
        case .entity, .complex: true
        default: false
        }
    }
}
