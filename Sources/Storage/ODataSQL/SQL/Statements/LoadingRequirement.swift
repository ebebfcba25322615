import GRDB
import ODataModel
import ODataQuery
import ODataService

/// A check that runs before a statement in the same transaction: the store must contain the data that the statement
/// reads (``LoadedData``).
struct LoadingRequirement: Sendable {
    /// A statement that returns a row with a number if data are missing.
    let violation: SQLFragment
    /// A statement without arguments that returns no row if no data can be missing. Its result is remembered until the
    /// database changes.
    let probe: SQLFragment?
    /// Returns the error for the number of a row.
    let error: @Sendable (Int) -> ODataError

    init(violation: SQLFragment, probe: SQLFragment? = nil, error: @escaping @Sendable (Int) -> ODataError) {
        self.violation = violation
        self.probe = probe
        self.error = error
    }

    /// Checks the requirement.
    ///
    /// - Throws: The error if data are missing.
    func check(in database: Database) throws {
        if let probe, try StatementCache.isEmpty(probe.sql, in: database) { return }
        let found = try Int.fetchOne(
            StatementCache.statement(violation.sql, in: database), arguments: StatementArguments(violation.arguments))
        if let found { throw error(found) }
    }
}

extension [LoadingRequirement] {
    /// Checks all requirements.
    ///
    /// - Throws: The error of the first requirement that is not met.
    func check(in database: Database) throws { for requirement in self { try requirement.check(in: database) } }
}

extension ExpressionCompiler {
    /// Requires that an entity set or singleton is available, or that the addressed row exists because it was
    /// created locally.
    ///
    /// - Parameters:
    ///   - scope: rows of the set's table in a separate statement.
    ///   - conditions: the conditions on these rows.
    func requireLoaded(_ table: TableStorage, _ scope: SQLScope, conditions: [SQLFragment]) {
        guard let missing = options.loadedData?.missing(table.set) else { return }
        require(
            """
            SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM \(scope.fromClause)\(Self.whereClause(conditions)))
            """, missing.error)
    }

    /// Requires that an entity set or singleton is available, or that at least one of its rows exists.
    func requireLoaded(_ table: TableStorage) throws {
        guard options.loadedData != nil else { return }
        let (alias, scope) = ownRows(of: table)
        requireLoaded(table, scope, conditions: try visibility(of: table, alias: alias).map { [$0] } ?? [])
    }

    /// Requires that the relations of some rows are available.
    ///
    /// - Parameters:
    ///   - path: the complex properties and casts before the navigation property.
    ///   - scope: the rows at which the relations start, in a separate statement.
    ///   - conditions: the conditions on these rows.
    func requireLoaded(
        _ navigation: NavigationProperty, _ path: [BoundStep] = [], of table: TableStorage, scope: SQLScope,
        conditions: [SQLFragment]
    ) throws {
        guard let (unknown, error) = try unknownRelation(navigation, path, of: table, scope: scope) else { return }
        require("SELECT 1 FROM \(scope.fromClause)\(Self.whereClause(conditions + [unknown])) LIMIT 1", error)
    }

    /// Requires that the relations of the addressed rows, or of all rows in the table, are available.
    ///
    /// - Parameter scope: the rows at which the relations start, in the main statement.
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

    /// Returns the condition that the relation of a row is missing, and the error; `nil` if the relations of all
    /// rows are available.
    ///
    /// The condition is false if the related entity is stored, or if the foreign key is null.
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

    /// Returns the rows of a table in a separate statement. Its aliases differ from those of the main statement,
    /// whose text must not depend on the requirements.
    func ownRows(of table: TableStorage) -> (alias: String, scope: SQLScope) {
        let alias = "rows"
        return (
            alias, SQLScope(alias: alias, source: .table(table), from: "\(name: table.table) AS \(name: alias)")
        )
    }

    private static var relatedAlias: String { "related" }
}
