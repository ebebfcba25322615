import GRDB
import ODataModel

/// The tables of an offline store for a service's model: one per entity set, singleton and path of
/// containment, in a form that every OData value fits exactly.
///
/// The same model always gives the same layout, so that only the model has to be kept, not the mapping.
///
/// ```swift
/// let layout = OfflineLayout(model: model)
/// try await store.write { try layout.create(in: $0) }
/// let writer = RowWriter(mapping: layout.mapping, hook: nil)
/// ```
///
/// Each table has, besides the columns of its properties:
///
/// | column | what it holds |
/// |---|---|
/// | `_id` | the internal row id, never used twice |
/// | `_owner` | the defining query that brought the row; 0 is *local*: made here, not yet brought by a download |
/// | `_etag` | the ETag as the back end gave it |
/// | `_not_loaded` | which columns are not loaded, see ``TableStorage/notLoaded`` |
/// | `_type` | the qualified name of a derived type; only where there are derived types |
/// | `_dynamic` | the dynamic properties of an open type as a JSON object; only there |
/// | `_parent` | the row id of the containing entity; only for contained collections |
///
/// Rows whose owner stands in ``hiddenOwnerTable`` are not seen: their first download has not finished.
/// Referential constraints become indexes and joins and are never enforced.
public struct OfflineLayout: Sendable {
    /// The version of the layout, kept in `PRAGMA user_version`.
    public static let version = 1
    /// What `PRAGMA application_id` holds in a store of ours: `OUTP`.
    public static let applicationID = 0x4F55_5450
    /// The table of the defining queries that are still being downloaded.
    public static let hiddenOwnerTable = "outpost_hidden_owner"
    /// The names of the columns that are not properties.
    public static let rowIDColumn = "_id"
    /// The column of the defining query that brought the row.
    public static let ownerColumn = "_owner"
    /// The column of the ETag.
    public static let etagColumn = "_etag"
    /// The column of the bits for what is not loaded.
    public static let notLoadedColumn = "_not_loaded"
    /// The column of the derived type's name.
    public static let typeColumn = "_type"
    /// The column of dynamic properties.
    public static let dynamicColumn = "_dynamic"
    /// The column of the containing row's id.
    public static let parentColumn = "_parent"

    /// Where each property lies. Contained collections are tables whose set name is the path, such as
    /// `Orders/Items`; singletons are tables under their own name.
    public let mapping: StorageMapping
    /// The statements that make the tables, in order.
    public let statements: [String]

    /// Lays a model out.
    public init(model: EntityDataModel) {
        var builder = LayoutBuilder(model: model)
        builder.build()
        mapping = StorageMapping(model: model, tables: builder.tables.map(\.storage))
        statements = builder.statements
    }

    /// Makes the tables in an empty database and marks it as a store of this version.
    ///
    /// - Throws: what SQLite throws, such as a table that is there already.
    public func create(in database: Database) throws {
        for statement in statements { try database.execute(sql: statement) }
        try database.mark(applicationID: Self.applicationID, version: Self.version)
    }

    /// What a database is, judged by its marks.
    public enum Presence: Hashable, Sendable {
        /// There are no tables yet.
        case empty
        /// It is a store with a layout of this version.
        case store(version: Int)
    }

    /// Tells whether a database is a store that this version can work with.
    ///
    /// - Parameter path: the file, for messages.
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
