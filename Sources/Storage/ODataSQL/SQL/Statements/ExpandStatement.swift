import GRDB
import ODataModel
import ODataQuery
import ODataService

/// The statement for one level of `$expand`, which is compiled once and run for each chunk of parents.
///
/// The join values of the parents are in a table of values. Its first column is the number of the parent, which is
/// also the last column of the result.
struct ExpandStatement {
    /// The maximum number of parents in one statement.
    static let maxParents = 500

    /// The query of the related rows.
    let compiled: CompiledQuery
    /// The maximum number of rows on a nested page; `nil` if there is no limit or `$top` is smaller.
    let pageSize: Int?
    private let top: Int?
    private let skip: Int
    /// The requested value of `$top`.
    private let wantedTop: Int?
    private let columnCount: Int
    /// The number of a row's parent.
    private let parent: SQLFragment
    /// A statement that finds a parent whose relation is missing in the store, and the resulting error.
    ///
    /// `nil` if the relations of all parents are available.
    private let violation: (select: SQLFragment, error: ODataError)?

    /// Compiles the query of an expanded property of a table's rows.
    ///
    /// - Parameters:
    ///   - root: the table of the request's rows, to which `$it` refers.
    ///   - pageSize: the maximum number of rows for each parent. One more row is read to detect whether a page
    ///     follows.
    init(
        _ expand: BoundExpand, of table: TableStorage, root: TableStorage, mapping: StorageMapping,
        options: SQLCompiler.Options, pageSize: Int?
    ) throws {
        let compiler = ExpressionCompiler(mapping: mapping, options: options)
        let (storage, target) = try compiler.navigation(expand.navigation, expand.path, of: table)
        let alias = compiler.newAlias()
        // CROSS JOIN makes the few parents the outer loop, so that each finds its rows by index.
        var from: SQLFragment
        var conditions: [SQLFragment] = []
        let pathColumns: Int
        switch storage {
        case .join(_, let pairs):
            pathColumns = pairs.count
            from = "\"parents\" CROSS JOIN \(name: target.table) AS \(name: alias)"
            for (index, pair) in pairs.enumerated() {
                conditions.append(
                    .areEqual(
                        "\(column: pair.target, of: alias)", "\(column: "k\(index)", of: "parents")",
                        comparison: pair.comparison))
            }
        case .link(_, let link, let source, let targetColumn):
            pathColumns = 1
            let rowID = try compiler.requireRowID(target, expand.navigation)
            let inner = compiler.newAlias()
            from = """
                "parents" CROSS JOIN \(name: link) AS \(name: inner) CROSS JOIN \(name: target.table) AS \(name: alias)
                """
            conditions.append("\(column: source, of: inner) = \(column: "k0", of: "parents")")
            conditions.append("\(column: rowID, of: alias) = \(column: targetColumn, of: inner)")
        }
        if let visible = try compiler.visibility(of: target, alias: alias) { conditions.append(visible) }
        violation = try Self.violation(expand, storage, of: table, compiler: compiler)
        var keyCount = 0
        let outermost = compiler.newAlias()
        if expand.refersToOutermost {
            // The row is found by its key, which is passed from level to level.
            let keys = root.keyColumns
            guard !keys.isEmpty else {
                throw ODataError.notImplemented("$it in $expand of \(root.set), which has no key")
            }
            from += " CROSS JOIN \(name: root.table) AS \(name: outermost)"
            for (index, key) in keys.enumerated() {
                conditions.append(
                    "\(column: key.name, of: outermost) = \(column: "k\(pathColumns + index)", of: "parents")")
            }
            keyCount = keys.count
        }
        columnCount = pathColumns + keyCount
        let scope = SQLScope(alias: alias, source: .table(target), from: from)
        if expand.refersToOutermost {
            scope.attach(
                SQLScope(alias: outermost, source: .table(root), from: "", root: scope),
                as: SQLScope.hiddenName(RangeVariable.outermost), names: [], presence: "1")
        }
        let builder = StatementBuilder(compiler: compiler, scope: scope, conditions: conditions)
        // Transformations apply to the related rows of each parent separately.
        let number = Operand(
            sql: "\"parents\".\"p\"", type: .primitive(.int64), codec: .integer, isNullable: false)
        if !expand.query.apply.isEmpty {
            builder.partition = [number]
            builder.allPartitions = "SELECT \"p\" AS \"$p.0\" FROM \"parents\""
            builder.mayHaveLostPartitions = true
        }
        var query = expand.query
        // A reference needs only the id of the entity.
        if expand.form == .references { query.projection = .some(ordinals: [], names: []) }
        compiled = try builder.build(query)
        parent = builder.partition.first?.sql ?? number.sql
        // A next link would not know the row of `$it`. If next links are impossible, no rows are omitted.
        let isPaged =
            expand.navigation.isCollection && compiled.canResume && !expand.refersToOutermost
            && ExpandPaging.canLink(expand, of: table, mapping)
        let size = isPaged ? pageSize.flatMap { size in expand.query.top.map { $0 <= size } == true ? nil : size } : nil
        self.pageSize = size
        top = size.map { $0 == .max ? $0 : $0 + 1 } ?? expand.query.top
        skip = expand.query.skip ?? 0
        wantedTop = expand.query.top
    }

    /// Returns the statement, without the table of parents, that finds a parent whose relation is missing.
    private static func violation(
        _ expand: BoundExpand, _ storage: NavigationStorage, of table: TableStorage, compiler: ExpressionCompiler
    ) throws -> (select: SQLFragment, error: ODataError)? {
        let rows = SQLScope(
            alias: "rows", source: .table(table), from: "\(name: table.table) AS \(name: "rows")")
        guard
            let (unknown, error) = try compiler.unknownRelation(expand.navigation, expand.path, of: table, scope: rows)
        else {
            return nil
        }
        let columns: [SQLFragment]
        switch storage {
        case .join(_, let pairs): columns = pairs.map { .related(rows.sql($0.source), $0.comparison) }
        case .link: columns = [rows.sql(try compiler.requireRowID(table, expand.navigation))]
        }
        var conditions = columns.enumerated().map { index, column -> SQLFragment in
            "\(column) = \(column: "k\(index)", of: "parents")"
        }
        if case .join(let target, let pairs) = storage, !expand.navigation.isCollection,
            let related = compiler.mapping.tables[target]
        {
            // This condition is checked before the search for rows with the same values, of which there may be
            // many.
            let same = pairs.enumerated().map { index, pair -> SQLFragment in
                .areEqual(
                    "\(column: pair.target, of: "found")", "\(column: "k\(index)", of: "parents")",
                    comparison: pair.comparison)
            }
            conditions.append(
                """
                NOT EXISTS (SELECT 1 FROM \(name: related.table) AS "found" WHERE \(SQLFragment.conjunction(same)))
                """)
        }
        conditions.append(unknown)
        if let visible = try compiler.visibility(of: table, alias: "rows") { conditions.append(visible) }
        return (
            "SELECT 1 FROM \"parents\" CROSS JOIN \(rows.fromClause)\(ExpressionCompiler.whereClause(conditions)) LIMIT 1",
            error
        )
    }

    /// Returns the requirements for the related rows of parents with the given join values.
    func requirements(_ parents: [[DatabaseValue]]) -> [LoadingRequirement] {
        guard let violation else { return compiled.requirements }
        let select: SQLFragment = "WITH \(parentsTable(parents)) \(violation.select)"
        return compiled.requirements + [LoadingRequirement(violation: select) { [error = violation.error] _ in error }]
    }

    /// Returns the statement for parents with the given join values.
    func statement(_ parents: [[DatabaseValue]]) -> SQLFragment {
        let columns = compiled.columns.enumerated().map { "\($1) AS \(name: "c\($0)")" as SQLFragment }
        let rest = ExpressionCompiler.whereClause(compiled.conditions)
        guard top != nil || skip > 0 else {
            let order = [parent] + compiled.order.map(\.fragment)
            return """
                \(table(parents)) SELECT \(list: columns), \(parent) FROM \(compiled.from)\(rest) \
                ORDER BY \(list: order)
                """
        }
        let window: SQLFragment =
            compiled.order.isEmpty ? "" : " ORDER BY \(list: compiled.order.map(\.fragment))"
        let last = top.map { $0.addingReportingOverflow(skip) }.map { $0.overflow ? Int.max : $0.partialValue }
        return """
            \(table(parents)) SELECT * FROM (SELECT \(list: columns), \(parent) AS "p", ROW_NUMBER() OVER \
            (PARTITION BY \(parent)\(window)) AS "n" FROM \(compiled.from)\(rest)) \
            WHERE "n" > \(bind: skip.databaseValue) AND "n" <= \(bind: (last ?? .max).databaseValue) ORDER BY "p", "n"
            """
    }

    /// Returns the statement that counts the related rows of each parent; its columns are the number of the parent
    /// and the number of rows.
    func countStatement(_ parents: [[DatabaseValue]]) -> SQLFragment {
        let rest = ExpressionCompiler.whereClause(compiled.conditions)
        return """
            \(table(parents)) SELECT \(parent), COUNT(*) FROM \(compiled.from)\(rest) GROUP BY \(parent)
            """
    }

    /// Returns the query of one parent's related rows, which can be read in parts.
    func ofOne(_ parent: [DatabaseValue]) -> CompiledQuery {
        var query = compiled
        query.common = [parentsTable([parent])] + compiled.common
        query.top = wantedTop
        query.skip = skip > 0 ? skip : nil
        return query
    }

    /// The column of the result with the number of the parent.
    var parentColumn: Int { compiled.columns.count }

    private func table(_ parents: [[DatabaseValue]]) -> SQLFragment {
        "WITH RECURSIVE \(list: [parentsTable(parents)] + compiled.common)"
    }

    private func parentsTable(_ parents: [[DatabaseValue]]) -> SQLFragment {
        let names = (0..<columnCount).map { "\(name: "k\($0)")" as SQLFragment }
        var rows = parents.enumerated().map { index, values -> SQLFragment in
            "(\(bind: index.databaseValue), \(list: values.map { "\(bind: $0)" }))"
        }
        // Rows of NULLs, which have no related rows, round the number of parents up, so that there are few
        // different statements.
        var count = 1
        while count < rows.count { count *= 2 }
        let nobody: [SQLFragment] = Array(repeating: "\(bind: .null)", count: columnCount)
        while rows.count < min(count, Self.maxParents) {
            rows.append("(\(bind: (-1).databaseValue), \(list: nobody))")
        }
        return "\"parents\"(\"p\", \(list: names)) AS (VALUES \(list: rows))"
    }
}
