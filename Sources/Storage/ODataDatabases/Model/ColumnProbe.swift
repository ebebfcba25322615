import GRDB
import ODataSQL

/// The statistics of a column's values. All rows are counted by SQL, without sampling.
struct ColumnProbe {
    /// The number of values of each form; empty if the storage classes determine the type.
    var forms: [WrittenForm: Int] = [:]
    /// An example of each form, for messages.
    var examples: [WrittenForm: String] = [:]
    /// The number of INTEGER values.
    var integers = 0
    /// The number of REAL values.
    var reals = 0
    /// The number of TEXT values.
    var texts = 0
    /// The number of BLOB values.
    var blobs = 0
    /// The number of NULL values.
    var nulls = 0
    /// The range of the INTEGER values.
    var range: ClosedRange<Int64>?
    /// The maximum length of a text in characters.
    var maxLength = 0

    /// Whether all values are NULL.
    var isEmpty: Bool { integers + reals + texts + blobs == 0 }

    /// Returns the statistics of all columns of a table or view, in their order.
    ///
    /// One scan counts the storage classes of all columns. A second scan counts the forms of columns whose type
    /// the storage classes do not determine.
    static func probe(_ table: ForeignSchema.Table, in database: Database) throws -> [ColumnProbe] {
        var probes: [ColumnProbe] = []
        // SQLite allows 2000 result columns, and each column needs seven.
        var start = 0
        while start < table.columns.count {
            let columns = Array(table.columns[start..<min(start + 200, table.columns.count)])
            probes += try counts(columns, of: table.name, in: database)
            start += columns.count
        }
        FormCount.register(in: database)
        for (index, column) in table.columns.enumerated()
        where probes[index].needsForms(DeclaredType(column.declaredType)) {
            let sql = "SELECT \(FormCount.name)(\(column.name.sqlIdentifier)) FROM \(table.name.sqlIdentifier)"
            let text = try String.fetchOne(database, sql: sql) ?? ""
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: "\t", maxSplits: 2)
                guard parts.count == 3, let form = WrittenForm(code: parts[0]), let count = Int(parts[1]) else {
                    continue
                }
                probes[index].forms[form] = count
                probes[index].examples[form] = String(parts[2])
            }
        }
        return probes
    }

    private static func counts(
        _ columns: [ForeignSchema.Column], of table: String, in database: Database
    ) throws -> [ColumnProbe] {
        let expressions = columns.flatMap { column -> [String] in
            let name = column.name.sqlIdentifier
            return [
                "TOTAL(typeof(\(name)) = 'integer')", "TOTAL(typeof(\(name)) = 'real')",
                "TOTAL(typeof(\(name)) = 'text')", "TOTAL(typeof(\(name)) = 'blob')",
                "MIN(CASE typeof(\(name)) WHEN 'integer' THEN \(name) END)",
                "MAX(CASE typeof(\(name)) WHEN 'integer' THEN \(name) END)",
                "MAX(CASE typeof(\(name)) WHEN 'text' THEN length(\(name)) END)",
            ]
        }
        let sql = "SELECT COUNT(*), \(expressions.joined(separator: ", ")) FROM \(table.sqlIdentifier)"
        guard let row = try Row.fetchOne(database, sql: sql) else { return columns.map { _ in ColumnProbe() } }
        func count(_ index: Int) -> Int { Int((row[index] as Double?) ?? 0) }
        return columns.indices.map { index in
            let first = 1 + index * 7
            var probe = ColumnProbe()
            probe.integers = count(first)
            probe.reals = count(first + 1)
            probe.texts = count(first + 2)
            probe.blobs = count(first + 3)
            if let least: Int64 = row[first + 4], let greatest: Int64 = row[first + 5], least <= greatest {
                probe.range = least...greatest
            }
            probe.maxLength = row[first + 6] ?? 0
            probe.nulls = (row[0] as Int? ?? 0) - probe.integers - probe.reals - probe.texts - probe.blobs
            return probe
        }
    }

    /// Returns whether the forms are needed to determine the type.
    private func needsForms(_ declared: DeclaredType) -> Bool {
        switch declared.kind {
        case .date, .dateTime, .time, .guid: texts + blobs + reals > 0
        case .decimal: texts + blobs + reals > 0
        case .integer, .boolean, .double: texts + blobs > 0
        case .string: blobs > 0
        case .binary: texts + integers + reals > 0
        case .unknown: texts + blobs > 0
        }
    }
}
