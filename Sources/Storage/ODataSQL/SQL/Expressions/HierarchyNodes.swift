import ODataModel
import ODataQuery
import ODataService

/// The nodes of a recursive hierarchy, with their identifiers and parents.
struct HierarchyNodes {
    private let compiler: ExpressionCompiler
    let reference: HierarchyReference
    /// The table of the nodes.
    let table: TableStorage

    init(_ reference: HierarchyReference, _ compiler: ExpressionCompiler) throws {
        self.compiler = compiler
        self.reference = reference
        guard let table = try compiler.collection(reference.nodes).scope.table else {
            throw ODataError.notImplemented("a hierarchy of values that are no entities")
        }
        self.table = table
    }

    /// Returns all nodes with a new alias; rows without an identifier are not nodes.
    func rows() throws -> SQLCollection {
        var rows = try compiler.collection(reference.nodes)
        let identifier = try identifier(rows.scope)
        if identifier.isNullable { rows.conditions.append("\(identifier.sql) IS NOT NULL") }
        return rows
    }

    /// Returns the node with an identifier.
    func row(_ wanted: Operand) throws -> SQLCollection {
        var rows = try compiler.collection(reference.nodes)
        rows.conditions.append(
            try compiler.compare(.equal, left: identifier(rows.scope), right: wanted, isCondition: true))
        return rows
    }

    func identifier(_ node: SQLScope) throws -> Operand {
        let variable = reference.nodeProperty.variable.identifier
        let outer = compiler.scopes[variable]
        compiler.scopes[variable] = node
        defer { compiler.scopes[variable] = outer }
        return try compiler.scalar(reference.nodeProperty)
    }

    /// Returns the condition that a node is a parent of another.
    func isParent(_ parent: SQLScope, of child: SQLScope) throws -> SQLFragment {
        let (storage, _) = try compiler.navigation(reference.parentNavigation, of: table)
        try compiler.requireLoaded(reference.parentNavigation, from: child, table: table)
        switch storage {
        case .join(_, let pairs):
            return .conjunction(
                pairs.map { pair in
                    .areEqual(
                        parent.sql(pair.target), .related(child.sql(pair.source), pair.comparison),
                        comparison: pair.comparison)
                })
        case .link(_, let link, let source, let target):
            let rowID = try compiler.requireRowID(table, reference.parentNavigation)
            let alias = compiler.newAlias()
            return """
                EXISTS (SELECT 1 FROM \(name: link) AS \(name: alias) WHERE \(column: source, of: alias) = \
                \(child.sql(rowID)) AND \(column: target, of: alias) = \(parent.sql(rowID)))
                """
        }
    }

    /// Returns the condition that a node has no parent, or no child, among the nodes.
    func isEnd(_ node: SQLScope, upwards: Bool) throws -> SQLFragment {
        let others = try rows()
        let tie = upwards ? try isParent(others.scope, of: node) : try isParent(node, of: others.scope)
        return "NOT EXISTS (SELECT 1 \(others.rows(where: [tie])))"
    }

    /// Returns a recursive table of reachable nodes, with their identifiers as `id`, and the number of steps if the
    /// distance is limited.
    ///
    /// - Parameters:
    ///   - name: the name of the table, which refers to itself.
    ///   - starts: the table with the start identifiers as `id`.
    ///   - keys: further columns of `starts`, which are copied to every node.
    func reached(
        _ name: String, from starts: SQLFragment, upwards: Bool, distance: Int?, keys: [String] = []
    ) throws -> (columns: SQLFragment, select: SQLFragment) {
        // Without a limit, steps are not counted. UNION then ends cycles, because it ignores nodes that were found
        // before.
        let isCounted = distance != nil
        func step(_ table: SQLFragment, _ alias: String, depth: SQLFragment) throws -> SQLFragment {
            let (near, far) = (try rows(), try rows())
            let (nearID, farID) = (try identifier(near.scope), try identifier(far.scope))
            let tie = upwards ? try isParent(far.scope, of: near.scope) : try isParent(near.scope, of: far.scope)
            let conditions =
                near.conditions + far.conditions + ["\(nearID.sortable) = \(column: "id", of: alias)", tie]
            let columns = [farID.sql] + (isCounted ? [depth] : []) + keys.map { "\(column: $0, of: alias)" }
            return """
                SELECT \(list: columns) FROM \(table) AS \(name: alias) CROSS JOIN \(near.fromClause) \
                CROSS JOIN \(far.fromClause) WHERE \(.conjunction(conditions))
                """
        }
        let (start, again) = (compiler.newAlias(), compiler.newAlias())
        let first = try step(starts, start, depth: "1")
        var next = try step("\(name: name)", again, depth: "\(column: "n", of: again) + 1")
        if let distance { next += " AND \(column: "n", of: again) < \(bind: distance.databaseValue)" }
        let columns = (["id"] + (isCounted ? ["n"] : []) + keys).map { "\(name: $0)" as SQLFragment }
        return ("\(list: columns)", "\(first) UNION \(next)")
    }
}
