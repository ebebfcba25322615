import ODataModel

/// A condition of a ``Selection``.
///
/// ```swift
/// let test = QueryTest.any([.attribute("c.LastName", .like, "S%th"), .not(.attribute("c.City", .isNull))])
/// ```
///
/// A comparison is never unknown, as in OData: `notEqual` and the operators that deny a text hold for null, the other
/// comparisons with null do not hold.
public indirect enum QueryTest: Hashable, Sendable {
    /// An operator with its operands. `exists` and `notExists` have a query as their only operand, on the right;
    /// `isNull` and `notNull` have an operand on the left only.
    case test(QueryOperand?, QueryOperator, QueryOperand?)
    /// All tests hold; true if there are none.
    case all([QueryTest])
    /// At least one test holds; false if there are none.
    case any([QueryTest])
    /// The test does not hold.
    case not(QueryTest)
    /// The entity of a source is in a state, such as `hasPendingChanges`, by the name of the state function without its
    /// namespace. The alias can be left out if there is one source.
    case state(String, of: String?)
}

/// The twenty operators of tests.
public enum QueryOperator: String, Hashable, Sendable, CaseIterable {
    /// The value is null.
    case isNull
    /// The value is not null.
    case notNull
    /// Both values are equal, or both are null.
    case equal
    /// The values are not equal, or one of them is null.
    case notEqual
    /// A text matches a pattern, in which `%` stands for any characters and `_` for one character.
    case like
    /// A text does not match a pattern. The test holds for null.
    case notLike
    /// The left value is less than the right one.
    case lessThan
    /// The left value is less than or equal to the right one.
    case lessEqual
    /// The left value is greater than the right one.
    case greaterThan
    /// The left value is greater than or equal to the right one.
    case greaterEqual
    /// A text contains another one.
    case contains
    /// A text starts with another one.
    case startsWith
    /// A text ends with another one.
    case endsWith
    /// A text does not start with another one. The test holds for null.
    case notStartsWith
    /// A text does not end with another one. The test holds for null.
    case notEndsWith
    /// A text does not contain another one. The test holds for null.
    case notContains
    /// The value is in a list, or is the only column of a row of a query.
    case `in`
    /// The value is not in a list, and not the only column of a row of a query.
    case notIn
    /// A query has rows.
    case exists
    /// A query has no rows.
    case notExists
}

/// A value in a ``Selection``.
public indirect enum QueryOperand: Hashable, Sendable {
    /// An attribute of a source, also of a source of an enclosing query.
    case attribute(QueryAttribute)
    /// A constant. A text is read as a value of the type with which it is compared.
    case value(ODataValue)
    /// Constants for ``QueryOperator/in`` and ``QueryOperator/notIn``.
    case list([ODataValue])
    /// An aggregate of the rows of a group; the attribute is `nil` for the number of rows.
    case aggregate(QueryAggregate, of: QueryAttribute?)
    /// The only column of another query, which may refer to the sources of this query. The value is null if the query
    /// has no rows, and an error if it has several. In tests with `in` and `exists`, it has any number of rows.
    case selection(Selection)
}

/// An attribute of a source: `c.City`, or `c.Customer/City` through relations to one entity and complex values.
///
/// ```swift
/// let city: QueryAttribute = "c.City"
/// ```
public struct QueryAttribute: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The alias of the source; `nil` for the only source that has the attribute.
    public var alias: String?
    /// The names of the path; the last one is that of the attribute. A name with a dot is a type cast.
    public var path: [String]

    /// Creates the attribute of a source.
    public init(alias: String?, path: [String]) {
        self.alias = alias
        self.path = path
    }

    /// Creates an attribute from its text: the alias and a dot, unless the text starts with a name of the path, and the
    /// path with slashes.
    public init(_ text: String) {
        let first = text.prefix { $0 != "/" }
        if let dot = first.firstIndex(of: ".") {
            let before = String(first[..<dot])
            alias = before.isEmpty ? nil : before
            path = Self.names(text[text.index(after: dot)...])
        } else {
            alias = nil
            path = Self.names(text[...])
        }
    }

    /// Creates an attribute from its text.
    public init(stringLiteral value: String) { self.init(value) }

    private static func names(_ text: Substring) -> [String] {
        text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }

    /// The text, from which ``init(_:)`` reads the same attribute.
    public var description: String {
        let text = path.joined(separator: "/")
        if let alias { return "\(alias).\(text)" }
        return path.first?.contains(".") == true ? ".\(text)" : text
    }
}

/// The aggregates. Nulls do not count.
public enum QueryAggregate: String, Hashable, Sendable, CaseIterable {
    /// The number of values, or of rows; an integer.
    case count
    /// The greatest value of texts, bytes, numbers, dates and times.
    case maximum = "max"
    /// The least value of texts, bytes, numbers, dates and times.
    case minimum = "min"
    /// The sum of numbers; null if there are none. The sum of integers is an `Edm.Int64`.
    case sum
    /// The mean of numbers; null if there are none. The mean of integers is an `Edm.Decimal`.
    case average
}
