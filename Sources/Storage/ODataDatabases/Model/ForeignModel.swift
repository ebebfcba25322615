import GRDB
import ODataModel
import ODataSQL

/// A database that is not ours, as an OData service: the model made of its schema and values, and where each
/// property lies.
///
/// ```swift
/// let foreign = try await queue.read { try ForeignModel(reading: $0) }
/// foreign.model.entitySet("Order_Details")
/// foreign.warnings    // what is not as declared
/// ```
///
/// Names follow ``ForeignNames``, types ``ColumnChoice``; each element whose name had to change carries
/// ``originalNameTerm``. Tables are entity sets; a table without a usable primary key has the computed key
/// `_rowid`. A view is an entity set when a key is given for it, else a function that returns complex values.
/// Foreign keys are navigation properties in both directions.
public struct ForeignModel: Sendable {
    /// The term that gives the name of a table, view or column where the model's name differs.
    public static let originalNameTerm = "io.outpost.V1.OriginalName"

    /// What is chosen by whoever serves the database.
    public struct Options: Sendable {
        /// The namespace of the model.
        public var namespace = "Database"
        /// The key columns of the views that are to be entity sets, by the view's name.
        public var viewKeys: [String: [String]] = [:]
        /// Whether nothing may be changed.
        public var isReadOnly = false

        /// Makes options with the defaults.
        public init() {}
    }

    /// A view without a key: what its function returns.
    public struct ViewFunction: Sendable {
        /// The name of the function import.
        public var name: String
        /// The function that it calls.
        public var operation: QualifiedName
        /// The view.
        public var view: String
        /// The shape of the rows.
        public var shape: TypeShape
        /// The columns by ordinal.
        public var columns: [ColumnStorage]
    }

    /// The schema that was read.
    public let schema: ForeignSchema
    /// The model.
    public let model: EntityDataModel
    /// Where each property lies.
    public let mapping: StorageMapping
    /// The views without keys, by function import.
    public let functions: [String: ViewFunction]
    /// What is not as declared or not served, in sentences that name table and column.
    public let warnings: [String]

    /// Reads the schema of a database, probes the values of all its columns, and makes a model of them.
    ///
    /// This scans every table; it must run in one read transaction.
    /// - Throws: ``ForeignDatabaseError/unknownView(_:known:)`` and
    ///   ``ForeignDatabaseError/unknownColumn(_:of:known:)`` for keys of views that are not there, and what
    ///   SQLite throws.
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
