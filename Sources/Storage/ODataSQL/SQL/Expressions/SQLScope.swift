import GRDB
import ODataModel
import ODataService

/// The SQL of a range variable: a row of a table, a row of a derived table, or a member of a JSON array.
///
/// Paths through single-valued navigation properties add left joins to the scope in which they start. Repeated
/// paths share a join.
package final class SQLScope {
    /// The kinds of rows.
    package enum Source {
        /// Rows of an entity set's table, or of a derived table with the same columns.
        case table(TableStorage)
        /// Rows of `aggregate` or `groupby`, whose values are in ``computed`` by path.
        case derived
        /// Members of a JSON array, which are primitive values or objects.
        case json(SQLFragment, TypeReference)
    }

    /// Rows that `join` has named.
    struct Attachment {
        var name: String
        var scope: SQLScope
        var names: [String]
        var presence: SQLFragment
        /// Whether the row is part of the response without `$expand`; otherwise, the response contains only a link.
        var isInline: Bool
    }

    /// The qualifier of column names.
    let alias: String
    /// The prefix of column names, if a derived table contains the columns of several tables.
    let prefix: String
    /// The table of entity rows; `nil` for other sources.
    let table: TableStorage?
    /// The JSON array with the rows as members; `nil` for other sources.
    private let array: (members: SQLFragment, type: TypeReference)?
    /// The text before the name of a column.
    private let qualifier: String
    /// The SQL after FROM and before the joins.
    package var from: SQLFragment
    /// The values of `$compute`, `aggregate` and `groupby`, by name or path.
    var computed: [String: Operand] = [:]
    /// The conditions for values that some rows lack (`isdefined`).
    var defined: [String: SQLFragment] = [:]
    /// The left joins so far, in order.
    private(set) var joins: [SQLFragment] = []
    /// The joined rows of single-valued navigation properties.
    private var joined: [String: SQLScope] = [:]
    /// The rows that `join` and `outerjoin` have named, in order; they are in the same FROM.
    private(set) var attachments: [Attachment] = []

    /// The scope whose FROM contains this scope's joins, because all joins of a SELECT are in one place.
    private let root: SQLScope?
    /// Whether a left join may have found no row, so that every column may be NULL.
    private let isOptional: Bool

    package init(
        alias: String, source: Source, from: SQLFragment, root: SQLScope? = nil, prefix: String = "",
        isOptional: Bool? = nil
    ) {
        self.isOptional = isOptional ?? (root != nil)
        self.alias = alias
        self.prefix = prefix
        self.root = root
        self.from = from
        if case .table(let table) = source { self.table = table } else { table = nil }
        if case .json(let members, let type) = source { array = (members, type) } else { array = nil }
        qualifier = alias.sqlIdentifier + ".\""
    }

    /// The kind of rows.
    var source: Source {
        if let table { return .table(table) }
        if let array { return .json(array.members, array.type) }
        return .derived
    }

    /// The scope in FROM.
    var owner: SQLScope { root ?? self }

    /// FROM with all joins.
    package var fromClause: SQLFragment {
        joins.isEmpty ? from : "\(from) \(list: joins, by: " ")"
    }

    /// Returns the scope of rows that `join` has named.
    func attachment(_ name: String) -> SQLScope? { attachments.first { $0.name == name }?.scope }

    /// Names rows in the same FROM.
    ///
    /// - Parameters:
    ///   - names: the computed and aggregated values of the rows.
    ///   - presence: an expression that is NULL if there is no such row.
    ///   - isInline: whether the row is part of the response without `$expand`.
    func attach(
        _ scope: SQLScope, as name: String, names: [String], presence: SQLFragment, isInline: Bool = true
    ) {
        attachments.append(
            Attachment(name: name, scope: scope, names: names, presence: presence, isInline: isInline))
    }

    /// Adds rows that were named in another scope.
    func attach(_ attachment: Attachment) { attachments.append(attachment) }

    /// Removes a name.
    func detach(_ name: String) { attachments.removeAll { $0.name == name } }

    /// Returns a name that no property has, for rows that are carried along but not part of the response.
    static func hiddenName(_ name: String) -> String { "$\(name)" }

    /// Returns the name under which the rows of a range variable are carried along.
    static func hiddenName(_ variable: Int) -> String { hiddenName("\(variable)") }

    /// The named rows that are part of the response.
    var shownAttachments: [Attachment] { attachments.filter { !$0.name.hasPrefix("$") } }

    /// Returns the scope of a single-valued navigation property, and joins it if necessary.
    func join(_ key: String, _ make: () throws -> (SQLScope, SQLFragment)) rethrows -> SQLScope {
        if let scope = joined[key] { return scope }
        let (scope, join) = try make()
        joined[key] = scope
        owner.joins.append(join)
        return scope
    }

    /// Returns a column of the scope's table by name.
    package func sql(_ column: String) -> SQLFragment {
        SQLFragment(column: prefix.isEmpty ? column : prefix + column, behind: qualifier)
    }

    /// Returns a column of the scope's table.
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

    /// Returns the column of a property of the table's own type if no other value has its name.
    func plainColumn(_ ordinal: Int, of shape: TypeShape) -> ColumnStorage? {
        guard let table, computed.isEmpty, table.shape === shape else { return nil }
        let storages = table.properties
        guard ordinal < storages.count, case .column(let storage) = storages[ordinal] else { return nil }
        return storage
    }

    /// Returns whether a column of the scope's table may contain NULL.
    ///
    /// NULL is possible if the property is nullable, a left join may have found no row, or the column may not be
    /// loaded.
    func holdsNull(_ storage: ColumnStorage, isNullable: Bool) -> Bool {
        isNullable || isOptional || storage.isOptionallyLoaded
    }
}
