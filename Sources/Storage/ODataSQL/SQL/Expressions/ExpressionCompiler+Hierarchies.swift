import GRDB
import ODataModel
import ODataQuery

/// The functions that test nodes of recursive hierarchies (OData Data Aggregation 4.0, 5.5.2.1), and the path from
/// a row to its nodes (6.1).
extension ExpressionCompiler {
    /// The identifiers of a row's nodes: one for the row itself, or one for each member of a collection.
    struct NodeIdentifiers {
        /// The collection; `nil` if the row itself has the identifier.
        var members: SQLCollection?
        /// The identifier of the row or of a member.
        var operand: Operand

        /// The conditions that relate the members to the row.
        var conditions: [SQLFragment] { members?.conditions ?? [] }

        /// Returns FROM with the rows of a scope and their members.
        func beside(_ rows: SQLScope) -> SQLFragment {
            members.map { "\(rows.fromClause) CROSS JOIN \($0.fromClause)" } ?? rows.fromClause
        }
    }

    func identifiers(_ input: NodePath) throws -> NodeIdentifiers {
        guard let found = input.members else { return NodeIdentifiers(operand: try scalar(input.identifier)) }
        let members = try collection(found.path)
        let outer = scopes[found.variable.identifier]
        defer { scopes[found.variable.identifier] = outer }
        scopes[found.variable.identifier] = members.scope
        return NodeIdentifiers(members: members, operand: try scalar(input.identifier))
    }

    /// Returns a test of a node, which is NULL if an identifier is NULL.
    func test(_ expression: BoundExpression) throws -> Operand {
        guard case .hierarchyTest(let test) = expression else { throw Self.unsupported("a test of nodes here") }
        let nodes = try HierarchyNodes(test.reference, self)
        let node = try value(test.node)
        let other = try test.other.map { try value($0) }
        var sql: SQLFragment
        switch (test.kind, other) {
        case (.isRoot, _), (.isLeaf, _):
            let row = try nodes.row(node)
            sql = "EXISTS (SELECT 1 \(row.rows(where: [try nodes.isEnd(row.scope, upwards: test.kind == .isRoot)])))"
        case (.isSibling, let other?): sql = try areSiblings(node, other, nodes: nodes)
        case (.isDescendant, let other?), (.isAncestor, let other?):
            sql = try isReached(node, from: other, nodes: nodes, test: test)
            if test.includesSelf {
                sql = "(\(try compare(.equal, left: node, right: other, isCondition: true)) OR \(sql))"
            }
        default: sql = "EXISTS (SELECT 1 \(try nodes.row(node).rows()))"
        }
        let unknown = ([node] + (other.map { [$0] } ?? [])).filter(\.isNullable)
        guard !unknown.isEmpty else { return boolean(sql) }
        let known = unknown.map { "\($0.sql) IS NOT NULL" as SQLFragment }
        return boolean("CASE WHEN \(.conjunction(known)) THEN \(sql) END", isNullable: true)
    }

    private func areSiblings(_ node: Operand, _ other: Operand, nodes: HierarchyNodes) throws -> SQLFragment {
        let (first, second, parent) = (try nodes.row(node), try nodes.row(other), try nodes.rows())
        let common = [
            try nodes.isParent(parent.scope, of: first.scope), try nodes.isParent(parent.scope, of: second.scope),
        ]
        let roots = [try nodes.isEnd(first.scope, upwards: true), try nodes.isEnd(second.scope, upwards: true)]
        let isSame = try compare(
            .equal, left: nodes.identifier(first.scope), right: nodes.identifier(second.scope), isCondition: true)
        let conditions =
            first.conditions + second.conditions + [
                "NOT (\(isSame))", "EXISTS (SELECT 1 \(parent.rows(where: common))) OR (\(.conjunction(roots)))",
            ]
        return """
            EXISTS (SELECT 1 FROM \(first.fromClause) CROSS JOIN \(second.fromClause) \
            WHERE \(.conjunction(conditions)))
            """
    }

    /// Returns whether a node is above or below another one.
    ///
    /// If one of the nodes is the same for all rows, the nodes reached from it are computed once. Otherwise, each
    /// row follows its path upwards, which has few nodes if every node has one parent.
    private func isReached(
        _ node: Operand, from other: Operand, nodes: HierarchyNodes, test: BoundHierarchyTest
    ) throws -> SQLFragment {
        let isUp = test.kind == .isAncestor
        let (start, end, upwards): (Operand, Operand, Bool) =
            if test.other?.isSameForAllRows == true {
                (other, node, isUp)
            } else if test.node.isSameForAllRows || !isUp {
                (node, other, !isUp)
            } else {
                (other, node, true)
            }
        let row = try nodes.row(start)
        let identifier = try nodes.identifier(row.scope)
        let name = newAlias()
        let definition = try nodes.reached(
            name, from: "(SELECT \(identifier.sql) AS \(name: "id") \(row.rows()))", upwards: upwards,
            distance: test.distance)
        let found: SQLFragment = "WITH RECURSIVE \(name: name)(\(definition.columns)) AS (\(definition.select))"
        if identifier.codec == end.codec, end.codec.isUnambiguous {
            return "\(end.sortable) IN (\(found) SELECT \(name: "id") FROM \(name: name))"
        }
        let reached = identifier.moved(to: "\(column: "id", of: name)")
        return """
            EXISTS (\(found) SELECT 1 FROM \(name: name) WHERE \(try compare(.equal, left: reached, right: end, isCondition: true)))
            """
    }
}
