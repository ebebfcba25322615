import GRDB
import ODataModel

/// The service that a database of somebody else's becomes: its model, where the data lies, and what does not
/// fit.
///
/// Tables become entity sets; a table without a primary key gets its row id as the computed key `_rowid`. A
/// view becomes an entity set only where a key is named for it, else a function that returns complex values
/// (rule 28). Names are made legal; the original stands in the annotation ``originalNameTerm``.
///
/// ```swift
/// let foreign = try await queue.read { try ForeignModel(reading: $0, namespace: "Northwind") }
/// for warning in foreign.warnings { print(warning) }
/// ```
public struct ForeignModel: Sendable {
    /// The term of the annotation that holds the name of a table or column where it had to be changed.
    public static let originalNameTerm = "io.outpost.V1.OriginalName"
    /// The name of the computed key of tables without a primary key.
    public static let rowIDProperty = "_rowid"

    /// Something that is served otherwise than it is declared.
    public struct Warning: Hashable, Sendable, CustomStringConvertible {
        /// The table or view.
        public var table: String
        /// The column; `nil` where the whole table is concerned.
        public var column: String?
        /// What is the matter.
        public var message: String

        /// Place and message on one line.
        public var description: String { "\(table)\(column.map { ".\($0)" } ?? ""): \(message)." }
    }

    /// The schema that was found.
    public let schema: ForeignSchema
    /// The model of the service.
    public let model: EntityDataModel
    /// Where the data lies.
    public let mapping: StorageMapping
    /// The views behind function imports, by the import's name.
    public let views: [String: TableStorage]
    /// What is served otherwise than it is declared.
    public let warnings: [Warning]

    /// Reads a database's schema and every value that its types depend on.
    ///
    /// - Parameters:
    ///   - database: the database.
    ///   - namespace: the namespace of the model; made legal.
    ///   - keys: the key columns of views that are to be entity sets, by the view's name.
    /// - Throws: errors of SQLite; ``StoreError/database(code:message:)`` when `keys` names what is not there.
    public init(reading database: Database, namespace: String = "Database", keys: [String: [String]] = [:]) throws {
        let schema = try ForeignSchema(reading: database)
        for (view, columns) in keys {
            guard let table = schema.tables.first(where: { $0.name == view }) else {
                throw StoreError.database(code: 1, message: "There is no view \(view) to give a key to")
            }
            for column in columns where table.column(column) == nil {
                throw StoreError.database(code: 1, message: "The view \(view) has no column \(column)")
            }
        }
        var builder = ForeignModelBuilder(
            schema: schema, namespace: LegalName.identifier(namespace), keys: keys, database: database)
        let result = try builder.build()
        self.schema = schema
        model = result.model
        mapping = StorageMapping(model: result.model, tables: result.tables)
        views = result.views
        warnings = builder.warnings
    }
}
