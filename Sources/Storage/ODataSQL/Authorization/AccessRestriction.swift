import ODataModel
import ODataQuery
import ODataService

/// Removes sets and properties that a caller may not see from a resolved request. Hidden properties are not
/// selected; naming one in an expression or path is refused. Rows are filtered by the reader.
package struct AccessRestriction {
    let control: AccessControl
    let principal: Principal?

    /// Restricts a read request.
    ///
    /// - Throws: ``ODataError`` 401 or 403.
    /// - Parameter needsTarget: whether the caller must read the addressed set itself, and not only the sets before it.
    package func restrict(_ bound: BoundURL, needsTarget: Bool = true) throws -> BoundURL {
        var bound = bound
        for set in needsTarget ? bound.resource.sets[...] : bound.resource.sets.dropLast() {
            guard try control.access(principal, set).allows(.read) else { throw Access.refusal(principal, set) }
        }
        switch bound.resource.target {
        case .all: try checkWhole(control.mapping.model.container.entitySets.map(\.name))
        case .crossJoin(let sets, _): try checkWhole(sets.map(\.name))
        default: break
        }
        var hidden: Set<String> = []
        for step in bound.resource.steps {
            switch step {
            case .entitySet(let set, _): hidden = try hiddenProperties(of: set.name)
            case .singleton(let singleton, _): hidden = try hiddenProperties(of: singleton.name)
            case .navigation(let navigation, let set, _):
                if hidden.contains(navigation.name) { throw refusal(navigation.name) }
                hidden = try set.map { try hiddenProperties(of: $0.name) } ?? []
            case .property(let property, _, _):
                if hidden.contains(property.name) { throw refusal(property.name) }
            case .filter(let condition, let variable), .alternateKey(_, let condition, let variable):
                try check(condition, Scopes(hidden, outermost: hidden).adding(hidden, for: variable))
            case .operation(_, let arguments):
                for argument in arguments.values { try check(argument, Scopes(hidden, outermost: hidden)) }
            default: break
            }
        }
        if let query = bound.query { bound.query = try restrict(query, outermost: nil) }
        return bound
    }

    /// Checks a dynamic query, which cannot leave hidden properties out.
    ///
    /// - Throws: ``ODataError`` 401 or 403 if the caller may not read one of its sets, or not all of their properties.
    package func check(_ selection: BoundSelection) throws { try checkWhole(selection.allEntitySets.sorted()) }

    /// Checks that the caller sees all properties of the sets. Reads of several sets at once cannot leave
    /// properties out.
    private func checkWhole(_ sets: [String]) throws {
        for set in sets {
            let access = try control.access(principal, set)
            guard access.allows(.read), access.hiddenProperties.isEmpty else { throw Access.refusal(principal, set) }
        }
    }

    private func hiddenProperties(of set: String) throws -> Set<String> {
        try control.access(principal, set).hiddenProperties
    }

    /// Restricts a query and its expanded queries.
    ///
    /// - Parameter outermost: the hidden properties of the instance that the whole request addresses; `nil` if
    ///   the query itself is the outermost one.
    private func restrict(_ query: BoundQuery, outermost: Set<String>?) throws -> BoundQuery {
        var query = query
        let hidden = try query.set.map { try hiddenProperties(of: $0.name) } ?? []
        let outermost = outermost ?? hidden
        let scopes = Scopes(hidden, outermost: outermost)
        if let filter = query.filter { try check(filter, scopes) }
        for order in query.orderBy { try check(order.expression, scopes) }
        for computed in query.compute { try check(computed.expression, scopes) }
        // An aggregation could return the values under another name.
        if !query.apply.isEmpty,
            try !hidden.isEmpty || query.apply.contains(where: { try hidesAny(of: $0.entitySets) })
        {
            throw refusal("$apply")
        }
        if !hidden.isEmpty {
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
            for name in query.expandedStreams.joined().compactMap(\.name) where hidden.contains(name) {
                throw refusal(name)
            }
        }
        for (ordinal, nested) in query.nestedQueries {
            query.nestedQueries[ordinal] = try restrict(nested, outermost: outermost)
        }
        query.expand = try query.expand.map { expand in
            var expand = expand
            if let set = expand.query.set, !(try control.access(principal, set.name).allows(.read)) {
                throw Access.refusal(principal, set.name)
            }
            for name in expand.path.compactMap(\.name) + [expand.navigation.name] where hidden.contains(name) {
                throw refusal(name)
            }
            expand.query = try restrict(expand.query, outermost: outermost)
            return expand
        }
        return query
    }

    /// The hidden properties of the instances, by the identifiers of their variables.
    private struct Scopes {
        private var hidden: [Int: Set<String>]

        /// Creates the scopes of a query's options.
        init(_ own: Set<String>, outermost: Set<String>) {
            hidden = [0: own, RangeVariable.these: own, RangeVariable.outermost: outermost]
        }

        func adding(_ names: Set<String>, for variable: RangeVariable) -> Scopes {
            var scopes = self
            scopes.hidden[variable.identifier] = names
            return scopes
        }

        subscript(variable: RangeVariable) -> Set<String> { hidden[variable.identifier] ?? [] }

        var hideNothing: Bool { hidden.values.allSatisfy(\.isEmpty) }
    }

    /// Returns the hidden properties of a set.
    ///
    /// - Throws: ``ODataError`` 401 or 403 if the caller may not read the set.
    private func readable(_ set: String) throws -> Set<String> {
        let access = try control.access(principal, set)
        guard access.allows(.read) else { throw Access.refusal(principal, set) }
        return access.hiddenProperties
    }

    private func hidesAny(of sets: Set<String>) throws -> Bool {
        try sets.contains { try !hiddenProperties(of: $0).isEmpty }
    }

    /// Throws if an expression names a hidden property.
    private func check(_ expression: BoundExpression, _ scopes: Scopes) throws {
        // The properties used by a search or an aggregation within an expression cannot be determined.
        if expression.isOpaque, try !scopes.hideNothing || hidesAny(of: expression.entitySets) {
            throw refusal("This expression")
        }
        try checkPaths(in: expression, scopes)
    }

    /// Throws if a part of a query names a hidden property.
    private func checkPaths(in part: some BoundTree, _ scopes: Scopes) throws {
        var members: Set<String> = []
        for child in part.children {
            switch child {
            case .path(let path): members = try check(path, scopes)
            case .condition(let condition, let variable): try check(condition, scopes.adding(members, for: variable))
            case .expression, .aggregate: try checkPaths(in: child, scopes)
            // The names in a hierarchy are those of its nodes.
            case .hierarchy(let hierarchy): _ = try check(hierarchy.nodes, scopes)
            // Dynamic queries are checked as a whole.
            case .step, .transformation, .expand, .query, .selection: break
            }
        }
    }

    /// Throws if a path names a hidden property.
    ///
    /// - Returns: the hidden properties of the instance at the end of the path.
    private func check(_ path: BoundPath, _ scopes: Scopes) throws -> Set<String> {
        var hidden = scopes[path.variable]
        for step in path.steps {
            if let name = step.name, hidden.contains(name) { throw refusal(name) }
            switch step {
            case .property: hidden = []
            case .navigation(_, _, let set): hidden = try set.map { try hiddenProperties(of: $0.name) } ?? []
            case .entitySet(let set, _): hidden = try readable(set.name)
            case .singleton(let singleton, _): hidden = try readable(singleton.name)
            case .filter(let condition, let variable): try check(condition, scopes.adding(hidden, for: variable))
            case .dynamic, .computed, .cast, .key, .annotation: break
            }
        }
        return hidden
    }

    /// Removes hidden properties from the entities in the response to a change.
    package func hide(in response: inout ODataResponse) throws {
        switch response.body {
        case .entity(let entity):
            guard let id = entity.control.id, try control.access(principal, Self.set(of: id)).allows(.read) else {
                // A caller that may only create entities learns no more than their ids.
                response.body = .none
                response.status = 204
                response.entityID = response.entityID ?? response.location
                return
            }
            response.body = .entity(try hide(in: entity))
        case .page(var page):
            page.entities = try page.entities.map(hide)
            response.body = .page(page)
        default: break
        }
    }

    /// Removes hidden properties from an entity that a change returns.
    package func hide(in entity: ODataEntity) throws -> ODataEntity {
        guard let id = entity.control.id else { return entity }
        var result = entity
        for name in try control.access(principal, Self.set(of: id)).hiddenProperties {
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

    /// Returns the set in the id of an entity.
    private static func set(of id: String) -> String { String(id.prefix { $0 != "(" && $0 != "/" }) }

    private func refusal(_ name: String) -> ODataError {
        ODataError(status: 403, code: "Forbidden", message: "You do not have permission to use \(name).", target: name)
    }
}

extension BoundResource {
    /// The entity sets and singletons along the path.
    package var sets: [String] {
        steps.compactMap { step in
            switch step {
            case .entitySet(let set, _): set.name
            case .singleton(let singleton, _): singleton.name
            case .navigation(_, let set, _): set?.name
            default: nil
            }
        }
    }
}
