import GRDB
import ODataModel
import ODataQuery
import ODataService

/// The indexes that somebody asks for on the properties of a database's entities, besides those that its keys and
/// relations bring along.
///
/// ```swift
/// let indexes = PropertyIndexes(mapping: store.mapping)
/// try await store.write { try indexes.create(on: "Orders", paths: ["ShipCountry", "Freight desc"], in: $0) }
/// try await store.write { try indexes.createSearch(on: "Products", in: $0) }
/// ```
public struct PropertyIndexes: Sendable {
    /// One index.
    public struct Index: Hashable, Sendable {
        /// The name in the database.
        public var name: String
        /// The entity set.
        public var set: String
        /// The paths of the properties, such as `Address/City`, those in descending order with ` desc`; none for the
        /// full-text index.
        public var paths: [String]
        /// Whether it serves `$search`.
        public var isSearch: Bool
    }

    /// Where the data lies.
    public let mapping: StorageMapping
    /// The form by which queries compare texts; `nil` where that is by their code points.
    public let textForm: ScalarFunction?

    /// The indexes of a mapping's tables.
    ///
    /// - Parameter textForm: the form by which queries compare texts (`TextForms`), which indexes on texts then hold: every
    ///   connection must have the function registered (``StoreFunctions/register(_:in:)``), whatever it is made for.
    public init(mapping: StorageMapping, textForm: ScalarFunction? = nil) {
        self.mapping = mapping
        self.textForm = textForm
    }

    /// Makes an index for filters and orders by properties; the most significant one first.
    ///
    /// - Parameters:
    ///   - set: the entity set.
    ///   - paths: paths of properties, such as `Address/City`, with ` desc` for a descending order.
    ///   - database: a connection in a transaction.
    /// - Returns: the index; the one that there is already when it was made before.
    /// - Throws: ``ODataError`` 404 for an unknown set, 400 for a path that leads to no single column.
    @discardableResult
    public func create(on set: String, paths: [String], in database: Database) throws -> Index {
        let table = try table(set)
        guard !paths.isEmpty else {
            throw ODataError(status: 400, code: "InvalidIndex", message: "An index needs a property.", target: set)
        }
        let terms = try paths.map { try Self.term($0, table) }
        let written = terms.map { $0.isDescending ? "\($0.path) desc" : $0.path }
        let index = Index(name: Self.name(table, written), set: set, paths: written, isSearch: false)
        let columns = terms.map { term in
            // As filters and orders name it: instants count without their offsets, texts in their form.
            let name = term.column.name.sqlIdentifier
            let column =
                switch (term.column.codec, textForm) {
                case (.dateTimeOffset, _): "substr(\(name), 1, 16)"
                case (.string, let form?): "\(AppFunctions.sqlName(form.name).sqlIdentifier)(\(name))"
                default: "\(name) COLLATE BINARY"
                }
            return "\(column)\(term.isDescending ? " DESC" : "")"
        }
        try database.execute(
            sql: """
                CREATE INDEX IF NOT EXISTS \(index.name.sqlIdentifier) ON \(table.table.sqlIdentifier) \
                (\(columns.joined(separator: ", ")))
                """)
        return index
    }

    /// Makes the full-text index of a set, which `$search` uses from then on; one of an earlier version is made anew.
    ///
    /// - Throws: ``ODataError`` 404 for an unknown set, 400 for one without text or whose rows have no number.
    @discardableResult
    public func createSearch(on set: String, in database: Database) throws -> Index {
        let table = try table(set)
        guard let rowID = table.rowID, !table.searchColumns.isEmpty else {
            throw ODataError(
                status: 400, code: "InvalidIndex", message: "\(set) has no text that could be indexed.", target: set)
        }
        if try !SearchIndex.names(in: database).contains(SearchIndex.name(of: table)) {
            try SearchIndex.drop(table, in: database)
            try SearchIndex.create(table, rowID: rowID, in: database)
        }
        return Index(name: SearchIndex.name(of: table), set: set, paths: [], isSearch: true)
    }

    /// The sets whose full-text index is one of an earlier version, which is not used until it is made anew.
    public func outdatedSearches(in database: Database) throws -> [String] {
        let names = try SearchIndex.names(areCurrent: false, in: database)
        if names.isEmpty { return [] }
        return mapping.tables.values.filter { names.contains(SearchIndex.name(of: $0)) }.map(\.set).sorted()
    }

    /// Takes an index out again; nothing happens when it is not there.
    ///
    /// - Throws: ``ODataError`` 404 for an unknown set.
    public func drop(_ index: Index, in database: Database) throws {
        let table = try table(index.set)
        guard !index.isSearch else { return try SearchIndex.drop(table, in: database) }
        // Only what was made here goes: the indexes of keys and relations stay.
        guard index.name.hasPrefix(Self.prefix) else { throw ODataError.notFound(index.name) }
        try database.execute(sql: "DROP INDEX IF EXISTS \(index.name.sqlIdentifier)")
    }

    /// The indexes that were asked for, by set and name.
    public func list(in database: Database) throws -> [Index] {
        var result: [Index] = []
        for table in mapping.tables.values.sorted(by: { $0.set < $1.set }) {
            let names = try String.fetchAll(
                database,
                sql: """
                    SELECT name FROM main.sqlite_master WHERE type = 'index' AND tbl_name = ? AND name LIKE ? \
                    ORDER BY name
                    """, arguments: [table.table, "\(Self.prefix)%"])
            for name in names {
                guard let paths = Self.paths(name, table) else { continue }
                result.append(Index(name: name, set: table.set, paths: paths, isSearch: false))
            }
            if try SearchIndex.exists(table, in: database) {
                result.append(Index(name: SearchIndex.name(of: table), set: table.set, paths: [], isSearch: true))
            }
        }
        return result
    }

    // MARK: Names

    private static let prefix = "property$"

    private static func name(_ table: TableStorage, _ paths: [String]) -> String {
        "\(prefix)\(table.table)$\(paths.joined(separator: ","))"
    }

    private static func paths(_ name: String, _ table: TableStorage) -> [String]? {
        let start = "\(prefix)\(table.table)$"
        guard name.hasPrefix(start) else { return nil }
        return name.dropFirst(start.count).split(separator: ",").map(String.init)
    }

    private func table(_ set: String) throws -> TableStorage {
        guard let table = mapping.tables[set] else { throw ODataError.notFound(set) }
        return table
    }

    private static func term(
        _ text: String, _ table: TableStorage
    ) throws -> (path: String, column: ColumnStorage, isDescending: Bool) {
        let parts = text.split(separator: " ")
        let isDescending = parts.count == 2 && parts[1] == "desc"
        let path = parts.first.map(String.init) ?? ""
        guard parts.count == 1 || isDescending || (parts.count == 2 && parts[1] == "asc"),
            let column = table.column(at: path), column.codec != .json
        else {
            throw ODataError(
                status: 400, code: "InvalidIndex",
                message: "\(table.set) has no property \(text) with a single value that could be indexed.",
                target: text)
        }
        return (path, column, isDescending)
    }
}
