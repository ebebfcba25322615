import GRDB
import ODataModel
import ODataService

/// What a range variable stands for in SQL: a row of a table, of a derived table, or a member of JSON.
///
/// Paths through single-valued navigation add left joins to the scope they start in; a path taken twice is
/// joined once.
package final class SQLScope {
    /// What the rows are.
    package enum Source {
        /// Rows of an entity set's table, or of a derived table with the same columns.
        case table(TableStorage)
        /// Rows of an `aggregate` or `groupby`; all values are in ``computed``, by path.
        case derived
        /// Members of a JSON array: the value of a primitive, the object of a complex one.
        case json(SQLFragment, TypeReference)
    }

    /// Rows that `join` has given a name.
    struct Attachment {
        var name: String
        var scope: SQLScope
        var names: [String]
        var presence: SQLFragment
        /// Whether the row is a part of the answer without `$expand`, which then has a link to it alone.
        var isInline: Bool
    }

    /// The name that columns are qualified with.
    let alias: String
    /// What stands before the names of the table's columns: where a derived table has those of several tables.
    let prefix: String
    /// The table of entity rows; `nil` for other sources.
    let table: TableStorage?
    /// The JSON that the rows are members of; `nil` for other sources.
    private let array: (members: SQLFragment, type: TypeReference)?
    /// What stands before the name of a column.
    private let qualifier: String
    /// What stands after FROM, before the joins.
    package var from: SQLFragment
    /// Values by name or path: those of `$compute`, `aggregate` and `groupby`.
    var computed: [String: Operand] = [:]
    /// Where a value is not a part of every row: the condition that it is (`isdefined`).
    var defined: [String: SQLFragment] = [:]
    /// The left joins so far, in order.
    private(set) var joins: [SQLFragment] = []
    /// The rows that single-valued navigation leads to.
    private var joined: [String: SQLScope] = [:]
    /// The rows that `join` and `outerjoin` have named, in order; they stand in the same FROM.
    private(set) var attachments: [Attachment] = []

    /// The scope whose FROM holds this one's joins: all joins of one SELECT stand in one place.
    private let root: SQLScope?

    package init(alias: String, source: Source, from: SQLFragment, root: SQLScope? = nil, prefix: String = "") {
        self.alias = alias
        self.prefix = prefix
        self.root = root
        self.from = from
        if case .table(let table) = source { self.table = table } else { table = nil }
        if case .json(let members, let type) = source { array = (members, type) } else { array = nil }
        qualifier = alias.sqlIdentifier + ".\""
    }

    /// What the rows are.
    var source: Source {
        if let table { return .table(table) }
        if let array { return .json(array.members, array.type) }
        return .derived
    }

    /// The scope that stands in FROM.
    var owner: SQLScope { root ?? self }

    /// FROM with all joins.
    package var fromClause: SQLFragment {
        joins.isEmpty ? from : "\(from) \(list: joins, by: " ")"
    }

    /// The rows that `join` has given a name.
    func attachment(_ name: String) -> SQLScope? { attachments.first { $0.name == name }?.scope }

    /// Gives rows that stand in the same FROM a name.
    ///
    /// - Parameters:
    ///   - names: the computed and aggregated values of the rows.
    ///   - presence: what is NULL where there is no such row.
    ///   - isInline: whether the row is a part of the answer without `$expand`.
    func attach(
        _ scope: SQLScope, as name: String, names: [String], presence: SQLFragment, isInline: Bool = true
    ) {
        attachments.append(
            Attachment(name: name, scope: scope, names: names, presence: presence, isInline: isInline))
    }

    /// Gives rows a name that have had one elsewhere.
    func attach(_ attachment: Attachment) { attachments.append(attachment) }

    /// Takes a name away.
    func detach(_ name: String) { attachments.removeAll { $0.name == name } }

    /// A name that no property has, for what is carried along without being a part of the answer.
    static func hiddenName(_ name: String) -> String { "$\(name)" }

    /// The name under which the rows that a range variable stands for are carried along.
    static func hiddenName(_ variable: Int) -> String { hiddenName("\(variable)") }

    /// The rows with a name that are a part of the answer.
    var shownAttachments: [Attachment] { attachments.filter { !$0.name.hasPrefix("$") } }

    /// The scope that a single-valued navigation from `parent` leads to, joined when it is new.
    func join(_ key: String, _ make: () throws -> (SQLScope, SQLFragment)) rethrows -> SQLScope {
        if let scope = joined[key] { return scope }
        let (scope, join) = try make()
        joined[key] = scope
        owner.joins.append(join)
        return scope
    }

    /// A column of the scope's table by its name.
    package func sql(_ column: String) -> SQLFragment {
        SQLFragment(column: prefix.isEmpty ? column : prefix + column, behind: qualifier)
    }

    /// A column of the scope's table.
    func column(_ storage: ColumnStorage, isNullable: Bool) -> Operand {
        guard !storage.codec.isAnyText else {
            let column = sql(storage.name)
            return Operand(
                sql: .anyText(of: column), type: storage.type, codec: .string, isNullable: isNullable,
                anyTextColumn: column)
        }
        return Operand(
            sql: sql(storage.name), type: storage.type, codec: storage.codec,
            isNullable: isNullable, place: storage.codec.isForeign ? "\(table?.table ?? "").\(storage.name)" : "",
            comparesBytes: storage.comparesBytes)
    }

    /// A property of the table's own type that has a column, where nothing else has its name.
    func plainColumn(_ ordinal: Int, of shape: TypeShape, isNullable: Bool) -> Operand? {
        guard let table, computed.isEmpty, table.shape === shape else { return nil }
        let storages = table.properties
        guard ordinal < storages.count, case .column(let storage) = storages[ordinal] else { return nil }
        return column(storage, isNullable: holdsNull(storage, isNullable: isNullable))
    }

    /// Whether a column of the scope's table may hold NULL: where its property may be null, where a left join may have
    /// found no row, and where it need not be loaded.
    func holdsNull(_ storage: ColumnStorage, isNullable: Bool) -> Bool {
        isNullable || owner !== self || storage.isOptionallyLoaded
    }
}
