import ODataModel

/// The two ways in which a text gets into SQL that is built by hand; ``SQLFragment`` uses the first for its names.
extension String {
    /// The name of a table or column as it stands in SQL, with quotes inside it doubled.
    ///
    /// GRDB's `sqlIdentifier` does not double them. Names come from the metadata of a service or from a
    /// foreign database: an undoubled quote would end the name and make SQL of the rest.
    package var sqlIdentifier: String { SQLFragment(column: self, behind: "\"").sql }

    /// The text as a string literal of SQL, with apostrophes inside it doubled.
    package var sqlLiteral: String { "'" + doubling(UInt8(ascii: "'")) + "'" }
}
