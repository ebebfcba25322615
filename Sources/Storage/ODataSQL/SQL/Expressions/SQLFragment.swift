import Foundation
import GRDB
import ODataModel
import ODataQuery

/// A piece of SQL with the values bound in it, in order.
///
/// It is made from literals of this program alone: interpolation takes other fragments, values (which become
/// `?`) and names (which are quoted), and nothing else, so that no value can get into the text.
///
/// ```swift
/// let condition: SQLFragment = "\(column: "Freight", of: "t0") > \(bind: 10.databaseValue)"
/// ```
package struct SQLFragment: ExpressibleByStringInterpolation, Sendable {
    /// The text.
    package private(set) var sql: String
    /// The values of its question marks.
    package private(set) var arguments: [DatabaseValue] = []
    /// Which of the values come straight from literals of the request, in order.
    private(set) var origins: [Origin] = []

    package init(stringLiteral value: String) { sql = value }

    /// A value alone.
    package init(bind value: DatabaseValue) {
        let text = Self.textWithZero(value)
        sql = text == nil ? "?" : Self.textOfBytes
        arguments = [text.map { Data($0.utf8).databaseValue } ?? value]
    }

    /// What stands for a text that goes as its bytes.
    fileprivate static let textOfBytes = "CAST(? AS TEXT)"

    /// GRDB binds a text up to its first U+0000: one that has such goes as bytes.
    fileprivate static func textWithZero(_ value: DatabaseValue) -> String? {
        guard case .string(let text) = value.storage, text.utf8.contains(0) else { return nil }
        return text
    }

    /// A column's name in quotes, behind what qualifies it.
    init(column: String, behind qualifier: String) {
        let quote = UInt8(ascii: "\"")
        guard !Self.hasQuote(column) else {
            sql = qualifier + column.doubling(quote) + "\""
            return
        }
        // Made at once: every column of every statement comes by here.
        sql = String(unsafeUninitializedCapacity: qualifier.utf8.count + column.utf8.count + 1) { buffer in
            var count = buffer.initialize(fromContentsOf: qualifier.utf8)
            count = buffer[count...].initialize(fromContentsOf: column.utf8)
            buffer[count] = quote
            return count + 1
        }
    }

    /// Looked for in the bytes where they lie: every name of every statement comes by here.
    private static func hasQuote(_ name: String) -> Bool {
        let quote = UInt8(ascii: "\"")
        return name.utf8.withContiguousStorageIfAvailable { $0.contains(quote) } ?? name.utf8.contains(quote)
    }

    package init(stringInterpolation: Interpolation) {
        sql = stringInterpolation.sql
        arguments = stringInterpolation.arguments
        origins = stringInterpolation.origins
    }

    /// Where a bound value comes from.
    struct Origin: Sendable {
        /// How a literal becomes the value.
        enum Rule: Sendable {
            /// As a value of a type in the form of a codec, which holds it exactly.
            case value(TypeReference, ColumnCodec)
            /// As the end of the range of strings that start with it.
            case endOfPrefix
        }

        /// The index of the bound value.
        var position: Int
        /// The index of the literal among those of the request.
        var literal: Int
        var rule: Rule

        /// What another literal becomes; `nil` where it asks for other SQL.
        func value(of literal: ODataValue, _ model: EntityDataModel) -> DatabaseValue? {
            guard let value = stored(literal, model), SQLFragment.textWithZero(value) == nil else { return nil }
            return value
        }

        private func stored(_ literal: ODataValue, _ model: EntityDataModel) -> DatabaseValue? {
            switch rule {
            case .value(let type, let codec):
                guard let value = TypePromotion.adapt(literal, to: type, model: model),
                    case .exact(let stored) = ComparisonForm.of(value, in: codec)
                else { return nil }
                return stored
            case .endOfPrefix:
                guard case .string(let prefix) = literal else { return nil }
                return ExpressionCompiler.successor(of: prefix)?.databaseValue
            }
        }
    }

    /// The same SQL for other literals; `nil` where they ask for other SQL.
    func with(_ literals: [ODataValue], _ model: EntityDataModel) -> SQLFragment? {
        if origins.isEmpty { return self }
        var result = self
        for origin in origins {
            guard let value = origin.value(of: literals[origin.literal], model) else { return nil }
            result.arguments[origin.position] = value
        }
        return result
    }

    /// Collects text and values.
    package struct Interpolation: StringInterpolationProtocol {
        var sql = ""
        var arguments: [DatabaseValue] = []
        var origins: [Origin] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            // A comparison, or a column with its qualifier, for each: growing copies what is there.
            sql.reserveCapacity(literalCapacity + 48 * interpolationCount)
        }

        package mutating func appendLiteral(_ literal: String) { sql += literal }

        package mutating func appendInterpolation(_ fragment: SQLFragment) {
            sql += fragment.sql
            if fragment.arguments.isEmpty { return }
            if arguments.isEmpty {
                // Mostly one part has all the values, which are then shared.
                (arguments, origins) = (fragment.arguments, fragment.origins)
                return
            }
            if !fragment.origins.isEmpty { origins += fragment.origins(from: arguments.count) }
            arguments += fragment.arguments
        }

        package mutating func appendInterpolation(bind value: DatabaseValue) {
            let text = SQLFragment.textWithZero(value)
            sql += text == nil ? "?" : SQLFragment.textOfBytes
            arguments.append(text.map { Data($0.utf8).databaseValue } ?? value)
        }

        /// Binds a value that a literal of the request has become.
        mutating func appendInterpolation(bind value: DatabaseValue, literal: Int?, _ rule: Origin.Rule) {
            if let literal, SQLFragment.textWithZero(value) == nil {
                origins.append(Origin(position: arguments.count, literal: literal, rule: rule))
            }
            appendInterpolation(bind: value)
        }

        package mutating func appendInterpolation(name: String) { appendQuoted(name) }

        package mutating func appendInterpolation(column: String, of alias: String) {
            appendQuoted(alias)
            sql += "."
            appendQuoted(column)
        }

        private mutating func appendQuoted(_ name: String) { sql += name.sqlIdentifier }

        package mutating func appendInterpolation(list: [SQLFragment], by separator: String = ", ") {
            for (index, fragment) in list.enumerated() {
                if index > 0 { sql += separator }
                appendInterpolation(fragment)
            }
        }
    }

    package static func += (left: inout SQLFragment, right: SQLFragment) {
        left.sql += right.sql
        left.origins += right.origins(from: left.arguments.count)
        left.arguments += right.arguments
    }

    /// The origins of values that stand behind others.
    fileprivate func origins(from start: Int) -> [Origin] {
        if origins.isEmpty || start == 0 { return origins }
        return origins.map { Origin(position: $0.position + start, literal: $0.literal, rule: $0.rule) }
    }

    /// Conditions joined by AND, each in parentheses; empty for none.
    package static func conjunction(_ conditions: [SQLFragment]) -> SQLFragment {
        "\(list: conditions.map { "(\($0))" }, by: " AND ")"
    }

    /// Conditions joined by OR, in parentheses. SQLite takes a chain for a tree as deep as the chain is long, and refuses
    /// one of more than 1000 levels: long ones are halved.
    package static func disjunction(_ conditions: ArraySlice<SQLFragment>) -> SQLFragment {
        guard conditions.count > maxChain else { return "(\(list: Array(conditions), by: " OR "))" }
        let middle = conditions.startIndex + conditions.count / 2
        return "(\(disjunction(conditions[..<middle])) OR \(disjunction(conditions[middle...])))"
    }

    /// How many conditions stand beside each other.
    private static let maxChain = 32
}
