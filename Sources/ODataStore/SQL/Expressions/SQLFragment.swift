import GRDB

/// A piece of SQL with the values bound in it, in order.
///
/// It is made from literals of this program alone: interpolation takes other fragments, values (which become
/// `?`) and names (which are quoted), and nothing else, so that no value can get into the text.
///
/// ```swift
/// let condition: SQLFragment = "\(column: "Freight", of: "t0") > \(bind: 10.databaseValue)"
/// ```
struct SQLFragment: ExpressibleByStringInterpolation, Sendable {
    /// The text.
    private(set) var sql: String
    /// The values of its question marks.
    private(set) var arguments: [DatabaseValue] = []

    init(stringLiteral value: String) { sql = value }

    init(stringInterpolation: Interpolation) {
        sql = stringInterpolation.sql
        arguments = stringInterpolation.arguments
    }

    /// Collects text and values.
    struct Interpolation: StringInterpolationProtocol {
        var sql = ""
        var arguments: [DatabaseValue] = []

        init(literalCapacity: Int, interpolationCount: Int) { sql.reserveCapacity(literalCapacity + 16) }

        mutating func appendLiteral(_ literal: String) { sql += literal }

        mutating func appendInterpolation(_ fragment: SQLFragment) {
            sql += fragment.sql
            arguments += fragment.arguments
        }

        mutating func appendInterpolation(bind value: DatabaseValue) {
            sql += "?"
            arguments.append(value)
        }

        mutating func appendInterpolation(name: String) { appendQuoted(name) }

        mutating func appendInterpolation(column: String, of alias: String) {
            appendQuoted(alias)
            sql += "."
            appendQuoted(column)
        }

        fileprivate mutating func appendQuoted(_ name: String) {
            sql += "\""
            // Looked for byte by byte: names are appended for every column of every statement.
            sql += name.utf8.contains(UInt8(ascii: "\"")) ? name.replacing("\"", with: "\"\"") : name
            sql += "\""
        }

        mutating func appendInterpolation(list: [SQLFragment], by separator: String = ", ") {
            for (index, fragment) in list.enumerated() {
                if index > 0 { sql += separator }
                appendInterpolation(fragment)
            }
        }
    }

    /// A name in double quotes, with those inside it doubled.
    static func quoted(_ name: String) -> String {
        var text = Interpolation(literalCapacity: name.utf8.count, interpolationCount: 0)
        text.appendQuoted(name)
        return text.sql
    }

    static func += (left: inout SQLFragment, right: SQLFragment) {
        left.sql += right.sql
        left.arguments += right.arguments
    }

    /// Conditions joined by AND, each in parentheses; empty for none.
    static func conjunction(_ conditions: [SQLFragment]) -> SQLFragment {
        "\(list: conditions.map { "(\($0))" }, by: " AND ")"
    }
}
