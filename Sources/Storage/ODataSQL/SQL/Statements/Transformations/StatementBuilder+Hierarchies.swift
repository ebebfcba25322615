import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Recursive hierarchies: `ancestors`, `descendants` and `traverse` (OData Data Aggregation 4.0, 6.2), as recursive
/// common table expressions.
extension StatementBuilder {
    /// The maximum depth of `traverse`; deeper nodes and cycles are errors.
    static let maxDepth = 500

    /// Applies `ancestors` or `descendants`, which select the rows with nodes above or below a start node.
    func relatives(_ hierarchy: BoundHierarchy) throws {
        try settle()
        let nodes = try HierarchyNodes(hierarchy.reference, compiler)
        let shared = share()
        let start = shared.fork()
        compiler.scopes[variable] = start.scope
        for transformation in hierarchy.start { try start.apply(transformation) }
        try start.settle()
        compiler.scopes[variable] = start.scope
        let first = try compiler.identifiers(hierarchy.input)
        // Each partition has its own start nodes, so that the partition is carried along with every node.
        let keys = start.partition.indices.map { "$p.\($0)" }
        let columns = zip(start.partition, keys).map { "\($0.sortable) AS \(name: $1)" as SQLFragment }
        let conditions = start.conditions + first.conditions + ["\(first.operand.sql) IS NOT NULL"]
        let starts = compiler.addCommon(
            """
            SELECT DISTINCT \(list: ["\(first.operand.sql) AS \(name: "id")"] + columns) FROM \(first.beside(start.scope))\
            \(ExpressionCompiler.whereClause(conditions))
            """)
        let reached = compiler.newAlias()
        let definition = try nodes.reached(
            reached, from: "\(name: starts)", upwards: hierarchy.isAncestors, distance: hierarchy.distance, keys: keys)
        compiler.addRecursive(reached, definition.columns, select: definition.select)
        adopt(shared.fork())
        var condition = try isNode(hierarchy.input, among: reached, keys)
        if hierarchy.keepsStart { condition = "(\(condition) OR \(try isNode(hierarchy.input, among: starts, keys)))" }
        try keep(condition)
    }

    /// Returns whether a node of a row is in a common table, within the same partition.
    private func isNode(_ input: NodePath, among table: String, _ keys: [String]) throws -> SQLFragment {
        let found = try compiler.identifiers(input)
        let identifier = found.operand.sortable
        if keys.isEmpty {
            let isAmong: SQLFragment = "\(identifier) IN (SELECT \(name: "id") FROM \(name: table))"
            return found.members.map { "EXISTS (SELECT 1 \($0.rows(where: [isAmong])))" } ?? isAmong
        }
        let alias = compiler.newAlias()
        let same = zip(partition, keys).map { "\(column: $1, of: alias) IS \($0.sortable)" as SQLFragment }
        let conditions = found.conditions + ["\(column: "id", of: alias) = \(identifier)"] + same
        let members: SQLFragment = found.members.map { "\($0.fromClause) CROSS JOIN " } ?? ""
        return """
            EXISTS (SELECT 1 FROM \(members)\(name: table) AS \(name: alias) WHERE \(.conjunction(conditions)))
            """
    }

    /// Applies `traverse`, which orders the rows by the traversal of their nodes.
    func traverse(_ traversal: BoundTraversal) throws {
        try settle()
        // Rows with nodes outside of the tree are removed.
        if !partition.isEmpty { mayHaveLostPartitions = true }
        let nodes = try HierarchyNodes(traversal.reference, compiler)
        let ranked = try siblings(traversal, nodes)
        let tree = try tree(traversal, nodes, ranked: ranked)
        let identifier = try becomeRowsWithNodes(traversal.input)
        let alias = compiler.newAlias()
        scope.from = """
            \(scope.from) JOIN \(name: tree) AS \(name: alias) ON \(identifier) = \(column: "id", of: alias)
            """
        if traversal.injection != .nothing {
            let node = SQLScope(alias: compiler.newAlias(), source: .table(nodes.table), from: "", root: scope)
            scope.from = """
                \(scope.from) JOIN \(name: ranked) AS \(name: node.alias) ON \(node.sql("$id")) = \(column: "id", of: alias)
                """
            try inject(traversal.injection, of: node, nodes)
        }
        let keys = order + keyTerms
        let place: SQLFragment =
            traversal.isPreorder ? "\(column: "path", of: alias)" : "\(column: "path", of: alias) || '~'"
        order = [CompiledQuery.SortTerm(sql: place, isNullable: false, isDescending: false)] + keys
        compiler.scopes[variable] = scope
    }

    /// Puts the rows into FROM, once for each of their nodes.
    ///
    /// - Returns: The identifier of the node.
    private func becomeRowsWithNodes(_ input: NodePath) throws -> SQLFragment {
        guard input.members != nil else {
            wrap()
            return try compiler.scalar(input.identifier).sortable
        }
        let pairs = try pairs(of: input)
        return "\(column: "id", of: pairs)"
    }

    /// Puts the numbered rows into FROM, and joins the distinct identifiers of their nodes as `id`.
    ///
    /// - Returns: The name of the table of identifiers.
    func pairs(of input: NodePath) throws -> String {
        let shared = numbered()
        let rows = shared.fork()
        compiler.scopes[variable] = rows.scope
        let found = try compiler.identifiers(input)
        let conditions = rows.conditions + found.conditions + ["\(found.operand.sql) IS NOT NULL"]
        let name = compiler.addCommon(
            """
            SELECT DISTINCT \(column: "$r", of: rows.scope.alias) AS \(name: "$r"), \(found.operand.sortable) AS \
            \(name: "id") FROM \(found.beside(rows.scope))\(ExpressionCompiler.whereClause(conditions))
            """)
        adopt(shared.fork())
        let alias = compiler.newAlias()
        scope.from = """
            \(scope.from) JOIN \(name: name) AS \(name: alias) \
            ON \(column: "$r", of: alias) = \(column: "$r", of: scope.alias)
            """
        return alias
    }

    /// Adds the injected node of each row as a column with the JSON text of an object or a collection.
    func inject(_ injection: NodeInjection, of node: SQLScope, _ nodes: HierarchyNodes) throws {
        guard let (name, value) = try text(of: injection, node, nodes) else { return }
        if !names.contains(name) {
            names.append(name)
            changeKinds { $0.names.append(name) }
        }
        for other in scope.computed.keys where other.hasPrefix("\(name)/") { scope.computed[other] = nil }
        scope.detach(name)
        scope.computed[name] = Operand(
            sql: value, type: .untyped("Edm.Untyped"), codec: .json, isNullable: false)
    }

    private func text(
        of injection: NodeInjection, _ node: SQLScope, _ nodes: HierarchyNodes
    ) throws -> (name: String, value: SQLFragment)? {
        switch injection {
        case .identifier(let name): return (name, try valueText(nodes.identifier(node)))
        case .identifiers(let name): return (name, "'[' || \(try valueText(nodes.identifier(node))) || ']'")
        case .member(let name, let isCollection, let inner):
            let object: SQLFragment =
                if let (label, value) = try text(of: inner, node, nodes) {
                    "'{' || \(Self.label(label)) || \(value) || '}'"
                } else {
                    try objectText(node, nodes.table)
                }
            return (name, isCollection ? "'[' || \(object) || ']'" : object)
        case .properties, .entity, .nothing: return nil
        }
    }

    /// Returns all nodes with their rank in the order of siblings.
    private func siblings(_ traversal: BoundTraversal, _ nodes: HierarchyNodes) throws -> String {
        let rows = try nodes.rows()
        let identifier = try nodes.identifier(rows.scope)
        let variable = traversal.reference.nodeProperty.variable.identifier
        let outer = compiler.scopes[variable]
        compiler.scopes[variable] = rows.scope
        defer { compiler.scopes[variable] = outer }
        let builder = StatementBuilder(compiler: compiler, scope: rows.scope)
        let terms = try traversal.orderBy.map { try builder.term($0) } + builder.keyTerms
        let columns = nodes.table.statementColumns.map { "\(rows.scope.sql($0)) AS \(name: $0)" as SQLFragment }
        return compiler.addCommon(
            """
            SELECT \(list: columns), \(identifier.sql) AS \(name: "$id"), \
            printf('%08x', ROW_NUMBER() OVER (ORDER BY \(list: terms.map(\.fragment)))) AS \(name: "$n") \
            \(rows.rows())
            """)
    }

    /// Returns the nodes below the start nodes, with the ranks of all nodes on their path.
    private func tree(_ traversal: BoundTraversal, _ nodes: HierarchyNodes, ranked: String) throws -> String {
        func scope() -> SQLScope {
            let alias = compiler.newAlias()
            return SQLScope(
                alias: alias, source: .table(nodes.table), from: "\(name: ranked) AS \(name: alias)")
        }
        let name = compiler.newAlias()
        let first = scope()
        let start: SQLFragment
        if traversal.start.isEmpty {
            let parent = scope()
            start = """
                SELECT \(first.sql("$id")), \(first.sql("$n")), 1 FROM \(first.from) WHERE NOT EXISTS \
                (SELECT 1 FROM \(parent.from) WHERE \(try nodes.isParent(parent, of: first)))
                """
        } else {
            let builder = StatementBuilder(compiler: compiler, scope: first)
            builder.variable = traversal.reference.nodeProperty.variable.identifier
            let outer = compiler.scopes[builder.variable]
            defer { compiler.scopes[builder.variable] = outer }
            compiler.scopes[builder.variable] = first
            for transformation in traversal.start { try builder.apply(transformation) }
            try builder.settle()
            compiler.scopes[builder.variable] = builder.scope
            let identifier = try compiler.scalar(traversal.reference.nodeProperty)
            let start2 = scope()
            start = """
                SELECT \(start2.sql("$id")), \(start2.sql("$n")), 1 FROM \(start2.from) WHERE \(start2.sql("$id")) IN \
                (SELECT \(identifier.sql) FROM \(builder.scope.fromClause)\
                \(ExpressionCompiler.whereClause(builder.conditions)))
                """
        }
        let (parent, child) = (scope(), scope())
        let again = compiler.newAlias()
        let next: SQLFragment = """
            SELECT \(child.sql("$id")), \(column: "path", of: again) || \(child.sql("$n")), \
            outpost_depth(\(column: "n", of: again) + 1, \(bind: Self.maxDepth.databaseValue)) \
            FROM \(name: name) AS \(name: again) CROSS JOIN \(parent.from) CROSS JOIN \(child.from) \
            WHERE \(parent.sql("$id")) = \(column: "id", of: again) AND \(try nodes.isParent(parent, of: child))
            """
        compiler.addRecursive(
            name, "\(name: "id"), \(name: "path"), \(name: "n")", select: "\(start) UNION ALL \(next)")
        return name
    }
}
