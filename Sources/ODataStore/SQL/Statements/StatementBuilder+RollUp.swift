import GRDB
import ODataModel
import ODataQuery
import ODataService

/// `groupby` with `rolluprecursive` (OData Data Aggregation 4.0, 6.3).
extension StatementBuilder {
    func group(byNodes grouping: BoundNodeGrouping) throws {
        try settle()
        guard partition.isEmpty else { throw ODataError.notImplemented("rolluprecursive within groupby") }
        let nodes = try HierarchyNodes(grouping.reference, compiler)
        let (all, identifier) = try restricted(nodes, by: grouping.restriction)
        let below = try closure(of: all, nodes)
        wrap()
        let input = try compiler.scalar(grouping.reference.input)
        let alias = compiler.newAlias()
        scope.from = """
            \(scope.from) JOIN \(name: below) AS \(name: alias) ON \(input.sortable) = \(column: "id", of: alias)
            """
        partition = [identifier.moved(to: "\(column: "node", of: alias)")]
        allPartitions = "SELECT \(name: "$id") AS \(name: "$p.0") FROM \(name: all)"
        mayHaveLostPartitions = true
        compiler.scopes[variable] = scope
        for transformation in grouping.then { try apply(transformation) }
        try settle()
        let name = ExpressionCompiler.name(of: grouping.reference.input.steps)
        if variants != nil { throw ODataError.notImplemented("concat within rolluprecursive") }
        // What is left of an entity is a part of the answer no more than its own node would be.
        guard scope.table == nil else {
            throw ODataError.notImplemented("rolluprecursive without aggregate or groupby")
        }
        scope.computed[name] = partition[0]
        names = [name] + names.filter { $0 != name }
        if case .values(let values) = identity { identity = .values([name] + values.filter { $0 != name }) }
        partition = []
        allPartitions = nil
        mayHaveLostPartitions = false
        compiler.scopes[variable] = scope
    }

    /// The nodes that are left of a hierarchy, with their identifiers as `$id`.
    private func restricted(
        _ nodes: HierarchyNodes, by restriction: [BoundTransformation]
    ) throws -> (name: String, identifier: Operand) {
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
        let columns = nodes.table.statementColumns.map { "\(builder.scope.sql($0)) AS \(name: $0)" as SQLFragment }
        let name = compiler.addCommon(
            """
            SELECT \(list: columns), \(identifier.sortable) AS \(name: "$id") FROM \(builder.scope.fromClause)\
            \(ExpressionCompiler.whereClause(builder.conditions))
            """)
        return (name, identifier)
    }

    /// For each node itself and the nodes below it; a circle ends where a pair comes again.
    private func closure(of all: String, _ nodes: HierarchyNodes) throws -> String {
        func scope() -> SQLScope {
            let alias = compiler.newAlias()
            return SQLScope(alias: alias, source: .table(nodes.table), from: "\(name: all) AS \(name: alias)")
        }
        let name = compiler.newAlias()
        let (first, parent, child) = (scope(), scope(), scope())
        let again = compiler.newAlias()
        compiler.addRecursive(
            name, "\(name: "node"), \(name: "id")",
            """
            SELECT \(first.sql("$id")), \(first.sql("$id")) FROM \(first.from) UNION \
            SELECT \(column: "node", of: again), \(child.sql("$id")) FROM \(name: name) AS \(name: again) \
            CROSS JOIN \(parent.from) CROSS JOIN \(child.from) \
            WHERE \(parent.sql("$id")) = \(column: "id", of: again) AND \(try nodes.isParent(parent, of: child))
            """)
        return name
    }
}
