import Foundation
import GRDB

/// Values of any storage class as strings: the form that ``ColumnCodec/anyText(_:)`` serves.
package enum AnyText {
    /// The text that a stored value is served as; `nil` for NULL and for bytes that are no UTF-8.
    package static func text(of stored: DatabaseValue) -> String? {
        switch stored.storage {
        case .null: nil
        case .int64(let number): String(number)
        case .double(let number): "\(number)"
        case .string(let text): text
        case .blob(let data): String(validating: data, as: UTF8.self)
        }
    }

    /// The number that is served as a text; `nil` for a text that no number is served as.
    static func number(servedAs text: String) -> DatabaseValue? {
        if let number = Int64(text) { return String(number).utf8.elementsEqual(text.utf8) ? number.databaseValue : nil }
        guard let number = Double(text), !number.isNaN, "\(number)".utf8.elementsEqual(text.utf8) else { return nil }
        return number.databaseValue
    }

    /// The value that a column of an affinity keeps for a text.
    ///
    /// - Returns: `nil` when the column would turn the text into a number that is served as another text.
    static func stored(_ text: String, in affinity: ColumnAffinity) -> DatabaseValue? {
        guard affinity == .numeric || affinity == .real, isNumber(text) else { return text.databaseValue }
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        var stored = Double(trimmed)?.databaseValue ?? text.databaseValue
        if affinity == .numeric {
            if let whole = Int64(trimmed) {
                stored = whole.databaseValue
            } else if let number = Double(trimmed), let whole = Int64(exactly: number), whole.magnitude < 1 << 51 {
                stored = whole.databaseValue
            }
        }
        return self.text(of: stored)?.utf8.elementsEqual(text.utf8) == true ? stored : nil
    }

    /// Whether SQLite takes a text for a number: digits with a sign, a point and an exponent, with spaces around.
    private static func isNumber(_ text: String) -> Bool {
        var rest = text.trimmingCharacters(in: .whitespacesAndNewlines).utf8[...]
        func digits() -> Int {
            let digits = rest.prefix { (48...57).contains($0) }
            rest = rest.dropFirst(digits.count)
            return digits.count
        }
        func sign() {
            if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        }
        sign()
        var count = digits()
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            count += digits()
        }
        guard count > 0 else { return false }
        if let letter = rest.first, letter == UInt8(ascii: "e") || letter == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            sign()
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}

/// The SQL functions of values that are served as strings whatever their storage class.
enum AnyTextFunctions {
    static let all: [DatabaseFunction] = [
        DatabaseFunction("outpost_any_text", argumentCount: 1, pure: true) { AnyText.text(of: $0[0]) },
        DatabaseFunction("outpost_number_served_as", argumentCount: 1, pure: true) { arguments in
            String.fromDatabaseValue(arguments[0]).flatMap(AnyText.number(servedAs:))
        },
        DatabaseFunction("outpost_text_bytes", argumentCount: 1, pure: true) { arguments in
            String.fromDatabaseValue(arguments[0]).map { Data($0.utf8) }
        },
    ]
}
