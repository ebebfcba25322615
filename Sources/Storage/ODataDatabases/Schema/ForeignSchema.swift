/// What a SQLite database that is not ours declares: its tables and views as they stand, names unchanged.
///
/// ```swift
/// let schema = try await queue.read { try ForeignSchema(reading: $0) }
/// schema.table("order details")?.primaryKey    // ["OrderID", "ProductID"]
/// ```
///
/// SQLite compares names without regard to the case of ASCII letters, and so does every look-up here.
/// CHECK constraints are not read: the database enforces them, and what it refuses becomes an error then.
public struct ForeignSchema: Hashable, Sendable {
    /// The tables and views by name.
    public var tables: [Table]
    /// What was passed over, in sentences: virtual tables.
    public var warnings: [String]

    /// Makes a schema.
    public init(tables: [Table], warnings: [String] = []) {
        self.tables = tables
        self.warnings = warnings
    }

    /// The table or view with a name.
    public func table(_ name: String) -> Table? {
        let folded = Self.folded(name)
        return tables.first { Self.folded($0.name) == folded }
    }

    /// A name as SQLite compares it: ASCII letters in lower case.
    static func folded(_ name: String) -> String {
        String(decoding: name.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }

    /// A table or view.
    public struct Table: Hashable, Sendable {
        /// The name as declared.
        public var name: String
        /// Whether it is a view.
        public var isView: Bool
        /// The columns in declared order, generated ones included.
        public var columns: [Column]
        /// The columns of the primary key in key order; empty when none is declared.
        public var primaryKey: [String]
        /// The name by which the rowid is addressed: the column that is an alias of it, else `rowid`,
        /// `_rowid_` or `oid`, whichever no column hides; `nil` for views and tables WITHOUT ROWID.
        public var rowIDColumn: String?
        /// Whether the primary key is an alias of the rowid (`INTEGER PRIMARY KEY`).
        public var hasRowIDAlias: Bool
        /// Whether the rowid is never used twice (`AUTOINCREMENT`).
        public var isAutoincrement: Bool
        /// The foreign keys in declared order.
        public var foreignKeys: [ForeignKey]
        /// The columns of each unique index without a condition, the primary key's excepted.
        public var uniqueKeys: [[String]]

        /// Makes a table.
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

        /// The column with a name.
        public func column(_ name: String) -> Column? {
            let folded = ForeignSchema.folded(name)
            return columns.first { ForeignSchema.folded($0.name) == folded }
        }

        /// Whether no two rows have the same values in these columns.
        public func isUnique(_ names: [String]) -> Bool {
            let wanted = Set(names.map(ForeignSchema.folded))
            return ([primaryKey] + uniqueKeys).contains { key in
                !key.isEmpty && Set(key.map(ForeignSchema.folded)).isSubset(of: wanted)
            }
        }
    }

    /// A column.
    public struct Column: Hashable, Sendable {
        /// The name as declared.
        public var name: String
        /// The declared type as written; empty when there is none.
        public var declaredType: String
        /// Whether it is declared NOT NULL.
        public var isNotNull: Bool
        /// The SQL text of the default; `nil` when there is none.
        public var defaultExpression: String?
        /// Whether its value is computed from others (`GENERATED ALWAYS AS`).
        public var isGenerated: Bool
        /// The collation by which the column's texts compare; `nil` where it is not known, as in views.
        public var collation: String?

        /// Makes a column.
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
        /// The referenced table as written.
        public var table: String
        /// The referenced columns, pairwise with ``columns``; those of the primary key where none are written.
        public var referencedColumns: [String]
        /// What happens to the referencing rows on deletion, such as `CASCADE`.
        public var onDelete: String

        /// Makes a foreign key.
        public init(columns: [String], table: String, referencedColumns: [String], onDelete: String = "NO ACTION") {
            self.columns = columns
            self.table = table
            self.referencedColumns = referencedColumns
            self.onDelete = onDelete
        }
    }
}
