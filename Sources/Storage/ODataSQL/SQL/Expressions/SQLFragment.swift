import Foundation
import GRDB
import ODataModel
import ODataQuery

/// SQL text with its bound values, in order.
///
/// Only literals of this program become text. An interpolation accepts other fragments, values (which become `?`)
/// and names (which are quoted), so that no value can become part of the text.
///
/// ```swift
/// let condition: SQLFragment = "\(column: "Freight", of: "t0") > \(bind: 10.databaseValue)"
/// ```
package struct SQLFragment: ExpressibleByStringInterpolation, Sendable {
    package private(set) var sql: String
    /// The values of the question marks.
    package private(set) var arguments: [DatabaseValue] = []
    /// The values that come directly from literals of the request, in order.
    private(set) var origins: [Origin] = []

    package init(stringLiteral value: String) { sql = value }

    /// Creates a fragment from a single value.
    package init(bind value: DatabaseValue) {
        let text = Self.textWithZero(value)
        sql = text == nil ? "?" : Self.textOfBytes
        arguments = [text.map { Data($0.utf8).databaseValue } ?? value]
    }

    /// The SQL for a text that is bound as bytes.
    fileprivate static let textOfBytes = "CAST(? AS TEXT)"

    /// Returns a text that contains U+0000. GRDB would bind it only up to this character, so that it is bound as
    /// bytes.
    fileprivate static func textWithZero(_ value: DatabaseValue) -> String? {
        guard case .string(let text) = value.storage, text.utf8.contains(0) else { return nil }
        return text
    }

    /// Creates a quoted column name after its qualifier.
    init(column: String, behind qualifier: String) {
        let quote = UInt8(ascii: "\"")
        guard !Self.hasQuote(column) else {
            sql = qualifier + column.doubling(quote) + "\""
            return
        }
        // The string is created in one step, because this runs for every column of every statement.
        sql = String(unsafeUninitializedCapacity: qualifier.utf8.count + column.utf8.count + 1) { buffer in
            var count = buffer.initialize(fromContentsOf: qualifier.utf8)
            count = buffer[count...].initialize(fromContentsOf: column.utf8)
            buffer[count] = quote
            return count + 1
        }
    }

    /// Returns whether a name contains a quote. It searches the bytes directly, because this runs for every name of
    /// every statement.
    private static func hasQuote(_ name: String) -> Bool {
        let quote = UInt8(ascii: "\"")
        return name.utf8.withContiguousStorageIfAvailable { $0.contains(quote) } ?? name.utf8.contains(quote)
    }

    package init(stringInterpolation: Interpolation) {
        sql = stringInterpolation.sql
        arguments = stringInterpolation.arguments
        origins = stringInterpolation.origins
    }

    /// The origin of a bound value.
    struct Origin: Sendable {
        /// The conversions of a literal to the bound value.
        enum Rule: Sendable {
            /// The value in a type and in the form of a codec, which represents it exactly.
            case value(TypeReference, ColumnCodec)
            /// The end of the range of strings that start with the literal.
            case endOfPrefix
        }

        /// The index of the bound value.
        var position: Int
        /// The index among the literals of the request.
        var literal: Int
        var rule: Rule

        /// Returns the bound value for another literal; `nil` if it requires different SQL.
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

    /// Returns the same SQL for other literals; `nil` if they require different SQL.
    func with(_ literals: [ODataValue], _ model: EntityDataModel) -> SQLFragment? {
        if origins.isEmpty { return self }
        var result = self
        for origin in origins {
            guard let value = origin.value(of: literals[origin.literal], model) else { return nil }
            result.arguments[origin.position] = value
        }
        return result
    }

    /// The collected text and values of an interpolation.
    package struct Interpolation: StringInterpolationProtocol {
        var sql = ""
        var arguments: [DatabaseValue] = []
        var origins: [Origin] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            // Each interpolation is assumed to be a comparison or a qualified column. Growing the string later
            // would copy its content.
            sql.reserveCapacity(literalCapacity + 48 * interpolationCount)
        }

        package mutating func appendLiteral(_ literal: String) { sql += literal }

        package mutating func appendInterpolation(_ fragment: SQLFragment) {
            sql += fragment.sql
            if fragment.arguments.isEmpty { return }
            if arguments.isEmpty {
                // In most cases, one part has all values, which are then shared instead of copied.
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

        /// Binds a value that was converted from a literal of the request.
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

    /// Returns the origins after a number of preceding values.
    fileprivate func origins(from start: Int) -> [Origin] {
        if origins.isEmpty || start == 0 { return origins }
        return origins.map { Origin(position: $0.position + start, literal: $0.literal, rule: $0.rule) }
    }

    /// Returns conditions joined by AND, each in parentheses; empty if there are none.
    package static func conjunction(_ conditions: [SQLFragment]) -> SQLFragment {
        "\(list: conditions.map { "(\($0))" }, by: " AND ")"
    }

    /// Returns conditions joined by OR, in parentheses. SQLite parses a chain as a tree of the same depth and
    /// refuses more than 1000 levels, so that long chains are split in halves.
    package static func disjunction(_ conditions: ArraySlice<SQLFragment>) -> SQLFragment {
        guard conditions.count > maxChain else { return "(\(list: Array(conditions), by: " OR "))" }
        let middle = conditions.startIndex + conditions.count / 2
        return "(\(disjunction(conditions[..<middle])) OR \(disjunction(conditions[middle...])))"
    }

    /// The maximum number of conditions in a chain.
    private static let maxChain = 32
}
