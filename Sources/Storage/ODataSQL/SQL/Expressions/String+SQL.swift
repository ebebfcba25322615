import ODataModel

/// The quoting of names and text in SQL. ``SQLFragment`` uses the first method for its names.
extension String {
    /// The quoted name of a table or column in SQL, with inner quotes doubled.
    ///
    /// GRDB's `sqlIdentifier` does not double them. Names come from the metadata of a service or from an existing
    /// database. A single quote would end the name and turn the remainder into SQL.
    package var sqlIdentifier: String { SQLFragment(column: self, behind: "\"").sql }

    /// The text as an SQL string literal, with inner apostrophes doubled.
    package var sqlLiteral: String { "'" + doubling(UInt8(ascii: "'")) + "'" }
}
