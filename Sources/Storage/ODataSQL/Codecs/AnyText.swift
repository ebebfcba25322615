import Foundation
import GRDB

/// The string form of values of any storage class, which ``ColumnCodec/anyText(_:)`` uses.
package enum AnyText {
    /// Returns the text of a stored value; `nil` for NULL and for bytes that are not valid UTF-8.
    package static func text(of stored: DatabaseValue) -> String? {
        switch stored.storage {
        case .null: nil
        case .int64(let number): String(number)
        case .double(let number): "\(number)"
        case .string(let text): text
        case .blob(let data): String(validating: data, as: UTF8.self)
        }
    }

    /// Returns the number with this text; `nil` if the text is not the canonical form of a number.
    static func number(servedAs text: String) -> DatabaseValue? {
        if let number = Int64(text) { return String(number).utf8.elementsEqual(text.utf8) ? number.databaseValue : nil }
        guard let number = Double(text), !number.isNaN, "\(number)".utf8.elementsEqual(text.utf8) else { return nil }
        return number.databaseValue
    }

    /// Returns the value that a column of the given affinity stores for a text.
    ///
    /// - Returns: `nil` if the column would convert the text to a number with a different text.
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

    /// Returns whether SQLite reads a text as a number: digits with an optional sign, point and exponent, and
    /// surrounding spaces.
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

/// The SQL functions for values that are strings to clients, whatever their storage class.
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
