import GRDB
import ODataModel
import ODataQuery
import ODataService

/// An explanation of a query: its interpretation, the SQL statements, and the query plan of SQLite.
///
/// ```swift
/// let explanation = try await store.indexes.explain(try ODataURL(parsing: "Orders?$filter=Freight gt 100"))
/// print(explanation)  // the query, its SQL, and the plan of SQLite
/// ```
public struct QueryExplanation: Sendable, CustomStringConvertible {
    /// An SQL statement.
    public struct Statement: Sendable {
        /// The purpose: `rows`, or the path of an expanded property.
        public var purpose: String
        /// The SQL text, with `?` for every value.
        public var sql: String
        /// The values of the question marks in order, as SQL literals.
        public var arguments: [String]
        /// The result of `EXPLAIN QUERY PLAN`, with one line for each step, indented by its depth.
        public var plan: [String]
    }

    /// The query with resolved names and explicit conversions, with one line for each clause.
    public var tree: [String]
    /// The statements: the statement of the rows, followed by one for each level of `$expand`.
    public var statements: [Statement]

    /// The query, the SQL and the plan as text for a terminal.
    public var description: String {
        var lines = ["TREE"] + tree.map { "  \($0)" }
        for statement in statements {
            lines += ["", "SQL (\(statement.purpose))", "  \(statement.sql)"]
            if !statement.arguments.isEmpty { lines.append("  VALUES \(statement.arguments.joined(separator: ", "))") }
            lines += ["PLAN"] + statement.plan.map { "  \($0)" }
        }
        return lines.joined(separator: "\n")
    }
}

extension StoreReader {
    /// Explains the processing of a request without reading rows.
    ///
    /// - Parameters:
    ///   - url: the resolved URL of the request.
    ///   - reader: the database.
    /// - Throws: The same ``ODataError`` as reading, and 400 for a resource that does not consist of rows.
    public func explain(_ url: BoundURL, in reader: any DatabaseReader) async throws -> QueryExplanation {
        var query: BoundQuery
        switch url.resource.target {
        case .entities(let shape, let set), .entity(let shape, let set), .count(let shape, let set),
            .references(_, let shape, let set, _):
            query = url.query ?? Self.query(shape, set)
        default:
            throw ODataError(
                status: 400, code: "InvalidQuery", message: "Only a resource that is made of rows can be explained.")
        }
        query.skipToken = nil
        let wanted = query
        return try await reading(reader, nil) { database in
            let (compiled, options) = try prepare(wanted, url.resource.steps, now: configuration.now(), in: database)
            var isCount = false
            if case .count = url.resource.target { isCount = true }
            let fragment =
                isCount
                ? compiled.countStatement
                : compiled.firstPage(limit: wanted.top ?? configuration.maxPageSize, offset: wanted.skip)
            var statements = [try Self.statement("rows", fragment, in: database)]
            try expanded(compiled, options, path: "", root: nil, statements: &statements, in: database)
            return QueryExplanation(tree: QueryOutline(wanted, url.resource.steps).lines, statements: statements)
        }
    }

    private func expanded(
        _ compiled: CompiledQuery, _ options: SQLCompiler.Options, path: String, root: TableStorage?,
        statements: inout [QueryExplanation.Statement], in database: Database
    ) throws {
        guard let set = compiled.plan.set, let table = mapping.tables[set] else { return }
        for (item, sources) in zip(compiled.expand, compiled.plan.expandSources) {
            let statement = try ExpandStatement(
                item, of: table, root: root ?? table, mapping: mapping, options: options,
                pageSize: configuration.maxExpandedRows)
            let name = "\(path)\(item.navigation.name)"
            let parent = [DatabaseValue](repeating: .null, count: sources.count)
            let fragment = item.form == .count ? statement.countStatement([parent]) : statement.statement([parent])
            statements.append(try Self.statement(name, fragment, in: database))
            try expanded(
                statement.compiled, options, path: "\(name)/", root: root ?? table, statements: &statements,
                in: database)
        }
    }

    /// Returns a value as an SQL literal for display.
    private static func literal(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "NULL"
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .string(let text): text.sqlLiteral
        case .blob(let data): "X'\(data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())'"
        }
    }

    static func statement(
        _ purpose: String, _ fragment: SQLFragment, in database: Database
    ) throws -> QueryExplanation.Statement {
        let rows = try Row.fetchAll(
            database, sql: "EXPLAIN QUERY PLAN \(fragment.sql)", arguments: StatementArguments(fragment.arguments))
        var depths: [Int: Int] = [:]
        let plan = rows.map { row -> String in
            let (id, parent): (Int, Int) = (row["id"], row["parent"])
            let depth = (depths[parent] ?? -1) + 1
            depths[id] = depth
            return String(repeating: "  ", count: depth) + (row["detail"] as String)
        }
        return QueryExplanation.Statement(
            purpose: purpose, sql: fragment.sql, arguments: fragment.arguments.map(literal), plan: plan)
    }
}

extension StoreProvider {
    /// Explains the processing of a read request.
    ///
    /// ```swift
    /// print(try await provider.explain(ODataURL(parsing: "Orders?$filter=Freight gt 50")))
    /// ```
    ///
    /// - Throws: ``ODataError``.
    public func explain(_ url: ODataURL) async throws -> QueryExplanation {
        do {
            return try await reader.explain(try bind(ODataRequest(.read, url)), in: database)
        } catch {
            throw ODataError(translating: error)
        }
    }
}
