import ODataModel
import ODataQuery
import ODataService

/// Takes what a caller may not see out of a resolved request. Rows are left to the reader; this is about sets and
/// properties: those that are hidden are not selected, and naming one in an expression or a path is refused.
struct AccessRestriction {
    let core: ServiceCore
    let principal: Principal?

    /// Restricts a request that reads.
    ///
    /// - Throws: ``ODataError`` 401 or 403.
    func restrict(_ bound: BoundURL) throws -> BoundURL {
        var bound = bound
        for set in bound.resource.sets {
            guard try core.access(principal, set).allows(.read) else { throw Access.refusal(principal, set) }
        }
        switch bound.resource.target {
        case .all: try checkWhole(core.mapping.model.container.entitySets.map(\.name))
        case .crossJoin(let sets, _): try checkWhole(sets.map(\.name))
        default: break
        }
        var hidden: Set<String> = []
        for step in bound.resource.steps {
            switch step {
            case .entitySet(let set, _): hidden = try core.access(principal, set.name).hiddenProperties
            case .singleton(let singleton, _): hidden = try core.access(principal, singleton.name).hiddenProperties
            case .navigation(_, let set, _):
                hidden = try set.map { try core.access(principal, $0.name).hiddenProperties } ?? []
            case .property(let property, _, _):
                if hidden.contains(property.name) { throw refusal(property.name) }
            case .filter(let condition, _), .alternateKey(_, let condition, _): try check(condition, hidden)
            default: break
            }
        }
        if let query = bound.query { bound.query = try restrict(query) }
        return bound
    }

    /// Checks that nothing of some sets is hidden: where they are read together, properties cannot be taken out.
    private func checkWhole(_ sets: [String]) throws {
        for set in sets {
            let access = try core.access(principal, set)
            guard access.allows(.read), access.hiddenProperties.isEmpty else { throw Access.refusal(principal, set) }
        }
    }

    private func restrict(_ query: BoundQuery) throws -> BoundQuery {
        var query = query
        let access = try query.set.map { try core.access(principal, $0.name) } ?? .full
        let hidden = access.hiddenProperties
        if let filter = query.filter { try check(filter, hidden) }
        for order in query.orderBy { try check(order.expression, hidden) }
        for computed in query.compute { try check(computed.expression, hidden) }
        if !hidden.isEmpty {
            // An aggregation might give the values under any name.
            if !query.apply.isEmpty { throw refusal("$apply") }
            if query.search != nil { throw refusal("$search") }
            switch query.projection {
            case .all:
                query.projection = .some(
                    ordinals: query.shape.properties.indices.filter {
                        !hidden.contains(query.shape.properties[$0].name)
                    },
                    names: query.compute.map(\.name))
            case .some(let ordinals, let names):
                query.projection = .some(
                    ordinals: ordinals.filter { !hidden.contains(query.resultShape.properties[$0].name) },
                    names: names.filter { !hidden.contains($0) })
            }
        }
        query.expand = try query.expand.map { expand in
            var expand = expand
            if let set = expand.query.set, !(try core.access(principal, set.name).allows(.read)) {
                throw Access.refusal(principal, set.name)
            }
            expand.query = try restrict(expand.query)
            return expand
        }
        return query
    }

    /// Refuses an expression that names a hidden property.
    private func check(_ expression: BoundExpression, _ hidden: Set<String>) throws {
        // What is searched or aggregated within an expression cannot be told from outside.
        if !hidden.isEmpty, expression.isOpaque { throw refusal("This expression") }
        for path in expression.paths {
            var current = path.variable.identifier <= 0 ? hidden : []
            for step in path.steps {
                switch step {
                case .property(let property, _, _):
                    if current.contains(property.name) { throw refusal(property.name) }
                    current = []
                case .dynamic(let name), .computed(let name, _):
                    if current.contains(name) { throw refusal(name) }
                case .navigation(_, _, let set):
                    current = try set.map { try core.access(principal, $0.name).hiddenProperties } ?? []
                case .entitySet(let set, _):
                    guard try core.access(principal, set.name).allows(.read) else {
                        throw Access.refusal(principal, set.name)
                    }
                    current = try core.access(principal, set.name).hiddenProperties
                case .singleton(let singleton, _):
                    guard try core.access(principal, singleton.name).allows(.read) else {
                        throw Access.refusal(principal, singleton.name)
                    }
                    current = try core.access(principal, singleton.name).hiddenProperties
                case .filter(let condition, _): try check(condition, current)
                case .cast, .key, .annotation: break
                }
            }
        }
        for (path, variable, inner) in expression.lambdas {
            guard let inner else { continue }
            var within: Set<String> = []
            if case .navigation(_, _, let set?)? = path.steps.last {
                within = try core.access(principal, set.name).hiddenProperties
            }
            for path in inner.paths where path.variable == variable {
                if case .property(let property, _, _)? = path.steps.first, within.contains(property.name) {
                    throw refusal(property.name)
                }
            }
            try check(inner, hidden)
        }
    }

    /// Takes hidden properties out of an entity that a change gives back.
    func hide(in entity: Entity) throws -> Entity {
        guard core.definition.authorization != nil, let id = entity.control.id else { return entity }
        let set = id.prefix { $0 != "(" && $0 != "/" }
        var result = entity
        for name in try core.access(principal, String(set)).hiddenProperties {
            if let ordinal = result.shape.ordinal(of: name) { result.values[ordinal] = nil }
            result.dynamicProperties[name] = nil
        }
        for (name, related) in entity.related {
            switch related {
            case .one(let other): result.related[name] = .one(try hide(in: other))
            case .many(let others, let count, let next):
                result.related[name] = .many(try others.map(hide), count: count, nextLink: next)
            case .none, .references: break
            }
        }
        return result
    }

    private func refusal(_ name: String) -> ODataError {
        ODataError(status: 403, code: "Forbidden", message: "\(name) is not for you to use.", target: name)
    }
}

extension BoundExpression {
    /// The expressions right below this one, the conditions of lambdas left out.
    private var operands: [BoundExpression] {
        switch self {
        case .constant, .path, .isOf, .any, .all, .count, .isDefined, .search, .aggregate: []
        case .unary(_, let operand, _), .cast(let operand, _), .isOfValue(let operand, _): [operand]
        case .binary(_, let left, let right, _): [left, right]
        case .membership(let operand, let others): [operand] + others
        case .function(_, let arguments, _), .list(let arguments, _), .custom(_, let arguments): arguments
        case .hierarchyTest(let test): [test.node] + (test.other.map { [$0] } ?? [])
        }
    }

    /// All paths in it, those of collections included, the conditions of lambdas left out.
    var paths: [BoundPath] {
        switch self {
        case .path(let path), .isOf(let path, _), .isDefined(let path), .aggregate(let path, _): [path]
        case .any(let path, _, _), .all(let path, _, _), .count(let path, _, _): [path]
        case .hierarchyTest(let test): [test.reference.nodes] + operands.flatMap(\.paths)
        default: operands.flatMap(\.paths)
        }
    }

    /// All lambdas in it, nested ones left out.
    var lambdas: [(path: BoundPath, variable: RangeVariable, condition: BoundExpression?)] {
        switch self {
        case .any(let path, let variable, let condition), .count(let path, let variable, let condition):
            [(path, variable, condition)]
        case .all(let path, let variable, let condition): [(path, variable, condition)]
        default: operands.flatMap(\.lambdas)
        }
    }

    /// Whether it holds a search, an aggregation or a function of the app's own: what their values hang on is not
    /// told by its paths.
    var isOpaque: Bool {
        switch self {
        case .search, .aggregate, .custom: true
        default: operands.contains(where: \.isOpaque) || lambdas.contains { $0.condition?.isOpaque ?? false }
        }
    }

    /// Whether a function is called anywhere in it.
    func calls(_ wanted: CanonicalFunction) -> Bool {
        if case .function(wanted, _, _) = self { return true }
        return operands.contains { $0.calls(wanted) } || lambdas.contains { $0.condition?.calls(wanted) ?? false }
    }
}
