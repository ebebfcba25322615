/// The storage class that a SQLite column prefers, told by its declared type ("Datatypes In SQLite", 3.1).
public enum ColumnAffinity: Hashable, Sendable {
    /// Values are stored as they come.
    case none
    /// Numbers are stored as text.
    case text
    /// Texts that are numbers are stored as numbers: whole ones as INTEGER.
    case numeric
    /// Texts that are numbers are stored as REAL.
    case real

    /// The affinity of a column.
    ///
    /// - Parameter declaredType: the type as it stands in the table's definition; empty where there is none.
    package init(declaredType: String) {
        let upper = declaredType.uppercased()
        self =
            if upper.contains("INT") {
                .numeric
            } else if ["CHAR", "CLOB", "TEXT"].contains(where: upper.contains) {
                .text
            } else if upper.isEmpty || upper.contains("BLOB") {
                .none
            } else if ["REAL", "FLOA", "DOUB"].contains(where: upper.contains) {
                .real
            } else {
                .numeric
            }
    }
}
