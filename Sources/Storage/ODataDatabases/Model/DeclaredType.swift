import ODataSQL

/// The declared type of a column. SQLite enforces it only in STRICT tables, so the values take precedence
/// (``ColumnProbe``).
///
/// The words of the type are compared without regard to case and without the numbers in parentheses:
///
/// | words | kind |
/// |---|---|
/// | `BOOL`, `BOOLEAN`, `BIT`, `LOGICAL` | boolean |
/// | `GUID`, `UUID`, `UNIQUEIDENTIFIER` | GUID |
/// | starting with `DATETIME`, `TIMESTAMP`, `SMALLDATETIME` | date and time |
/// | `DATE`; starting with `TIME` | date; time |
/// | ending in `INT`, starting with `INTEGER`, `INT` and a digit, `SERIAL`, `LONG` | integer |
/// | starting with `DEC`, `NUM`; `MONEY`, `SMALLMONEY`, `CURRENCY` | decimal |
/// | containing `CHAR`, `CLOB`, `TEXT`; `STRING`, `JSON`, `XML`, `ENUM` | string |
/// | containing `BLOB`, `BINARY`; `IMAGE`, `BYTEA`, `RAW` | binary |
/// | starting with `REAL`, `DOUBLE`, `FLOAT`, `SINGLE` | floating point |
/// | other words, or none | unknown: determined by the values |
struct DeclaredType: Hashable {
    enum Kind: Hashable {
        case boolean, guid, dateTime, date, time, integer, decimal, string, binary, double, unknown
    }

    var kind: Kind
    /// The first number in parentheses: a length or precision.
    var size: Int?
    /// The second number in parentheses: a scale.
    var scale: Int?
    /// The storage class that SQLite prefers for the column.
    var affinity: ColumnAffinity

    /// Parses a declared type.
    init(_ text: String) {
        affinity = ColumnAffinity(declaredType: text)
        let upper = text.uppercased()
        let name = upper.prefix { $0 != "(" }
        let numbers = upper.drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }.split(separator: ",").map {
            Int($0.filter { !$0.isWhitespace })
        }
        size = numbers.first.flatMap { $0 }
        scale = numbers.dropFirst().first.flatMap { $0 }
        let words = name.split(whereSeparator: \.isWhitespace).map(String.init)
        kind = words.lazy.compactMap(Self.kind).first ?? .unknown
    }

    private static func kind(of word: String) -> Kind? {
        switch word {
        case "BOOL", "BOOLEAN", "BIT", "LOGICAL": return .boolean
        case "GUID", "UUID", "UNIQUEIDENTIFIER": return .guid
        case "DATE": return .date
        case "SERIAL", "BIGSERIAL", "LONG": return .integer
        case "MONEY", "SMALLMONEY", "CURRENCY": return .decimal
        case "STRING", "JSON", "XML", "ENUM": return .string
        case "IMAGE", "BYTEA", "RAW": return .binary
        default: break
        }
        func starts(_ prefixes: String...) -> Bool { prefixes.contains { word.hasPrefix($0) } }
        func contains(_ parts: String...) -> Bool { parts.contains { word.contains($0) } }
        if starts("DATETIME", "TIMESTAMP", "SMALLDATETIME") { return .dateTime }
        if starts("TIME") { return .time }
        if word == "INT" || starts("INTEGER") { return .integer }
        if word.hasSuffix("INT"), word != "POINT", word != "PRINT" { return .integer }
        if starts("INT"), word.dropFirst(3).allSatisfy(\.isNumber) { return .integer }
        if starts("DEC", "NUM") { return .decimal }
        if contains("CHAR", "CLOB", "TEXT") { return .string }
        if contains("BLOB", "BINARY") { return .binary }
        if starts("REAL", "DOUBLE", "FLOAT", "SINGLE") { return .double }
        return nil
    }
}
