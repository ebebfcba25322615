import GRDB

/// The tables beside the rows of a database, in its own file or in one that is attached.
package struct SideTables {
    package let database: Database
    /// The name of the schema that has the tables.
    package let schema: String
    /// The table of the answers to repeatable requests.
    package var requests: String

    /// Names the tables of a schema.
    package init(database: Database, schema: String, requests: String = "request") {
        self.database = database
        self.schema = schema
        self.requests = requests
    }
}
