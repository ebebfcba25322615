import GRDB
import ODataModel
import ODataService

/// What a range variable stands for in SQL: a row of a table, of a derived table, or a member of JSON.
///
/// Paths through single-valued navigation add left joins to the scope they start in; a path taken twice is
/// joined once.
final class SQLScope {
    /// What the rows are.
    enum Source {
        /// Rows of an entity set's table, or of a derived table with the same columns.
        case table(TableStorage)
        /// Rows of an `aggregate` or `groupby`; all values are in ``computed``, by path.
        case derived
        /// Members of a JSON array: the value of a primitive, the object of a complex one.
        case json(SQLFragment, TypeReference)
    }

    /// The name that columns are qualified with.
    let alias: String
    /// What the rows are.
    let source: Source
    /// What stands after FROM, before the joins.
    let from: SQLFragment
    /// Values by name or path: those of `$compute`, `aggregate` and `groupby`.
    var computed: [String: Operand] = [:]
    /// The left joins so far, in order.
    private(set) var joins: [SQLFragment] = []
    private var joined: [String: SQLScope] = [:]

    /// The scope whose FROM holds this one's joins: all joins of one SELECT stand in one place.
    private let root: SQLScope?

    init(alias: String, source: Source, from: SQLFragment, root: SQLScope? = nil) {
        self.alias = alias
        self.root = root
        self.source = source
        self.from = from
    }

    /// The scope that stands in FROM.
    var owner: SQLScope { root ?? self }

    /// FROM with all joins.
    var fromClause: SQLFragment {
        joins.isEmpty ? from : "\(from) \(list: joins, by: " ")"
    }

    /// The table of entity rows; `nil` for other sources.
    var table: TableStorage? {
        if case .table(let table) = source { table } else { nil }
    }

    /// The scope that a single-valued navigation from `parent` leads to, joined when it is new.
    func join(_ key: String, _ make: () throws -> (SQLScope, SQLFragment)) rethrows -> SQLScope {
        if let scope = joined[key] { return scope }
        let (scope, join) = try make()
        joined[key] = scope
        owner.joins.append(join)
        return scope
    }

    /// A column of the scope's table.
    func column(_ storage: ColumnStorage, isNullable: Bool) -> Operand {
        Operand(
            sql: "\(column: storage.name, of: alias)", type: storage.type, codec: storage.codec,
            isNullable: isNullable, place: "\(table?.table ?? "").\(storage.name)")
    }
}
