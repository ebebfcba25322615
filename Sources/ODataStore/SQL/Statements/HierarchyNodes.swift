import ODataModel
import ODataQuery
import ODataService

/// The nodes of a recursive hierarchy: how to identify one, and what ties a child to its parent.
struct HierarchyNodes {
    private let compiler: ExpressionCompiler
    /// The hierarchy.
    let reference: HierarchyReference
    /// The table that holds the nodes.
    let table: TableStorage

    init(_ reference: HierarchyReference, _ compiler: ExpressionCompiler) throws {
        self.compiler = compiler
        self.reference = reference
        guard let table = try compiler.collection(reference.nodes).scope.table else {
            throw ODataError.notImplemented("a hierarchy of values that are no entities")
        }
        self.table = table
    }

    /// All nodes under an alias of their own.
    func rows() throws -> SQLCollection { try compiler.collection(reference.nodes) }

    /// A node's identifier.
    func identifier(_ node: SQLScope) throws -> Operand {
        let variable = reference.nodeProperty.variable.identifier
        let outer = compiler.scopes[variable]
        compiler.scopes[variable] = node
        defer { compiler.scopes[variable] = outer }
        return try compiler.scalar(reference.nodeProperty)
    }

    /// The condition that one node is a parent of another.
    func isParent(_ parent: SQLScope, of child: SQLScope) throws -> SQLFragment {
        let (storage, _) = try compiler.navigation(reference.parentNavigation, of: table)
        switch storage {
        case .join(_, let pairs):
            return .conjunction(pairs.map { "\(parent.sql($0.target)) = \(child.sql($0.source))" })
        case .link(_, let link, let source, let target):
            let rowID = try compiler.requireRowID(table, reference.parentNavigation)
            let alias = compiler.newAlias()
            return """
                EXISTS (SELECT 1 FROM \(name: link) AS \(name: alias) WHERE \(column: source, of: alias) = \
                \(child.sql(rowID)) AND \(column: target, of: alias) = \(parent.sql(rowID)))
                """
        }
    }
}
