/// The schema of a SQLite database: its tables and views with their original names.
///
/// ```swift
/// let schema = try await queue.read { try ForeignSchema(reading: $0) }
/// schema.table("order details")?.primaryKey    // ["OrderID", "ProductID"]
/// ```
///
/// Like SQLite, look-ups ignore the case of ASCII letters. CHECK constraints are not read; a violation becomes
/// an error of the database.
public struct ForeignSchema: Hashable, Sendable {
    /// The tables and views, sorted by name.
    public var tables: [Table]
    /// Sentences about omitted elements, such as virtual tables and invalid views.
    public var warnings: [String]

    /// Creates a schema.
    public init(tables: [Table], warnings: [String] = []) {
        self.tables = tables
        self.warnings = warnings
    }

    /// Returns the table or view with a name.
    public func table(_ name: String) -> Table? {
        let folded = Self.folded(name)
        return tables.first { Self.folded($0.name) == folded }
    }

    /// Returns a name with ASCII letters in lower case, as SQLite compares names.
    static func folded(_ name: String) -> String {
        String(decoding: name.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }

    /// A table or view.
    public struct Table: Hashable, Sendable {
        /// The declared name.
        public var name: String
        /// Whether it is a view.
        public var isView: Bool
        /// The columns in the order of declaration, including generated ones.
        public var columns: [Column]
        /// The columns of the primary key in key order; empty if none is declared.
        public var primaryKey: [String]
        /// The name of the rowid: the column that is an alias of it, or the first of `rowid`, `_rowid_` and
        /// `oid` that is not a column. It is `nil` for views and tables WITHOUT ROWID.
        public var rowIDColumn: String?
        /// Whether the primary key is an alias of the rowid (`INTEGER PRIMARY KEY`).
        public var hasRowIDAlias: Bool
        /// Whether SQLite never reuses a rowid (`AUTOINCREMENT`).
        public var isAutoincrement: Bool
        /// The foreign keys in the order of declaration.
        public var foreignKeys: [ForeignKey]
        /// The columns of each unique index without a condition, except that of the primary key.
        public var uniqueKeys: [[String]]

        /// Creates a table.
        public init(
            name: String, isView: Bool = false, columns: [Column], primaryKey: [String] = [],
            rowIDColumn: String? = nil, hasRowIDAlias: Bool = false, isAutoincrement: Bool = false,
            foreignKeys: [ForeignKey] = [], uniqueKeys: [[String]] = []
        ) {
            self.name = name
            self.isView = isView
            self.columns = columns
            self.primaryKey = primaryKey
            self.rowIDColumn = rowIDColumn
            self.hasRowIDAlias = hasRowIDAlias
            self.isAutoincrement = isAutoincrement
            self.foreignKeys = foreignKeys
            self.uniqueKeys = uniqueKeys
        }

        /// Returns the column with a name.
        public func column(_ name: String) -> Column? {
            let folded = ForeignSchema.folded(name)
            return columns.first { ForeignSchema.folded($0.name) == folded }
        }

        /// Returns whether the values in these columns are unique.
        public func isUnique(_ names: [String]) -> Bool {
            let wanted = Set(names.map(ForeignSchema.folded))
            return ([primaryKey] + uniqueKeys).contains { key in
                !key.isEmpty && Set(key.map(ForeignSchema.folded)).isSubset(of: wanted)
            }
        }
    }

    /// A column.
    public struct Column: Hashable, Sendable {
        /// The declared name.
        public var name: String
        /// The declared type; empty if there is none.
        public var declaredType: String
        /// Whether the column is declared NOT NULL.
        public var isNotNull: Bool
        /// The SQL expression of the default value; `nil` if there is none.
        public var defaultExpression: String?
        /// Whether the value is computed from other columns (`GENERATED ALWAYS AS`).
        public var isGenerated: Bool
        /// The collation of the column's texts; `nil` if it is unknown, as in views.
        public var collation: String?

        /// Creates a column.
        public init(
            name: String, declaredType: String, isNotNull: Bool = false, defaultExpression: String? = nil,
            isGenerated: Bool = false, collation: String? = nil
        ) {
            self.name = name
            self.declaredType = declaredType
            self.isNotNull = isNotNull
            self.defaultExpression = defaultExpression
            self.isGenerated = isGenerated
            self.collation = collation
        }
    }

    /// A foreign key.
    public struct ForeignKey: Hashable, Sendable {
        /// The referencing columns.
        public var columns: [String]
        /// The name of the referenced table as written.
        public var table: String
        /// The referenced columns, in the order of ``columns``; those of the primary key if the declaration
        /// names none.
        public var referencedColumns: [String]
        /// The action on deletion of the referenced row, such as `CASCADE`.
        public var onDelete: String

        /// Creates a foreign key.
        public init(columns: [String], table: String, referencedColumns: [String], onDelete: String = "NO ACTION") {
            self.columns = columns
            self.table = table
            self.referencedColumns = referencedColumns
            self.onDelete = onDelete
        }
    }
}
