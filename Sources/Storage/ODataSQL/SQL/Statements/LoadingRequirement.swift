import GRDB
import ODataModel
import ODataQuery
import ODataService

/// A check that runs before a statement, in the same transaction: that the store holds what the statement reads
/// (``LoadedData``).
struct LoadingRequirement: Sendable {
    /// A statement that finds a row where something is missing.
    let violation: SQLFragment
    /// The refusal then.
    let error: ODataError

    /// - Throws: the refusal.
    func check(in database: Database) throws {
        let found = try Int.fetchOne(
            StatementCache.statement(violation.sql, in: database), arguments: StatementArguments(violation.arguments))
        if found != nil { throw error }
    }
}

extension [LoadingRequirement] {
    /// - Throws: the refusal of the first that is not met.
    func check(in database: Database) throws { for requirement in self { try requirement.check(in: database) } }
}

extension ExpressionCompiler {
    /// Requires that an entity set or singleton is held, or that the addressed row is here anyway: one that was made here.
    ///
    /// - Parameters:
    ///   - scope: rows of the set's table, which stand in a statement of their own.
    ///   - conditions: the conditions on them.
    func requireLoaded(_ table: TableStorage, _ scope: SQLScope, conditions: [SQLFragment]) {
        guard let missing = options.loadedData?.missing(table.set) else { return }
        require(
            """
            SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM \(scope.fromClause)\(Self.whereClause(conditions)))
            """, missing.error)
    }

    /// Requires that an entity set or singleton is held, or that any row of it is here.
    func requireLoaded(_ table: TableStorage) throws {
        guard options.loadedData != nil else { return }
        let (alias, scope) = ownRows(of: table)
        requireLoaded(table, scope, conditions: try visibility(of: table, alias: alias).map { [$0] } ?? [])
    }

    /// Requires that the relations of some rows are held.
    ///
    /// - Parameters:
    ///   - path: the complex properties and casts before the navigation property.
    ///   - scope: the rows that the relations start at, which stand in a statement of their own.
    ///   - conditions: the conditions on them.
    func requireLoaded(
        _ navigation: NavigationProperty, _ path: [BoundStep] = [], of table: TableStorage, scope: SQLScope,
        conditions: [SQLFragment]
    ) throws {
        guard let (unknown, error) = try unknownRelation(navigation, path, of: table, scope: scope) else { return }
        require("SELECT 1 FROM \(scope.fromClause)\(Self.whereClause(conditions + [unknown])) LIMIT 1", error)
    }

    /// Requires that the relations of rows in the statement are held: of the rows that the request addresses, or of all in
    /// their table.
    ///
    /// - Parameter scope: the rows that the relations start at, in the statement.
    func requireLoaded(
        _ navigation: NavigationProperty, _ path: [BoundStep] = [], from scope: SQLScope, table: TableStorage
    ) throws {
        guard options.loadedData?.missing(Self.name(of: path + [.dynamic(navigation.name)]), of: table.set) != nil
        else {
            return
        }
        let (alias, rows) = ownRows(of: table)
        var conditions = try visibility(of: table, alias: alias).map { [$0] } ?? []
        if let addressed, addressed.alias == scope.alias, let rowID = table.rowID {
            conditions.append("\(rows.sql(rowID)) IN (\(addressed.rows))")
        }
        try requireLoaded(navigation, path, of: table, scope: rows, conditions: conditions)
    }

    /// The condition that the relation of a row is not held, with the refusal; `nil` where those of all rows are.
    ///
    /// A row that leads to an entity which is here, or to none because its foreign key is null, needs nothing else, whatever the
    /// store holds.
    func unknownRelation(
        _ navigation: NavigationProperty, _ path: [BoundStep], of table: TableStorage, scope: SQLScope
    ) throws -> (SQLFragment, ODataError)? {
        guard
            let missing = options.loadedData?.missing(Self.name(of: path + [.dynamic(navigation.name)]), of: table.set)
        else { return nil }
        var known = missing.exceptRows.flatMap { $0.fragment(of: table, in: scope) }.map { [$0] } ?? []
        if !navigation.isCollection {
            let (storage, target) = try self.navigation(navigation, path, of: table)
            let alias = Self.relatedAlias
            switch storage {
            case .join(_, let pairs):
                known += pairs.map { "\(scope.sql($0.source)) IS NULL" }
                let there = SQLFragment.conjunction(joinConditions(pairs, source: scope, target: alias))
                known.append("EXISTS (SELECT 1 FROM \(name: target.table) AS \(name: alias) WHERE \(there))")
            case .link(_, let link, let source, _):
                let own = try requireRowID(table, navigation)
                known.append(
                    """
                    EXISTS (SELECT 1 FROM \(name: link) AS \(name: alias) \
                    WHERE \(column: source, of: alias) = \(scope.sql(own)))
                    """)
            }
        }
        return (known.isEmpty ? "1" : "NOT (\(list: known, by: " OR "))", missing.error)
    }

    /// The rows of a table in a statement of their own. The aliases of such statements are not those of the main one, whose
    /// text must be the same whatever is required before it.
    private func ownRows(of table: TableStorage) -> (alias: String, scope: SQLScope) {
        let alias = "rows"
        return (
            alias, SQLScope(alias: alias, source: .table(table), from: "\(name: table.table) AS \(name: alias)")
        )
    }

    private static var relatedAlias: String { "related" }
}
