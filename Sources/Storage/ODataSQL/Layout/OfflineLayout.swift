import GRDB
import ODataModel

/// The tables of an offline store: one for each entity set, singleton and containment path.
///
/// Every OData value is stored exactly. The same model always has the same layout, so that a store keeps the model
/// but not the mapping.
///
/// ```swift
/// let layout = OfflineLayout(model: model)
/// try await store.write { try layout.create(in: $0) }
/// let writer = RowWriter(mapping: layout.mapping, hook: nil)
/// ```
///
/// Each table has columns for its properties, and these columns:
///
/// | column | content |
/// |---|---|
/// | `_id` | the internal row id, which is never reused |
/// | `_owner` | the defining query of the row; 0 for a local row that no download has returned yet |
/// | `_etag` | the ETag of the back end |
/// | `_not_loaded` | the columns that are not loaded, see ``TableStorage/notLoaded`` |
/// | `_type` | the qualified name of a derived type; only for types with derived types |
/// | `_dynamic` | the dynamic properties as a JSON object; only for open types |
/// | `_parent` | the row id of the containing entity; only for contained collections |
///
/// Rows with an owner in ``hiddenOwnerTable`` are hidden, because their first download is unfinished. Referential
/// constraints become indexes and joins, but are not enforced.
public struct OfflineLayout: Sendable {
    /// The version of the layout, in `PRAGMA user_version`.
    public static let version = 1
    /// The value of `PRAGMA application_id` in a store: `OUTP`.
    public static let applicationID = 0x4F55_5450
    /// The table of the defining queries with an unfinished first download.
    public static let hiddenOwnerTable = "outpost_hidden_owner"
    /// The name of the column with the internal row id.
    public static let rowIDColumn = "_id"
    /// The name of the column with the defining query of the row.
    public static let ownerColumn = "_owner"
    /// The name of the column with the ETag.
    public static let etagColumn = "_etag"
    /// The name of the column with the bits of columns that are not loaded.
    public static let notLoadedColumn = "_not_loaded"
    /// The name of the column with the qualified name of the derived type.
    public static let typeColumn = "_type"
    /// The name of the column with the dynamic properties.
    public static let dynamicColumn = "_dynamic"
    /// The name of the column with the row id of the containing entity.
    public static let parentColumn = "_parent"

    /// The tables and columns of the model. The set name of a contained collection is its path, such as
    /// `Orders/Items`; a singleton has a table with its own name.
    public let mapping: StorageMapping
    /// The SQL statements that create the tables, in order.
    public let statements: [String]

    /// Creates the layout of a model.
    public init(model: EntityDataModel) {
        var builder = LayoutBuilder(model: model)
        builder.build()
        mapping = StorageMapping(model: model, tables: builder.tables.map(\.storage))
        statements = builder.statements
    }

    /// Creates the tables in an empty database and marks it as a store of this version.
    ///
    /// - Throws: The errors of SQLite, for example if a table exists already.
    public func create(in database: Database) throws {
        for statement in statements { try database.execute(sql: statement) }
        try database.mark(applicationID: Self.applicationID, version: Self.version)
    }

    /// The kinds of database, according to their application id and version.
    public enum Presence: Hashable, Sendable {
        /// The database has no tables.
        case empty
        /// The database is a store with a layout of this version.
        case store(version: Int)
    }

    /// Returns whether a database is a store that this version supports.
    ///
    /// - Parameter path: the path of the file, for error messages.
    /// - Throws: ``StoreError/notAStore(path:)`` or ``StoreError/newerVersion(path:found:supported:)``.
    public static func presence(in database: Database, path: String) throws -> Presence {
        let application: Int = try database.pragma(.applicationID) ?? 0
        let found: Int = try database.pragma(.userVersion) ?? 0
        if application == applicationID {
            guard found <= version else {
                throw StoreError.newerVersion(path: path, found: found, supported: version)
            }
            return .store(version: found)
        }
        let tables = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM sqlite_master") ?? 0
        guard application == 0, tables == 0 else { throw StoreError.notAStore(path: path) }
        return .empty
    }
}
