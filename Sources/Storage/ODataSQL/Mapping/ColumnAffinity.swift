/// The storage class that a SQLite column prefers, derived from its declared type ("Datatypes In SQLite", 3.1).
public enum ColumnAffinity: Hashable, Sendable {
    /// Values are stored without conversion.
    case none
    /// Numbers are stored as text.
    case text
    /// Numeric texts are stored as numbers, integers as INTEGER.
    case numeric
    /// Numeric texts are stored as REAL.
    case real

    /// Creates the affinity of a column.
    ///
    /// - Parameter declaredType: the type in the definition of the table; empty if there is none.
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
