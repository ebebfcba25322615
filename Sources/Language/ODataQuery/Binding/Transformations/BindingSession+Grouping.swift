import ODataModel

/// Binding of `groupby` with `rollup` (OData Data Aggregation 4.0, 3.2.3).
extension BindingSession {
    /// A grouping path and its property in the result.
    struct Grouping {
        var path: BoundPath
        var member: Member

        enum Member {
            case property(Property)
            case navigation(NavigationProperty)
        }

        var name: String {
            switch member {
            case .property(let property): property.name
            case .navigation(let navigation): navigation.name
            }
        }
    }

    /// The maximum number of levels of all rollups in a `groupby`, since each level is a query of its own.
    static let maxRollupLevels = 64

    func groupBy(
        _ items: [GroupItem], _ then: [Transformation], over shape: TypeShape, in scope: Scope
    ) throws(QueryError) -> BoundTransformation {
        var levels: [[Grouping]] = [[]]
        var nodes: [BoundNodeGrouping] = []
        for item in items {
            if case .recursiveRollup(let rollup) = item {
                nodes.append(try self.nodes(of: rollup, position: nodes.count + 1, over: shape, in: scope))
                continue
            }
            let alternatives = try self.alternatives(of: item, in: scope)
            guard levels.count * alternatives.count <= Self.maxRollupLevels else {
                throw QueryError(
                    .limit(name: "maxRollupLevels"), "groupby has more than \(Self.maxRollupLevels) levels of rollup.")
            }
            levels = levels.flatMap { level in
                alternatives.map { more in
                    level + more.filter { next in !level.contains { $0.name == next.name } }
                }
            }
        }
        guard nodes.isEmpty else { return try group(byNodes: nodes[...], levels, then, over: shape, in: scope) }
        guard levels.count > 1 else { return try group(by: levels[0], then, over: shape, in: scope) }
        return try rollUp(levels, then, over: shape, in: scope)
    }

    /// Combines one `groupby` for each level with `concat`.
    func rollUp(
        _ levels: [[Grouping]], _ then: [Transformation], over shape: TypeShape, in scope: Scope
    ) throws(QueryError) -> BoundTransformation {
        var branches: [[BoundTransformation]] = []
        for level in levels {
            if level.isEmpty, !then.isEmpty {
                // A grand total exists even without rows, like an aggregate without groupby.
                var inner = scope
                branches.append(try transformations(then, in: &inner))
            } else {
                branches.append([try group(by: level, then, over: shape, in: scope)])
            }
        }
        return .concat(branches, shape: try union(of: branches.compactMap { $0.last?.resultShape }, at: nil))
    }

    /// Returns the groupings of an item, finest first: one for a path, one for each level of a rollup.
    private func alternatives(of item: GroupItem, in scope: Scope) throws(QueryError) -> [[Grouping]] {
        switch item {
        case .path(let path): return [[try grouping(path, in: scope)]]
        case .rollup(let paths):
            var all: [Grouping] = []
            for path in leveled(paths, in: scope) ?? paths {
                if let path { all.append(try grouping(path, in: scope)) }
            }
            let least = paths.contains { $0 == nil } || all.isEmpty ? 0 : 1
            return stride(from: all.count, through: least, by: -1).map { Array(all.prefix($0)) }
        case .recursiveRollup: return [[]]
        }
    }

    /// Returns the paths of the leveled hierarchy that a single name denotes (Data Aggregation 4.0, 5.5.1).
    private func leveled(_ paths: [[Identifier]?], in scope: Scope) -> [[Identifier]?]? {
        guard paths.count == 1, let path = paths[0], path.count == 1, let shape = scope.current.shape,
            shape.ordinal(of: path[0].text) == nil, shape.navigationProperty(path[0].text) == nil
        else { return nil }
        let hierarchy = annotations(of: shape).first {
            $0.term.hasSuffix(".LeveledHierarchy") && $0.qualifier == path[0].text
        }
        guard case .collection(let levels)? = hierarchy?.value else { return nil }
        return levels.map { level in
            guard case .path(_, let text) = level else { return [] }
            return text.split(separator: "/").map { Identifier(String($0), at: path[0].offset) }
        }
    }

    func group(
        by groupings: [Grouping], _ then: [Transformation], over shape: TypeShape, in scope: Scope
    ) throws(QueryError) -> BoundTransformation {
        var properties: [Property] = []
        var navigation: [NavigationProperty] = []
        var paths: [BoundPath] = []
        for grouping in groupings {
            let isKnown =
                properties.contains { $0.name == grouping.name } || navigation.contains { $0.name == grouping.name }
            if isKnown { continue }
            paths.append(grouping.path)
            switch grouping.member {
            case .property(let property): properties.append(property)
            case .navigation(let next): navigation.append(next)
            }
        }
        if then.count == 1, case .aggregate(let items) = then[0] {
            let (aggregates, all) = try aggregates(items, in: scope, taken: properties)
            return .groupBy(
                paths, aggregates,
                shape: TypeShape(dynamic: resultName(shape), properties: all, navigationProperties: navigation))
        }
        guard !then.isEmpty else {
            return .groupBy(
                paths, [],
                shape: TypeShape(dynamic: resultName(shape), properties: properties, navigationProperties: navigation))
        }
        var inner = scope
        let bound = try transformations(then, in: &inner)
        let result = bound.last?.resultShape ?? shape
        properties += result.properties.filter { next in !properties.contains { $0.name == next.name } }
        navigation += result.navigationProperties.filter { next in !navigation.contains { $0.name == next.name } }
        return .groupByApplying(
            paths, bound,
            shape: TypeShape(dynamic: resultName(shape), properties: properties, navigationProperties: navigation))
    }

    /// Resolves a grouping path; the property of the result has the path as its name.
    func grouping(_ path: [Identifier], in scope: Scope) throws(QueryError) -> Grouping {
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
            case .entitySet, .singleton, .key, .filter, .annotation:
                throw unsupported("groupby of such a path", at: offset)
            }
        }
        let joined = name.joined(separator: "/")
        switch bound.type {
        case .collection: throw typeError("A collection cannot be grouped by.", at: offset)
        case .entity(let target):
            guard case .navigation(var navigation, _, _)? = bound.steps.last, let target else {
                throw typeError("A type cannot be grouped by.", at: offset)
            }
            navigation.name = joined
            navigation.target = target
            return Grouping(path: bound, member: .navigation(navigation))
        case .primitive(let type) where type == .stream || type.isGeo:
            throw typeError("Values of type \(bound.type) cannot be grouped by.", at: offset)
        default: break
        }
        if case .cast? = bound.steps.last { throw typeError("A type cannot be grouped by.", at: offset) }
        return Grouping(
            path: bound,
            member: .property(Property(name: joined, type: bound.type, isNullable: isNullable, facets: facets)))
    }
}
