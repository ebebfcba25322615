import GRDB
import ODataModel
import ODataQuery

/// A query compiled to SQL, which can be run page by page.
public struct CompiledQuery: Sendable {
    /// The meaning of the columns.
    public internal(set) var plan: ResultPlan
    /// The value of `$top`.
    public internal(set) var top: Int?
    /// The value of `$skip`.
    public internal(set) var skip: Int?
    /// Whether rows have a unique key, so that reading can resume after any row.
    public internal(set) var canResume: Bool

    /// Whether there is at most one row, as after `aggregate`.
    public internal(set) var isSingleRow: Bool
    /// The expanded properties of `$expand` and of `expand` transformations in `$apply`.
    public internal(set) var expand: [BoundExpand]

    /// Whether the statement depends on the current time.
    var usesNow: Bool
    /// Whether there is a search that can use a full-text index.
    var usesSearch: Bool
    /// The data that the store must contain, which is checked before the statement is run.
    var requirements: [LoadingRequirement]
    /// The digest for tokens, if the statement does not determine it.
    ///
    /// It is the digest of the original query of a snapshot, or of the same query without currently hidden rows.
    var origin: String?
    /// The common table expressions of the statement.
    var common: [SQLFragment]
    var columns: [SQLFragment]
    var from: SQLFragment
    var conditions: [SQLFragment]
    var order: [SortTerm]

    /// A term of ORDER BY; the last terms are the key.
    package struct SortTerm: Sendable {
        var sql: SQLFragment
        var isNullable: Bool
        var isDescending: Bool
    }

    /// The statement for all rows, without `$top` and `$skip`.
    public var sql: String { sqlFragment.sql }

    /// The values bound in ``sql``, in order.
    public var arguments: StatementArguments { StatementArguments(sqlFragment.arguments) }

    var sqlFragment: SQLFragment { statement(where: []) }

    /// The statement that counts all rows, regardless of `$top` and `$skip`.
    var countStatement: SQLFragment {
        "\(withClause)SELECT COUNT(*) FROM \(from)\(ExpressionCompiler.whereClause(conditions))"
    }

    /// Returns the statement for the first rows.
    func firstPage(limit: Int?, offset: Int?) -> SQLFragment {
        let base = statement(where: [])
        let limit = (limit ?? -1).databaseValue
        return "\(base) LIMIT \(bind: limit) OFFSET \(bind: (offset ?? 0).databaseValue)"
    }

    /// Returns the statements for the rows after a row with the given sort values. They are run one after the other
    /// until the page is full.
    ///
    /// Each statement can use an index on the sort terms. Rows that share the first n terms with the given row and
    /// follow it in the next term precede rows that share fewer terms.
    func pages(after values: [DatabaseValue]) -> [SQLFragment] {
        var branches: [SQLFragment] = []
        for position in order.indices.reversed() {
            var equal: [SQLFragment] = []
            for (term, value) in zip(order.prefix(position), values) {
                equal.append(value.isNull ? "\(term.sql) IS NULL" : "\(term.sql) = \(bind: value)")
            }
            for behind in Self.behind(order[position], values[position]) {
                branches.append(statement(where: equal + [behind]))
            }
        }
        return branches
    }

    /// Returns the conditions for the values after a value in the order of a term, which apply one after the other.
    private static func behind(_ term: SortTerm, _ value: DatabaseValue) -> [SQLFragment] {
        switch (value.isNull, term.isDescending) {
        case (true, false): return ["\(term.sql) IS NOT NULL"]
        case (true, true): return []
        case (false, false): return ["\(term.sql) > \(bind: value)"]
        case (false, true):
            let less: SQLFragment = "\(term.sql) < \(bind: value)"
            return term.isNullable ? [less, "\(term.sql) IS NULL"] : [less]
        }
    }

    private func statement(where more: [SQLFragment]) -> SQLFragment {
        var sql: SQLFragment =
            "\(withClause)SELECT \(list: columns) FROM \(from)\(ExpressionCompiler.whereClause(conditions + more))"
        if !order.isEmpty { sql += " ORDER BY \(list: order.map(\.fragment))" }
        return sql
    }

    /// WITH and the common table expressions; empty if there are none.
    var withClause: SQLFragment {
        // Hierarchies are recursive, and RECURSIVE has no effect on other tables.
        common.isEmpty ? "" : "WITH RECURSIVE \(list: common) "
    }

    /// The literals of the request that are bound in the statement.
    var boundLiterals: Set<Int> {
        let fragments = common + columns + [from] + conditions + order.map(\.sql)
        return Set(fragments.flatMap { $0.origins.map(\.literal) })
    }

    /// Returns the statement of another query with the same shape; `nil` if its literals require different SQL.
    ///
    /// - Parameters:
    ///   - query: the other query, resolved.
    ///   - literals: its literals.
    func adapted(to query: BoundQuery, _ literals: [ODataValue], _ model: EntityDataModel) -> CompiledQuery? {
        func adapt(_ fragments: [SQLFragment]) -> [SQLFragment]? {
            let adapted = fragments.compactMap { $0.with(literals, model) }
            return adapted.count == fragments.count ? adapted : nil
        }
        guard let common = adapt(common), let columns = adapt(columns), let from = from.with(literals, model),
            let conditions = adapt(conditions), let sorting = adapt(order.map(\.sql))
        else { return nil }
        var result = self
        (result.common, result.columns, result.from, result.conditions) = (common, columns, from, conditions)
        for (index, sql) in sorting.enumerated() { result.order[index].sql = sql }
        (result.top, result.skip) = (query.top, query.skip)
        if !expand.isEmpty { result.expand = query.expand }
        return result
    }

    /// A digest of the statement and its values, so that a paging token is valid for this query only.
    var digest: String {
        if let origin { return origin }
        let whole = statement(where: [])
        var hash = QueryHash()
        hash.add(whole.sql)
        for argument in whole.arguments { hash.add("\(argument)") }
        hash.add("\(skip ?? 0)")
        return hash.text
    }
}

/// A 64-bit FNV-1a hash. It distinguishes queries, but is not secure against attackers.
package struct QueryHash {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    package mutating func add(_ text: String) {
        for byte in text.utf8 { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
        // The separator is a byte that does not occur in UTF-8.
        state = (state ^ 0xFF) &* 0x100_0000_01B3
    }

    package var text: String { String(state, radix: 36) }
}
