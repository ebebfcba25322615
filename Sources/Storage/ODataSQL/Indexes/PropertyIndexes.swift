import GRDB
import ODataModel
import ODataQuery
import ODataService

/// The requested indexes on properties of entities, in addition to the indexes of keys and relations.
///
/// ```swift
/// let indexes = PropertyIndexes(mapping: store.mapping)
/// try await store.write { try indexes.create(on: "Orders", paths: ["ShipCountry", "Freight desc"], in: $0) }
/// try await store.write { try indexes.createSearch(on: "Products", in: $0) }
/// ```
public struct PropertyIndexes: Sendable {
    /// An index.
    public struct Index: Hashable, Sendable {
        /// The name in the database.
        public var name: String
        /// The entity set.
        public var set: String
        /// The paths of the properties, such as `Address/City`, with the suffix ` desc` for descending order; empty
        /// for the full-text index.
        public var paths: [String]
        /// Whether the index is the full-text index for `$search`.
        public var isSearch: Bool
    }

    /// The tables and columns of the data.
    public let mapping: StorageMapping
    /// The function that normalizes texts before queries compare them; `nil` if texts are compared by code points.
    public let textForm: ScalarFunction?

    /// Creates an interface to the indexes of a mapping's tables.
    ///
    /// - Parameter textForm: the function that normalizes texts before queries compare them (`TextForms`). Indexes
    ///   on texts contain its results, so that every connection must register the function
    ///   (``StoreFunctions/register(_:in:)``).
    public init(mapping: StorageMapping, textForm: ScalarFunction? = nil) {
        self.mapping = mapping
        self.textForm = textForm
    }

    /// Creates an index for filters and orders by properties; the most significant property is first.
    ///
    /// - Parameters:
    ///   - set: the entity set.
    ///   - paths: the paths of the properties, such as `Address/City`, with the suffix ` desc` for descending
    ///     order.
    ///   - database: a connection in a transaction.
    /// - Returns: The index, which may exist already.
    /// - Throws: ``ODataError`` 404 for an unknown set, 400 for a path that does not refer to a single column.
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
            // The index uses the same expressions as filters and orders: instants without offsets, and normalized
            // texts.
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

    /// Creates the full-text index of a set, which `$search` then uses. An index of an earlier version is rebuilt.
    ///
    /// - Throws: ``ODataError`` 404 for an unknown set, 400 for a set without text or without row ids.
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

    /// Returns the sets with a full-text index of an earlier version, which is not used until it is rebuilt.
    public func outdatedSearches(in database: Database) throws -> [String] {
        let names = try SearchIndex.names(areCurrent: false, in: database)
        if names.isEmpty { return [] }
        return mapping.tables.values.filter { names.contains(SearchIndex.name(of: $0)) }.map(\.set).sorted()
    }

    /// Removes an index; a missing index is ignored.
    ///
    /// - Throws: ``ODataError`` 404 for an unknown set.
    public func drop(_ index: Index, in database: Database) throws {
        let table = try table(index.set)
        guard !index.isSearch else { return try SearchIndex.drop(table, in: database) }
        // Only indexes of this type are removed; indexes of keys and relations remain.
        guard index.name.hasPrefix(Self.prefix) else { throw ODataError.notFound(index.name) }
        try database.execute(sql: "DROP INDEX IF EXISTS \(index.name.sqlIdentifier)")
    }

    /// Returns the requested indexes, ordered by set and name.
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
