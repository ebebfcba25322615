import Foundation
import GRDB
import ODataModel

/// Literal default values of columns. Only SQLite can evaluate other expressions.
enum DefaultLiteral {
    /// Returns the default value in the lexical form of the property's type. The result is `nil` for
    /// expressions, NULL and values of another type.
    static func lexical(_ expression: String, choice: ColumnChoice, model: EntityDataModel) -> String? {
        guard let stored = stored(expression), !stored.isNull,
            let value = try? choice.codec.decode(stored, as: .primitive(choice.type), in: model)
        else { return nil }
        if case .string(let text) = value { return text }
        return value.lexicalText
    }

    /// Returns whether the default value is a NULL literal.
    static func isNull(_ expression: String) -> Bool { stored(expression)?.isNull ?? false }

    /// Returns the stored value of a literal; `nil` for other expressions.
    static func stored(_ expression: String) -> DatabaseValue? {
        var text = expression.trimmingCharacters(in: .whitespacesAndNewlines)
        while text.hasPrefix("("), text.hasSuffix(")") {
            text = text.dropFirst().dropLast().trimmingCharacters(in: .whitespacesAndNewlines)
        }
        switch text.uppercased() {
        case "NULL": return .null
        case "TRUE": return 1.databaseValue
        case "FALSE": return 0.databaseValue
        default: break
        }
        if text.utf8.count >= 2, let quote = text.utf8.first, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\""),
            text.utf8.last == quote
        {
            let inner = String(Substring(text.utf8.dropFirst().dropLast()))
            let bare = inner.undoubling(quote)
            guard bare.doubling(quote) == inner else { return nil }
            return bare.databaseValue
        }
        if let number = Int64(text) { return number.databaseValue }
        guard text.allSatisfy({ "0123456789+-.eE".contains($0) }) else { return nil }
        return Double(text).map(\.databaseValue)
    }
}
