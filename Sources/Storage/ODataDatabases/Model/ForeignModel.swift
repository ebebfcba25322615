import GRDB
import ODataModel
import ODataSQL

/// An existing SQLite database as an OData service: a model of its schema and values, and the mapping of
/// properties to columns.
///
/// ```swift
/// let foreign = try await queue.read { try ForeignModel(reading: $0) }
/// foreign.model.entitySet("Order_Details")
/// foreign.warnings    // differences from the declarations
/// ```
///
/// Names follow ``ForeignNames``, types follow ``ColumnChoice``. Elements with a changed name have the
/// annotation ``originalNameTerm``. Tables become entity sets; a table without a usable primary key has the
/// computed key `_rowid`. A view with a given key becomes an entity set; any other view becomes a function that
/// returns complex values. Foreign keys become navigation properties in both directions.
public struct ForeignModel: Sendable {
    /// The annotation term with the original name of a table, view or column, if the model uses another name.
    public static let originalNameTerm = "io.outpost.V1.OriginalName"

    /// The options of a model.
    public struct Options: Sendable {
        /// The namespace of the model.
        public var namespace = "Database"
        /// The key columns of views that become entity sets, by the name of the view.
        public var viewKeys: [String: [String]] = [:]
        /// Whether the service is read-only.
        public var isReadOnly = false

        /// Creates options with the default values.
        public init() {}
    }

    /// The function that returns the rows of a view without a key.
    public struct ViewFunction: Sendable {
        /// The name of the function import.
        public var name: String
        /// The name of the function.
        public var operation: QualifiedName
        /// The name of the view.
        public var view: String
        /// The type of the rows.
        public var shape: TypeShape
        /// The columns, by ordinal.
        public var columns: [ColumnStorage]
    }

    /// The schema of the database.
    public let schema: ForeignSchema
    /// The model of the service.
    public let model: EntityDataModel
    /// The mapping of properties to columns.
    public let mapping: StorageMapping
    /// The functions of views without keys, by function import.
    public let functions: [String: ViewFunction]
    /// Sentences about omitted elements and differences from declarations, with the names of table and column.
    public let warnings: [String]

    /// Creates a model from the schema of a database and the values of all columns.
    ///
    /// This initializer scans every table and must run in one read transaction.
    ///
    /// - Throws: ``ForeignDatabaseError/unknownView(_:known:)`` and
    ///   ``ForeignDatabaseError/unknownColumn(_:of:known:)`` for keys of missing views or columns, and errors
    ///   of SQLite.
    public init(reading database: Database, options: Options = Options()) throws {
        schema = try ForeignSchema(reading: database)
        var builder = try ForeignModelBuilder(schema: schema, options: options)
        try builder.probe(in: database)
        builder.nameTypes()
        builder.addNavigation()
        let built = try builder.finish()
        model = built.model
        mapping = built.mapping
        functions = built.functions
        warnings = schema.warnings + built.warnings
    }
}
