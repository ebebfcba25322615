import GRDB

/// The auxiliary tables beside the rows of a database, in the same file or in an attached one.
package struct SideTables {
    package let database: Database
    /// The name of the schema that contains the tables.
    package let schema: String
    /// The table of the responses to repeatable requests.
    package var requests: String

    /// Creates the names of the tables in a schema.
    package init(database: Database, schema: String, requests: String = "request") {
        self.database = database
        self.schema = schema
        self.requests = requests
    }
}
