import GRDB
import ODataModel

/// Finds the type of a column of somebody else's database: by its declared type, held against every value in
/// it (rule 28).
///
/// The rules for declared types, by what stands in them, first match wins, in any case:
///
/// | declared | type | written as |
/// |---|---|---|
/// | `BOOL` | Boolean | 0 and 1 |
/// | `GUID`, `UUID`, `UNIQUEIDENTIFIER` | Guid | lower-case text, or 16 bytes |
/// | `DATETIME`, `TIMESTAMP` | DateTimeOffset | one written form of text, or seconds or milliseconds since 1970 |
/// | `DATE` | Date | `YYYY-MM-DD`; else as `DATETIME` |
/// | `TIME` | TimeOfDay | `hh:mm:ss` |
/// | `INT` | Int64 | |
/// | `CHAR`, `CLOB`, `TEXT`, `STRING`, `JSON` | String | `(n)` is the MaxLength where all values keep to it |
/// | `BLOB`, `BINARY`, `IMAGE` | Binary | |
/// | `REAL`, `FLOA`, `DOUB` | Double | |
/// | `NUM`, `DEC`, `MONEY`, `CURRENCY` | Decimal | |
/// | anything else | the narrowest of Int64, Double, Binary, String that takes all values | |
///
/// A column whose values do not all parse so becomes a String, with a warning.
struct ColumnProbe {
    /// What was found.
    struct Finding {
        var type: PrimitiveType
        var codec: ColumnCodec
        var facets = Facets()
        var hasNulls: Bool
        var warning: String?
    }

    let database: Database
    let table: String

    func find(_ column: ForeignSchema.Column) throws -> Finding {
        let classes = try storageClasses(column)
        let candidates = try self.candidates(column, classes)
        for (position, candidate) in candidates.enumerated()
        where try takesAll(candidate.codec, candidate.type, column, classes) {
            var finding = Finding(type: candidate.type, codec: candidate.codec, hasNulls: classes.nulls > 0)
            if candidate.type == .decimal { finding.facets.scale = .variable }
            if candidate.type == .string { try setMaxLength(&finding, column) }
            let declaredTakesNone = position > 0 && candidates[0].type != candidate.type
            if declaredTakesNone, !column.declaredType.isEmpty {
                finding.warning =
                    "declared \(column.declaredType), but not all values are; served as \(candidate.type.rawValue)"
            }
            return finding
        }
        return Finding(
            type: .string, codec: .string, hasNulls: classes.nulls > 0,
            warning: "declared \(column.declaredType), but not all values are; served as Edm.String")
    }

    // MARK: Candidates

    private typealias Candidate = (type: PrimitiveType, codec: ColumnCodec)

    private static let unknownForm = ColumnCodec.DateTimeTextForm(separator: " ", fractionDigits: 0, suffix: "")

    private func candidates(_ column: ForeignSchema.Column, _ classes: StorageClasses) throws -> [Candidate] {
        let declared = column.declaredType.uppercased()
        func has(_ words: String...) -> Bool { words.contains { declared.contains($0) } }
        if has("BOOL") { return [(.boolean, .boolean), (.string, .string)] }
        if has("GUID", "UUID", "UNIQUEIDENTIFIER") {
            return [(.guid, .guidText), (.guid, .guid), (.string, .string)]
        }
        if has("DATETIME", "TIMESTAMP") { return try instants(column, classes) + [(.string, .string)] }
        if has("DATE") { return [(.date, .dateText)] + (try instants(column, classes)) + [(.string, .string)] }
        if has("TIME") { return [(.timeOfDay, .timeText), (.string, .string)] }
        if has("INT"), !has("POINT") { return [(.int64, .integer), (.string, .string)] }
        if has("CHAR", "CLOB", "TEXT", "STRING", "JSON") { return [(.string, .string), (.binary, .binary)] }
        if has("BLOB", "BINARY", "IMAGE") { return [(.binary, .binary), (.string, .string)] }
        if has("REAL", "FLOA", "DOUB") { return [(.double, .double), (.string, .string)] }
        if has("NUM", "DEC", "MONEY", "CURRENCY") { return [(.decimal, .numericDecimal), (.string, .string)] }
        if classes.integers + classes.reals + classes.texts + classes.blobs == 0 { return [(.string, .string)] }
        return [(.int64, .integer), (.double, .double), (.binary, .binary), (.string, .string)]
    }

    /// The ways in which a column's instants may be written, judged by the forms that occur.
    private func instants(_ column: ForeignSchema.Column, _ classes: StorageClasses) throws -> [Candidate] {
        if classes.integers > 0, classes.texts == 0 {
            let greatest =
                try Int64.fetchOne(
                    database, sql: "SELECT MAX(ABS(\(quoted(column.name)))) FROM \(quoted(table))") ?? 0
            // Seconds until the year 5138 are below 10^11, and milliseconds before 1973 are rare.
            return [(.dateTimeOffset, .unixTime(unitsPerSecond: greatest < 100_000_000_000 ? 1 : 1000))]
        }
        let name = quoted(column.name)
        let forms = try Row.fetchAll(
            database,
            sql: """
                SELECT DISTINCT length(\(name)) AS length, substr(\(name), 11, 1) AS separator,
                  \(name) LIKE '%Z' AS isUTC
                FROM \(quoted(table)) WHERE typeof(\(name)) = 'text' LIMIT 2
                """)
        guard let form = forms.first else { return [(.dateTimeOffset, .dateTimeText(Self.unknownForm))] }
        let separator: String = form["separator"]
        let suffix = form["isUTC"] == 1 ? "Z" : ""
        let length: Int = form["length"]
        // YYYY-MM-DD hh:mm:ss is 19 characters, the point one more.
        let digits = length - 19 - suffix.count
        guard forms.count == 1, separator == " " || separator == "T", digits == 0 || (2...13).contains(digits),
            let character = separator.first
        else { return [] }
        return [
            (
                .dateTimeOffset,
                .dateTimeText(.init(separator: character, fractionDigits: max(0, digits - 1), suffix: suffix))
            )
        ]
    }

    // MARK: Values

    private struct StorageClasses {
        var nulls = 0
        var integers = 0
        var reals = 0
        var texts = 0
        var blobs = 0
    }

    private func storageClasses(_ column: ForeignSchema.Column) throws -> StorageClasses {
        var classes = StorageClasses()
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT typeof(\(quoted(column.name))) AS class, COUNT(*) AS count FROM \(quoted(table)) GROUP BY 1
                """)
        for row in rows {
            let count: Int = row["count"]
            switch row["class"] as String {
            case "null": classes.nulls = count
            case "integer": classes.integers = count
            case "real": classes.reals = count
            case "text": classes.texts = count
            default: classes.blobs = count
            }
        }
        return classes
    }

    private func takesAll(
        _ codec: ColumnCodec, _ type: PrimitiveType, _ column: ForeignSchema.Column, _ classes: StorageClasses
    ) throws -> Bool {
        switch codec {
        case .integer: return classes.reals + classes.texts + classes.blobs == 0
        case .double: return classes.texts + classes.blobs == 0
        case .numericDecimal:
            return try classes.blobs == 0 && (classes.texts == 0 || parses(codec, type, column, condition: "'text'"))
        case .binary: return classes.integers + classes.reals + classes.texts == 0
        case .string:
            return try classes.blobs == 0 || parses(codec, type, column, condition: "'blob'")
        case .unixTime, .boolean:
            return try classes.reals + classes.texts + classes.blobs == 0 && parses(codec, type, column)
        default: return try parses(codec, type, column)
        }
    }

    /// Whether every value of the column reads as the codec says and would be written just so.
    private func parses(
        _ codec: ColumnCodec, _ type: PrimitiveType, _ column: ForeignSchema.Column, condition: String? = nil
    ) throws -> Bool {
        guard let model = try? EntityDataModel(schemas: []) else { return false }
        let name = quoted(column.name)
        let reference = TypeReference.primitive(type)
        let filter = condition.map { "WHERE typeof(\(name)) = \($0)" } ?? "WHERE \(name) IS NOT NULL"
        let values = try DatabaseValue.fetchCursor(
            database, sql: "SELECT DISTINCT \(name) FROM \(quoted(table)) \(filter)")
        while let value = try values.next() {
            guard let read = try? codec.decode(value, as: reference, in: model) else { return false }
            // Text in another written form of the same value would never be found by equality.
            let isText = if case .string = value.storage { true } else { false }
            if isText, codec != .numericDecimal, (try? codec.encode(read)) != value { return false }
        }
        return true
    }

    /// `VARCHAR(n)` where the values keep to it.
    private func setMaxLength(_ finding: inout Finding, _ column: ForeignSchema.Column) throws {
        guard let open = column.declaredType.firstIndex(of: "("),
            let length = Int(
                column.declaredType[open...].dropFirst().prefix { $0.isNumber }), length > 0,
            column.declaredType.uppercased().contains("CHAR")
        else { return }
        let greatest =
            try Int.fetchOne(
                database, sql: "SELECT MAX(length(\(quoted(column.name)))) FROM \(quoted(table))") ?? 0
        if greatest <= length {
            finding.facets.maxLength = length
        } else {
            finding.warning = "declared \(column.declaredType), but a value has \(greatest) characters"
        }
    }
}
