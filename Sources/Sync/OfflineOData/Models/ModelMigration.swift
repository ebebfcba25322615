import Foundation
import GRDB
import ODataModel
import ODataSQL

/// Migrates the tables of a store from one version of a service's model to another, in one transaction.
///
/// Tables with the same layout stay untouched. A different table is created anew and filled with the common
/// columns. Columns with another storage form are read by the former layout and written by the new one. New
/// columns are *not loaded* until a download brings them.
struct ModelMigration {
    let old: OfflineLayout
    let new: OfflineLayout
    /// Whether rows without local changes are deleted, because their values have another meaning now.
    let rebuilds: Bool

    private let oldStatements: [Statement]
    private let newStatements: [Statement]

    init(from old: EntityDataModel, to new: EntityDataModel, rebuilds: Bool) {
        self.old = OfflineLayout(model: old)
        self.new = OfflineLayout(model: new)
        self.rebuilds = rebuilds
        oldStatements = self.old.statements.compactMap(Statement.init)
        newStatements = self.new.statements.compactMap(Statement.init)
    }

    /// One statement of a layout, with the table to which its result belongs.
    private struct Statement: Hashable {
        var sql: String
        var kind: String
        var name: String
        var table: String

        init?(_ sql: String) {
            let words = sql.split(separator: " ", maxSplits: 3)
            guard words.count > 2, words[0] == "CREATE" else { return nil }
            let names = Self.names(in: sql)
            guard let first = names.first else { return nil }
            kind = words[1] == "UNIQUE" ? "INDEX" : String(words[1])
            name = first
            table = kind == "TABLE" ? first : names.dropFirst().first ?? first
            self.sql = sql
        }

        /// The first two names in double quotes.
        private static func names(in sql: String) -> [String] {
            var names: [String] = []
            var rest = Substring(sql)
            while names.count < 2, let start = rest.firstIndex(of: "\"") {
                var name = ""
                var index = rest.index(after: start)
                while index < rest.endIndex {
                    if rest[index] == "\"" {
                        let next = rest.index(after: index)
                        guard next < rest.endIndex, rest[next] == "\"" else { break }
                        index = next
                    }
                    name.append(rest[index])
                    index = rest.index(after: index)
                }
                names.append(name)
                guard index < rest.endIndex else { break }
                rest = rest[rest.index(after: index)...]
            }
            return names
        }
    }

    /// Migrates the tables of the entity sets.
    ///
    /// - Returns: the sets with rows that lack new columns, or have another storage form now.
    func run(in database: Database) throws -> Set<String> {
        // The renaming of a table must not change the triggers of other tables.
        try database.setPragma(.legacyAlterTable, "ON")
        defer { try? database.setPragma(.legacyAlterTable, "OFF") }
        let recoded = recodedTables
        let kept = Set(oldStatements).intersection(newStatements).filter {
            $0.kind != "TABLE" || !recoded.contains($0.name)
        }
        for statement in oldStatements where statement.kind != "TABLE" && !kept.contains(statement) {
            try database.execute(sql: "DROP \(statement.kind) IF EXISTS \(statement.name.sqlIdentifier)")
        }
        let names = Set(newStatements.filter { $0.kind == "TABLE" }.map(\.name))
        let leaving = Set(oldStatements.filter { $0.kind == "TABLE" && !kept.contains($0) }.map(\.name))
        let indexes = try removeIndexes(of: leaving, in: database)
        var stale: Set<String> = []
        var made: Set<String> = []
        for statement in newStatements where statement.kind == "TABLE" && !kept.contains(statement) {
            made.insert(statement.name)
            guard oldStatements.contains(where: { $0.kind == "TABLE" && $0.name == statement.name }) else {
                try database.execute(sql: statement.sql)
                continue
            }
            if let set = try rebuild(statement, in: database) { stale.insert(set) }
        }
        for statement in newStatements where statement.kind != "TABLE" {
            guard !kept.contains(statement) || made.contains(statement.table) else { continue }
            try database.execute(sql: "DROP \(statement.kind) IF EXISTS \(statement.name.sqlIdentifier)")
            try database.execute(sql: statement.sql)
        }
        for index in indexes { try remake(index, in: database) }
        for statement in oldStatements where statement.kind == "TABLE" && !names.contains(statement.name) {
            try database.execute(sql: "DROP TABLE IF EXISTS \(statement.name.sqlIdentifier)")
        }
        return stale
    }

    /// The tables with an unchanged statement and columns of another storage form: a decimal of another scale is
    /// another integer.
    private var recodedTables: Set<String> {
        let former = Dictionary(
            old.mapping.tables.values.map { ($0.table, $0) }, uniquingKeysWith: { first, _ in first })
        return Set(
            new.mapping.tables.values.filter { after in
                let before = former[after.table]?.columns ?? []
                return after.columns.contains { column in
                    before.contains { $0.name == column.name && $0.codec != column.codec }
                }
            }.map(\.table))
    }

    /// An index that the app requested, with its statement. A search index has none.
    private typealias RequestedIndex = (index: PropertyIndexes.Index, sql: String?)

    /// Removes the requested indexes of tables that are deleted or created anew: a search index would not include
    /// the rows of the new table.
    private func removeIndexes(of tables: Set<String>, in database: Database) throws -> [RequestedIndex] {
        let indexes = PropertyIndexes(mapping: old.mapping)
        var removed: [RequestedIndex] = []
        for index in try indexes.list(in: database) {
            guard let table = old.mapping.tables[index.set], tables.contains(table.table) else { continue }
            let sql = try String.fetchOne(
                database, sql: "SELECT sql FROM sqlite_master WHERE type = 'index' AND name = ?",
                arguments: [index.name])
            removed.append((index, sql))
            try indexes.drop(index, in: database)
        }
        return removed
    }

    /// Creates an index again, if its columns still have the same storage form.
    private func remake(_ requested: RequestedIndex, in database: Database) throws {
        let index = requested.index
        guard let before = old.mapping.tables[index.set], let after = new.mapping.tables[index.set],
            before.table == after.table
        else { return }
        if index.isSearch {
            guard after.rowID != nil, !after.searchColumns.isEmpty else { return }
            try PropertyIndexes(mapping: new.mapping).createSearch(on: index.set, in: database)
        } else if let sql = requested.sql {
            let isAlike = index.paths.allSatisfy { path in
                let path = String(path.prefix { $0 != " " })
                guard let column = after.column(at: path) else { return false }
                return column.codec == before.column(at: path)?.codec
            }
            if isAlike { try database.execute(sql: sql) }
        }
    }

    /// Removes downloaded rows without local changes. A changed row stays visible, without an owner until a
    /// download brings it.
    func removeUnchanged(in database: Database) throws {
        for table in new.mapping.tables.values {
            guard let rowID = table.rowID?.sqlIdentifier,
                let owner = table.visibility?.ownerColumn.sqlIdentifier
            else { continue }
            guard isOfService(table) else { continue }
            let name = table.table.sqlIdentifier
            try database.execute(
                sql: "DELETE FROM \(name) WHERE \(rowID) NOT IN (SELECT value FROM json_each(?))",
                arguments: [try changedRows(of: table, in: database)])
            try database.execute(sql: "UPDATE \(name) SET \(owner) = 0")
            try database.execute(
                sql: "DELETE FROM outpost_alias WHERE entity_set = ? AND row_id NOT IN (SELECT \(rowID) FROM \(name))",
                arguments: [table.set])
        }
        try database.execute(
            sql: """
                UPDATE outpost_before SET owner = 0;
                DELETE FROM outpost_member; DELETE FROM outpost_expanded; DELETE FROM outpost_uploaded
                """)
        // If the changes are undone before a download brings the row, the row is removed.
        for table in new.mapping.tables.values where isOfService(table) {
            try database.execute(
                sql: """
                    INSERT INTO outpost_uploaded(entity_set, row_id)
                    SELECT entity_set, row_id FROM outpost_before WHERE entity_set = ? AND entity IS NOT NULL
                    """, arguments: [table.set])
        }
        let containment = Containment(mapping: new.mapping)
        for table in new.mapping.tables.values {
            for row in try containment.rows(containingChanges: table, in: database) {
                try containment.keep(row, table, in: database)
            }
        }
    }

    /// Whether rows belong to the service. Rows of the app's own sets do not.
    private func isOfService(_ table: TableStorage) -> Bool {
        // A contained row belongs to the owner of its container.
        new.mapping.model.entitySet(String(table.set.prefix { $0 != "/" }))?.isClientOnly != true
    }

    /// The rows with changes, of their own or in contained entities, as a JSON array.
    private func changedRows(of table: TableStorage, in database: Database) throws -> String {
        Self.json(try Containment(mapping: new.mapping).changedRows(of: table, in: database))
    }

    private static func json(_ rows: Set<Int64>) -> String {
        "[\(rows.sorted().map(String.init).joined(separator: ","))]"
    }

    /// Creates a table anew and fills it with the values that are still valid.
    ///
    /// - Returns: the entity set, if its rows must be downloaded again.
    private func rebuild(_ statement: Statement, in database: Database) throws -> String? {
        let name = statement.name.sqlIdentifier
        let former = "former$\(statement.name)".sqlIdentifier
        let lastNumber = try RowNumbers.last(of: statement.name, in: database)
        try database.execute(sql: "ALTER TABLE \(name) RENAME TO \(former)")
        // Indexes have a namespace of their own.
        for index in oldStatements where index.kind != "TABLE" && index.table == statement.name {
            try database.execute(sql: "DROP \(index.kind) IF EXISTS \(index.name.sqlIdentifier)")
        }
        try database.execute(sql: statement.sql)
        guard let before = old.mapping.tables.values.first(where: { $0.table == statement.name }),
            let after = new.mapping.tables.values.first(where: { $0.table == statement.name }), before.set == after.set
        else {
            try database.execute(sql: "DROP TABLE \(former)")
            try keepNumbers(after: lastNumber, of: statement.name, in: database)
            return nil
        }
        let alike = Set(
            before.columns.filter { column in
                after.columns.contains { $0.name == column.name && $0.codec == column.codec }
            }.map(\.name))
        let hasKey = after.shape.key.allSatisfy { alike.contains($0.path) || after.shape.key.isEmpty }
        let columns = try commonColumns(
            former: "former$\(statement.name)", statement.name, before: before, after: after, alike: alike, in: database
        )
        let list = columns.map(\.sqlIdentifier).joined(separator: ", ")
        // A pending change must not lose its row, even if other rows are deleted.
        let staying =
            rebuilds && isOfService(after)
            ? try Containment(mapping: new.mapping).changedRows(of: after, in: database) : nil
        if hasKey {
            let id = OfflineLayout.rowIDColumn.sqlIdentifier
            let condition = staying == nil ? "" : "WHERE \(id) IN (SELECT value FROM json_each(?))"
            try database.execute(
                sql: "INSERT INTO \(name)(\(list)) SELECT \(list) FROM \(former) \(condition)",
                arguments: staying.map { [Self.json($0)] } ?? [])
        }
        try remapNotLoaded(before, after, alike: alike, in: database)
        if before.columns.contains(where: { !alike.contains($0.name) }) {
            try recode(
                "former$\(statement.name)", before: before, after: after, isCopied: hasKey, only: staying, in: database)
        }
        try database.execute(sql: "DROP TABLE \(former)")
        try keepNumbers(after: lastNumber, of: statement.name, in: database)
        let isNew = after.columns.contains { !alike.contains($0.name) }
        return rebuilds || isNew || !hasKey ? after.set : nil
    }

    /// Reads the values of rows by the former layout and writes them by the new one. Data that exist only in the
    /// store, such as drafts, could not be downloaded again. Values that cannot be read, or that the new layout
    /// cannot hold, are not loaded.
    ///
    /// - Parameters:
    ///   - former: the former table.
    ///   - isCopied: whether the rows were copied with their unchanged columns; if not, their keys have another
    ///     storage form too.
    ///   - staying: the rows that stay; `nil` for all.
    private func recode(
        _ former: String, before: TableStorage, after: TableStorage, isCopied: Bool, only staying: Set<Int64>?,
        in database: Database
    ) throws {
        let isContained = after.set.contains("/")
        guard !after.shape.key.isEmpty || isContained || new.mapping.model.singleton(after.set) != nil else { return }
        var source = before
        source.table = former
        let reader = try BulkLoader(table: source, in: database)
        let writer = try BulkLoader(table: after, in: database)
        let columns =
            [OfflineLayout.rowIDColumn, OfflineLayout.ownerColumn] + (isContained ? [OfflineLayout.parentColumn] : [])
        let list = columns.map(\.sqlIdentifier).joined(separator: ", ")
        let rows = try Row.fetchAll(database, sql: "SELECT \(list) FROM \(former.sqlIdentifier)")
        for row in rows {
            let rowID: Int64 = row[0]
            guard staying?.contains(rowID) ?? true else { continue }
            do {
                guard let entity = try reader.read(rowID) else { continue }
                let model = new.mapping.model
                let shape = model.shape(entity.shape.name) ?? after.shape
                let recoded = writer.storable(entity.converted(to: shape, in: model).0)
                if isCopied {
                    try writer.update(rowID, recoded)
                } else {
                    try writer.restore(rowID, recoded, owner: row[1], parent: isContained ? row[2] : nil)
                }
            } catch is StoredValueError {
                continue
            } catch StoreError.constraint {
                continue
            }
        }
    }

    /// Continues the numbering of a table that was created anew, so that a stored row number never finds another
    /// row.
    private func keepNumbers(after number: Int64?, of table: String, in database: Database) throws {
        guard let number else { return }
        try RowNumbers.setLast(number, of: table, in: database)
    }

    /// The columns of both tables: the engine's own, and those of properties with the same storage form.
    private func commonColumns(
        former: String, _ name: String, before: TableStorage, after: TableStorage, alike: Set<String>,
        in database: Database
    ) throws -> [String] {
        let properties = Set((before.columns + after.columns).map(\.name))
        let there = Set(try database.columns(in: former).map(\.name))
        return try database.columns(in: name).map(\.name).filter {
            there.contains($0) && (alike.contains($0) || !properties.contains($0))
        }
    }

    /// Converts the list of columns that are not loaded, in each row, to the column order of the new table.
    /// Shelved rows of deleted entities are included; they lose values with another storage form.
    private func remapNotLoaded(
        _ before: TableStorage, _ after: TableStorage, alike: Set<String>, in database: Database
    ) throws {
        guard let name = after.notLoaded, let rowID = after.rowID else { return }
        let columns = NotLoadedColumns(from: before, to: after, alike: alike)
        let (table, column) = (after.table.sqlIdentifier, name.sqlIdentifier)
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT \(rowID.sqlIdentifier), \(column) FROM \(table) WHERE \(column) IS NOT NULL")
        if let added = columns.remapped(nil) {
            try database.execute(sql: "UPDATE \(table) SET \(column) = ? WHERE \(column) IS NULL", arguments: [added])
        }
        for row in rows {
            try database.execute(
                sql: "UPDATE \(table) SET \(column) = ? WHERE \(rowID.sqlIdentifier) = ?",
                arguments: [columns.remapped(row[1]), row[0] as Int64])
        }
        // A column with a single value in another storage form is recoded directly.
        var recoded: [String: (DatabaseValue) throws -> DatabaseValue] = [:]
        for column in after.columns where !alike.contains(column.name) {
            guard let former = before.columns.first(where: { $0.name == column.name && $0.type == column.type }) else {
                continue
            }
            let model = old.mapping.model
            recoded[column.name] = { try column.codec.encode(former.codec.decode($0, as: former.type, in: model)) }
        }
        let withRecoded = NotLoadedColumns(from: before, to: after, alike: alike.union(recoded.keys))
        try DeletionShelf.remap(
            after.table, dropping: Set(before.columns.map(\.name)).subtracting(alike), recoding: recoded,
            notLoaded: name, { $1 ? withRecoded.remapped($0) : columns.remapped($0) }, in: database)
    }
}
