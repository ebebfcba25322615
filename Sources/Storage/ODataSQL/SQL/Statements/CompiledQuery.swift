import GRDB
import ODataModel
import ODataQuery

/// A query compiled to SQL, ready to be run page by page.
public struct CompiledQuery: Sendable {
    /// What the columns are.
    public internal(set) var plan: ResultPlan
    /// `$top`.
    public internal(set) var top: Int?
    /// `$skip`.
    public internal(set) var skip: Int?
    /// Whether rows can be told apart, so that reading can resume behind one of them.
    public internal(set) var canResume: Bool

    /// Whether there is one row at most, as after `aggregate`.
    public internal(set) var isSingleRow: Bool
    /// What is expanded: `$expand`, and the `expand` transformations of `$apply`.
    public internal(set) var expand: [BoundExpand]

    /// Whether the statement depends on the time.
    var usesNow: Bool
    /// Whether there is a search, which a full-text index would serve.
    var usesSearch: Bool
    /// What the store must hold, to be checked before the statement is run.
    var requirements: [LoadingRequirement]
    /// The digest that tokens have where the statement does not tell it: that of the query whose kept result this reads,
    /// or of the same query without what is hidden just now.
    var origin: String?
    /// The common tables that the statement starts with.
    var common: [SQLFragment]
    var columns: [SQLFragment]
    var from: SQLFragment
    var conditions: [SQLFragment]
    var order: [SortTerm]

    /// One sort term; the last ones are the key.
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

    /// The statement that counts all rows, whatever `$top` and `$skip` say.
    var countStatement: SQLFragment {
        "\(withClause)SELECT COUNT(*) FROM \(from)\(ExpressionCompiler.whereClause(conditions))"
    }

    /// The statement for the first rows.
    func firstPage(limit: Int?, offset: Int?) -> SQLFragment {
        let base = statement(where: [])
        let limit = (limit ?? -1).databaseValue
        return "\(base) LIMIT \(bind: limit) OFFSET \(bind: (offset ?? 0).databaseValue)"
    }

    /// The statements for the rows behind one with these sort values, to be run one after the other until the
    /// page is full.
    ///
    /// Each is a branch that an index on the sort terms serves: rows that are equal in the first n terms and
    /// behind in the next come before those equal in fewer.
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

    /// The conditions for what stands behind a value in a term's order, one after the other.
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

    /// WITH and the common tables; empty without any.
    var withClause: SQLFragment {
        // Hierarchies are recursive; the word does no harm where nothing is.
        common.isEmpty ? "" : "WITH RECURSIVE \(list: common) "
    }

    /// Which literals of the request are values of the statement.
    var boundLiterals: Set<Int> {
        let fragments = common + columns + [from] + conditions + order.map(\.sql)
        return Set(fragments.flatMap { $0.origins.map(\.literal) })
    }

    /// The statement of another query of the same shape; `nil` where its literals ask for other SQL.
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

    /// A digest of the statement and its values: a paging token is good for this query only.
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

/// FNV-1a of 64 bits: tells queries apart, not adversaries.
package struct QueryHash {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    package mutating func add(_ text: String) {
        for byte in text.utf8 { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
        // A byte that no UTF-8 has keeps neighbours apart.
        state = (state ^ 0xFF) &* 0x100_0000_01B3
    }

    package var text: String { String(state, radix: 36) }
}
