import EncryptedSQLite
import GRDB

/// Finds the rows of a damaged database in its pages, without SQLite. Rows on pages without a parent are
/// recognised by the columns of a store's tables.
final class StoreCarver {
    /// A statement in the file for a table, an index or a trigger.
    struct Statement {
        let type: String
        let name: String
        let root: Int
        /// `nil` for an index that SQLite creates by itself.
        let sql: String?
    }

    private let pages: DatabasePages
    /// The pages of tables and indexes, by number.
    private var kinds: [Int: TreePage.Kind] = [:]
    /// The parent of each page, by page number.
    private var parents: [Int: Int] = [:]
    /// The readable statements, by the numbers of their root pages, and those without a root.
    private(set) var statements: [Statement] = []
    private var names: [Int: Statement] = [:]
    /// The number of unreadable pages, by table.
    private var missing: [String: Int] = [:]
    /// Whether all free pages are known.
    private var knowsFreePages = false
    /// The tables with rows from pages that may be free.
    private(set) var guessed: Set<String> = []

    init(_ pages: DatabasePages) {
        self.pages = pages
        let free = freePages()
        for number in stride(from: 1, through: pages.count, by: 1) where !free.contains(number) {
            guard let page = TreePage(number, in: pages) else { continue }
            kinds[number] = page.kind
            for child in page.children where child > 1 { parents[child] = number }
        }
        readStatements()
        countMissing()
    }

    /// The free pages, as far as their chain can be followed (1.5).
    private func freePages() -> Set<Int> {
        guard let first = pages.page(1) else { return [] }
        var free: Set<Int> = []
        var trunk = TreePage.pageNumber(in: first, at: 32)
        defer { knowsFreePages = trunk == 0 }
        while trunk > 1, free.insert(trunk).inserted, let page = pages.page(trunk) {
            let count = min(TreePage.pageNumber(in: page, at: 4), (pages.usableSize - 8) / 4)
            for index in 0..<max(count, 0) { free.insert(TreePage.pageNumber(in: page, at: 8 + 4 * index)) }
            trunk = TreePage.pageNumber(in: page, at: 0)
        }
        return free
    }

    /// The topmost known page of a table or an index.
    private func root(of number: Int) -> Int {
        var (page, seen) = (number, Set([number]))
        while let parent = parents[page], seen.insert(parent).inserted { page = parent }
        return page
    }

    // MARK: The schema

    private func readStatements() {
        for (number, kind) in kinds.sorted(by: { $0.key < $1.key }) where kind == .leafTable {
            let root = root(of: number)
            guard root == 1 || parents[number] == nil, let page = TreePage(number, in: pages) else { continue }
            let found = page.rows(in: pages).map { $0.flatMap(Self.statement) }
            // If the first page cannot be read, root pages are recognised by their content.
            guard root == 1 || !found.isEmpty && found.allSatisfy({ $0 != nil }) else { continue }
            for case let statement? in found {
                statements.append(statement)
                if statement.root > 1 { names[statement.root] = statement }
            }
            if root != 1 { parents[number] = 1 }
        }
    }

    private static func statement(_ row: CarvedRow) -> Statement? {
        guard row.values.count == 5, let type = String.fromDatabaseValue(row.values[0]),
            ["table", "index", "view", "trigger"].contains(type), let name = String.fromDatabaseValue(row.values[1]),
            let root = Int.fromDatabaseValue(row.values[3])
        else { return nil }
        return Statement(type: type, name: name, root: root, sql: String.fromDatabaseValue(row.values[4]))
    }

    private func countMissing() {
        for statement in statements where statement.type == "table" && statement.root > 1 {
            if kinds[statement.root] == nil { missing[statement.name, default: 0] += 1 }
        }
        for (child, parent) in parents where kinds[child] == nil {
            guard let statement = names[root(of: parent)], statement.type == "table" else { continue }
            missing[statement.name, default: 0] += 1
        }
    }

    /// The number of pages of a table that are known to be unreadable.
    func missingPages(of table: String) -> Int { missing[table] ?? 0 }

    /// Whether the root page of a table is known.
    func knows(_ table: String) -> Bool { statements.contains { $0.type == "table" && $0.name == table } }

    // MARK: Rows

    /// Copies the rows of tables into a database with these tables.
    ///
    /// - Parameters:
    ///   - names: The tables to copy.
    ///   - all: All tables of the store. A page that fits several of them is skipped.
    /// - Returns: The number of rows, by table.
    func copyRows(of names: [String], among all: [String], to target: Database) throws -> [String: Int] {
        let tables = try all.map { try CarvedTable($0, in: target) }
        let byName = Dictionary(tables.map { ($0.name, $0) }) { $1 }
        let wanted = Set(names)
        var saved: [String: Int] = [:]
        // All pages below one root belong to one table.
        var guesses: [Int: CarvedTable] = [:]
        let unplaced = tables.filter { !knows($0.name) || missingPages(of: $0.name) > 0 }
        for (number, kind) in kinds.sorted(by: { $0.key < $1.key }) where kind != .innerTable {
            let root = root(of: number)
            guard root != 1, let page = TreePage(number, in: pages) else { continue }
            let table: CarvedTable?
            if let statement = self.names[root] {
                table = statement.type == "table" ? byName[statement.name] : nil
            } else {
                let rows = page.rows(in: pages).compactMap(\.self)
                if guesses[root] == nil { guesses[root] = Self.guess(unplaced, rows) }
                table = guesses[root]
                if let table, !knowsFreePages, !rows.isEmpty { guessed.insert(table.name) }
            }
            guard let table, wanted.contains(table.name), kind.isOfRowIDs == table.hasRowIDs else { continue }
            for case let row? in page.rows(in: pages) where try table.insert(row, in: target) {
                saved[table.name, default: 0] += 1
            }
        }
        return saved
    }

    /// Returns the only table that fits the rows.
    private static func guess(_ tables: [CarvedTable], _ rows: [CarvedRow]) -> CarvedTable? {
        guard let first = rows.first else { return nil }
        // An index entry ends with a row id, and may look like a row of a table without row ids.
        guard
            first.rowID != nil
                || rows.allSatisfy({ $0.values.last.map { Int64.fromDatabaseValue($0) == nil } ?? false })
        else { return nil }
        let fitting = tables.filter { table in rows.allSatisfy(table.fits) }
        // Later columns are missing in older rows only, so that the narrowest table is the right one.
        let width = fitting.map(\.width).min()
        let narrowest = fitting.filter { $0.width == width }
        return narrowest.count == 1 ? narrowest[0] : nil
    }
}
