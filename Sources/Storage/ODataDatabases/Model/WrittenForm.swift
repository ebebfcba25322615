import Foundation
import GRDB
import ODataModel
import ODataSQL

/// The written form of a value in a served column.
enum WrittenForm: Hashable, Sendable {
    /// An INTEGER.
    case integer
    /// A finite REAL.
    case real
    /// An infinite REAL.
    case infinity
    /// A BLOB of 16 bytes that is not text.
    case bytes16
    /// A BLOB of another length that is not UTF-8 text.
    case bytes
    /// A BLOB that is UTF-8 text.
    case textBytes
    /// A BLOB of 16 bytes that is UTF-8 text, possibly a GUID by chance.
    case textBytes16
    /// Text such as `2026-11-21`.
    case date
    /// Text such as `13:20` or `13:20:00.5`.
    case time
    /// Text such as `2026-11-21 13:20:00.000`.
    case dateTime(ColumnCodec.DateTimeTextForm)
    /// Text such as `01234567-89ab-cdef-0123-456789abcdef`.
    case guid
    /// Numeric text.
    case number
    /// Other text.
    case text

    /// Creates the form of a value; `nil` for NULL.
    init?(_ value: DatabaseValue) {
        switch value.storage {
        case .null: return nil
        case .int64: self = .integer
        case .double(let number): self = number.isFinite ? .real : .infinity
        case .blob(let data):
            let isText = String(validating: data, as: UTF8.self) != nil
            self =
                data.count == 16
                ? isText ? .textBytes16 : .bytes16
                : isText ? .textBytes : .bytes
        case .string(let text): self = Self.form(of: text)
        }
    }

    private static func form(of text: String) -> WrittenForm {
        let utf8 = text.utf8
        guard let first = utf8.first, utf8.count <= 64 else { return .text }
        let isDigit = (48...57).contains(first)
        if utf8.count == 36, ODataGuid(text) != nil { return .guid }
        guard isDigit || first == UInt8(ascii: "-") || first == UInt8(ascii: "+") else { return .text }
        if utf8.count == 10, ODataDate(text) != nil { return .date }
        if isDigit, utf8.count >= 5, utf8.dropFirst(2).first == UInt8(ascii: ":"), ODataTimeOfDay(text) != nil {
            return .time
        }
        if let form = dateTimeForm(of: text) { return .dateTime(form) }
        return ODataDecimal(text) != nil ? .number : .text
    }

    /// Returns the form that reads the text and writes it unchanged; `nil` if there is none.
    private static func dateTimeForm(of text: String) -> ColumnCodec.DateTimeTextForm? {
        let characters = Array(text.utf8)
        guard characters.count >= 19 else { return nil }
        let separator: Character
        switch characters[10] {
        case UInt8(ascii: " "): separator = " "
        case UInt8(ascii: "T"): separator = "T"
        default: return nil
        }
        let suffix = characters.last == UInt8(ascii: "Z") ? "Z" : ""
        let rest = characters.count - 19 - suffix.utf8.count
        guard rest == 0 || (2...13).contains(rest) && characters[19] == UInt8(ascii: ".") else { return nil }
        let form = ColumnCodec.DateTimeTextForm(
            separator: separator, fractionDigits: max(rest - 1, 0), suffix: suffix)
        return (try? form.parses(text)) == true ? form : nil
    }
}

extension ColumnCodec.DateTimeTextForm {
    /// Returns whether a text is a date and time of this form.
    func parses(_ text: String) throws -> Bool {
        let codec = ColumnCodec.dateTimeText(self)
        let model = try EntityDataModel(schemas: [])
        return (try? codec.decode(text.databaseValue, as: .primitive(.dateTimeOffset), in: model)) != nil
    }
}

/// The aggregate function that counts the written forms of a column's values.
///
/// The result has one line for each form: the code of the form, a tab, the number of values, a tab, and an
/// example.
struct FormCount: DatabaseAggregate {
    private var counts: [WrittenForm: (count: Int, example: String)] = [:]

    static let name = "outpost_forms"

    static func register(in database: Database) {
        database.add(function: DatabaseFunction(name, argumentCount: 1, pure: true, aggregate: FormCount.self))
    }

    mutating func step(_ values: [DatabaseValue]) {
        guard let value = values.first, let form = WrittenForm(value) else { return }
        if let known = counts[form] {
            counts[form] = (known.count + 1, known.example)
        } else {
            counts[form] = (1, ColumnCodec.describe(value))
        }
    }

    func finalize() -> (any DatabaseValueConvertible)? {
        counts.map { form, entry in
            let example = entry.example.map { $0.isNewline || $0 == "\t" ? " " : $0 }
            return "\(form.code)\t\(entry.count)\t\(String(example))"
        }.sorted().joined(separator: "\n")
    }
}

extension WrittenForm {
    /// The name of the form in the result of the aggregate function.
    var code: String {
        switch self {
        case .integer: "integer"
        case .real: "real"
        case .infinity: "infinity"
        case .bytes16: "bytes16"
        case .bytes: "bytes"
        case .textBytes: "textBytes"
        case .textBytes16: "textBytes16"
        case .date: "date"
        case .time: "time"
        case .guid: "guid"
        case .number: "number"
        case .text: "text"
        case .dateTime(let form): "dateTime,\(form.separator == "T" ? "T" : "S"),\(form.fractionDigits),\(form.suffix)"
        }
    }

    /// Creates the form with a code.
    init?(code: some StringProtocol) {
        let simple: [WrittenForm] = [
            .integer, .real, .infinity, .bytes16, .bytes, .textBytes, .textBytes16, .date, .time, .guid, .number, .text,
        ]
        if let form = simple.first(where: { $0.code == code }) {
            self = form
            return
        }
        let parts = code.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "dateTime", let digits = Int(parts[2]) else { return nil }
        self = .dateTime(
            .init(separator: parts[1] == "T" ? "T" : " ", fractionDigits: digits, suffix: String(parts[3])))
    }

    /// The name of the form in a warning.
    var description: String {
        switch self {
        case .integer: "whole numbers"
        case .real: "numbers with a fraction"
        case .infinity: "infinite numbers"
        case .bytes16, .bytes, .textBytes, .textBytes16: "byte strings"
        case .date: "dates"
        case .time: "times"
        case .dateTime(let form):
            "dates and times like 2026-11-21\(form.separator)13:20:00"
                + (form.fractionDigits > 0 ? "." + String(repeating: "0", count: form.fractionDigits) : "")
                + form.suffix
        case .guid: "GUIDs"
        case .number: "numbers as text"
        case .text: "other text"
        }
    }
}
