import GRDB
import ODataModel
import ODataQuery
import ODataService

/// `groupby` with `rolluprecursive` (OData Data Aggregation 4.0, 6.3).
extension StatementBuilder {
    /// The nodes by which rows are grouped, in a common table expression.
    ///
    /// It contains the columns of the nodes, their identifiers as `$id`, and their numbers in the order of the
    /// result as `$r`. A traversal may return a node several times.
    private struct GroupedNodes {
        var name: String
        var identifier: Operand
    }

    func group(byNodes grouping: BoundNodeGrouping) throws {
        try settle()
        let nodes = try HierarchyNodes(grouping.reference, compiler)
        let all = try restricted(nodes, by: grouping.restriction)
        let below = try closure(of: all, nodes)
        let outer = (count: partition.count, all: allPartitions, mayHaveLost: mayHaveLostPartitions)
        let (tie, node) = (compiler.newAlias(), compiler.newAlias())
        if grouping.input.members == nil {
            wrap()
            let input = try compiler.scalar(grouping.input.identifier)
            scope.from = """
                \(scope.from) JOIN \(name: below) AS \(name: tie) ON \(input.sortable) = \(column: "id", of: tie)
                """
        } else {
            try becomeRowsWithGroupedNodes(grouping.input, below, as: tie)
        }
        scope.from = """
            \(scope.from) JOIN \(name: all.name) AS \(name: node) \
            ON \(column: "$r", of: node) = \(column: "node", of: tie)
            """
        partition.append(
            Operand(
                sql: "\(column: "$r", of: node)", type: .primitive(.int64), codec: .integer, isNullable: false))
        allPartitions = try partitions(outer.all, of: outer.count, by: all)
        mayHaveLostPartitions = true
        let hidden = SQLScope.hiddenName(RangeVariable.rollupNode(grouping.position))
        scope.attach(
            SQLScope(alias: node, source: .table(nodes.table), from: "", root: scope), as: hidden, names: [],
            presence: "1")
        compiler.scopes[variable] = scope
        for transformation in grouping.then { try apply(transformation) }
        try settle()
        scope.detach(hidden)
        try inject(all, nodes, grouping: grouping, at: outer.count)
        allPartitions = outer.all
        mayHaveLostPartitions = outer.mayHaveLost || outer.count > 0
        compiler.scopes[variable] = scope
    }

    /// Puts the rows into FROM, once for each node that is above one or more of their nodes.
    ///
    /// - Parameters:
    ///   - below: the table of pairs of nodes, with the upper one as `node` and the lower one as `id`.
    ///   - tie: the alias of the table in FROM with the upper node as `node`.
    private func becomeRowsWithGroupedNodes(_ input: NodePath, _ below: String, as tie: String) throws {
        let shared = numbered()
        let rows = shared.fork()
        compiler.scopes[variable] = rows.scope
        let found = try compiler.identifiers(input)
        let lower = compiler.newAlias()
        let conditions =
            rows.conditions + found.conditions + ["\(found.operand.sortable) = \(column: "id", of: lower)"]
        let name = compiler.addCommon(
            """
            SELECT DISTINCT \(column: "$r", of: rows.scope.alias) AS \(name: "$r"), \(column: "node", of: lower) AS \
            \(name: "node") FROM \(found.beside(rows.scope)) CROSS JOIN \(name: below) AS \(name: lower)\
            \(ExpressionCompiler.whereClause(conditions))
            """)
        adopt(shared.fork())
        scope.from = """
            \(scope.from) JOIN \(name: name) AS \(name: tie) \
            ON \(column: "$r", of: tie) = \(column: "$r", of: scope.alias)
            """
    }

    /// Returns all combinations of the rows' partitions and the nodes.
    private func partitions(
        _ outer: SQLFragment?, of count: Int, by nodes: GroupedNodes
    ) throws -> SQLFragment {
        guard count > 0 else { return "SELECT \(name: "$r") AS \(name: "$p.0") FROM \(name: nodes.name)" }
        guard let outer else { throw ODataError.notImplemented("rolluprecursive within groupby here") }
        let (groups, node) = (compiler.newAlias(), compiler.newAlias())
        let columns = (0..<count).map { "\(column: "$p.\($0)", of: groups) AS \(name: "$p.\($0)")" as SQLFragment }
        return """
            SELECT \(list: columns), \(column: "$r", of: node) AS \(name: "$p.\(count)") FROM (\(outer)) AS \
            \(name: groups) CROSS JOIN \(name: nodes.name) AS \(name: node)
            """
    }

    /// Adds the injected properties of the nodes to the rows and ends the partition by nodes.
    private func inject(
        _ nodes: GroupedNodes, _ hierarchy: HierarchyNodes, grouping: BoundNodeGrouping, at position: Int
    ) throws {
        let table = hierarchy.table
        let rows = carried()
        let (alias, node) = (compiler.newAlias(), compiler.newAlias())
        let number: SQLFragment = "\(column: "$p.\(position)", of: alias)"
        let from: SQLFragment = """
            (\(rows.select)) AS \(name: alias) JOIN \(name: nodes.name) AS \(name: node) \
            ON \(column: "$r", of: node) = \(number)
            """
        rows.become(rowsOf: self, alias: alias, from: from)
        let key = partition.remove(at: position)
        switch grouping.injection {
        case .nothing: break
        case .identifier(let name):
            replace(grouping)
            scope.computed[name] = nodes.identifier.moved(to: "\(column: "$id", of: node)")
            rename { [name] + $0 }
        case .identifiers, .member:
            replace(grouping)
            try inject(
                grouping.injection, of: SQLScope(alias: node, source: .table(table), from: "", root: scope), hierarchy)
        case .entity(let name):
            replace(grouping)
            scope.attach(
                SQLScope(alias: node, source: .table(table), from: "", root: scope), as: name, names: [],
                presence: "\(column: "$r", of: node)")
        case .properties:
            // The rows become nodes with the results of the transformations in addition to their own properties.
            let own = SQLScope(alias: node, source: .table(table), from: from)
            let made = rows.scope(alias: alias, root: own)
            own.computed = made.computed
            for attachment in made.attachments { own.attach(attachment) }
            scope = own
            replace(grouping)
            changeKinds { $0.isEntity = true }
            expands = []
        }
        let name = "\(SQLScope.hiddenName(RangeVariable.rollupNode(grouping.position)))/number"
        scope.computed[name] = key
        if case .values(let values) = identity { identity = .values([name] + values) } else { identity = .nothing }
        order.insert(CompiledQuery.SortTerm(sql: number, isNullable: false, isDescending: false), at: 0)
    }

    /// Removes the values that the injected properties replace. Values that identify a row remain under hidden
    /// names.
    private func replace(_ grouping: BoundNodeGrouping) {
        for name in scope.computed.keys.sorted() where grouping.replaces(name) {
            scope.computed[SQLScope.hiddenName(name)] = scope.computed.removeValue(forKey: name)
        }
        for attachment in scope.attachments where grouping.replaces(attachment.name) { scope.detach(attachment.name) }
        if case .values(let values) = identity {
            identity = .values(values.map { grouping.replaces($0) ? SQLScope.hiddenName($0) : $0 })
        }
        rename { names in names.filter { !grouping.replaces($0) } }
    }

    /// Changes the names of values in the result, including those of each variant.
    private func rename(_ change: ([String]) -> [String]) {
        names = change(names)
        changeKinds { $0.names = change($0.names) }
    }

    /// Returns the nodes that satisfy a restriction.
    private func restricted(
        _ nodes: HierarchyNodes, by restriction: [BoundTransformation]
    ) throws -> GroupedNodes {
        let rows = try nodes.rows()
        let builder = StatementBuilder(
            compiler: compiler,
            scope: SQLScope(alias: rows.scope.alias, source: rows.scope.source, from: rows.fromClause),
            conditions: rows.conditions)
        builder.variable = nodes.reference.nodeProperty.variable.identifier
        let outer = compiler.scopes[builder.variable]
        defer { compiler.scopes[builder.variable] = outer }
        compiler.scopes[builder.variable] = builder.scope
        for transformation in restriction { try builder.apply(transformation) }
        try builder.settle()
        let identifier = try nodes.identifier(builder.scope)
        let sorting = builder.totalOrder.map(\.fragment)
        let over: SQLFragment = sorting.isEmpty ? "" : "ORDER BY \(list: sorting)"
        let columns = nodes.table.statementColumns.map { "\(builder.scope.sql($0)) AS \(name: $0)" as SQLFragment }
        let name = compiler.addCommon(
            """
            SELECT \(list: columns), \(identifier.sortable) AS \(name: "$id"), ROW_NUMBER() OVER (\(over)) AS \
            \(name: "$r") FROM \(builder.scope.fromClause)\(ExpressionCompiler.whereClause(builder.conditions))
            """)
        return GroupedNodes(name: name, identifier: identifier)
    }

    /// Returns each node by its number, with itself and all nodes below it. UNION ends cycles, because it ignores
    /// repeated pairs.
    private func closure(of all: GroupedNodes, _ nodes: HierarchyNodes) throws -> String {
        let name = compiler.newAlias()
        let (first, again) = (compiler.newAlias(), compiler.newAlias())
        let (parent, child) = (try nodes.rows(), try nodes.rows())
        let (above, below) = (try nodes.identifier(parent.scope), try nodes.identifier(child.scope))
        let conditions =
            parent.conditions + child.conditions
            + [
                "\(above.sortable) = \(column: "id", of: again)", try nodes.isParent(parent.scope, of: child.scope),
            ]
        compiler.addRecursive(
            name, "\(name: "node"), \(name: "id")",
            select: """
                SELECT \(column: "$r", of: first), \(column: "$id", of: first) FROM \(name: all.name) AS \(name: first) \
                UNION SELECT \(column: "node", of: again), \(below.sql) FROM \(name: name) AS \(name: again) \
                CROSS JOIN \(parent.fromClause) CROSS JOIN \(child.fromClause) WHERE \(.conjunction(conditions))
                """)
        return name
    }
}
