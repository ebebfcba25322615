import ODataModel

/// A part of a query that Swift's operators combine: a thin wrapper around ``CommonExpression``.
///
/// ```swift
/// let condition: QueryExpression = .property("Freight") > 50 && .property("ShipCity").startsWith("B")
/// ```
///
/// Comparisons give expressions, not Booleans; that is why the wrapper is not `Equatable` (compare
/// ``expression`` instead).
public struct QueryExpression: Sendable {
    /// The syntax tree.
    public var expression: CommonExpression

    /// Wraps a syntax tree.
    public init(_ expression: CommonExpression) { self.expression = expression }

    /// A value as a literal.
    ///
    /// Every kind of ``/ODataModel/ODataValue`` but complex ones has a literal form in URLs; an enumeration value
    /// is written as ``enumeration(_:_:)`` says it.
    public static func value(_ value: ODataValue) -> QueryExpression {
        if case .collection(let members) = value {
            return QueryExpression(.list(members.map { QueryExpression.value($0).expression }))
        }
        return QueryExpression(.literal(Literal(value, type: value.primitiveType)))
    }

    /// An enumeration value by its members' names, separated by commas.
    ///
    /// - Parameters:
    ///   - type: the qualified name of the type.
    ///   - members: the members.
    public static func enumeration(_ type: String, _ members: String) -> QueryExpression {
        QueryExpression(.literal(Literal(.string(members), enumeration: .init(type: type, members: members))))
    }

    /// A property by its path from the current instance, steps separated by slashes: `Customer/Country`. The first
    /// step may be a range variable, `$it` or `$this`; a step with a dot is a type cast.
    public static func property(_ path: String) -> QueryExpression {
        QueryExpression(.path(steps(path)))
    }

    /// The current instance itself, `$it`.
    public static var it: QueryExpression { property("$it") }

    /// A parameter alias, name without `@`; ``ResourceQuery/alias(_:_:)`` gives it a value.
    public static func alias(_ name: String) -> QueryExpression { QueryExpression(.alias(Identifier(name))) }

    /// A canonical function with its arguments (OData URL Conventions 4.01, 5.1.1.4 to 5.1.1.13).
    public static func function(_ function: CanonicalFunction, _ arguments: QueryExpression...) -> QueryExpression {
        QueryExpression(.call(Identifier(function.rawValue), arguments.map(\.expression)))
    }

    /// A path of names as steps.
    static func steps(_ path: String) -> [PathStep] {
        path.split(separator: "/", omittingEmptySubsequences: false).enumerated().map { index, step in
            let name = Identifier(String(step))
            if step == "$count" { return .count(filter: nil, search: nil) }
            return index == 0 && (step.hasPrefix("$") || step.hasPrefix("@")) ? .variable(name) : .name(name)
        }
    }

    /// The path with steps after it; an expression that is no path gives itself.
    func appending(_ steps: PathStep...) -> QueryExpression {
        guard case .path(let path) = expression else { return self }
        return QueryExpression(.path(path + steps))
    }
}

extension QueryExpression: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    /// A string literal.
    public init(stringLiteral value: String) { self = .value(.string(value)) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .value(.integer(value)) }
    /// A number with a fraction. It becomes a decimal where its shortest form is one, since that is what was
    /// written; else a double.
    public init(floatLiteral value: Double) {
        self = .value(ODataDecimal(value.description).map(ODataValue.decimal) ?? .double(value))
    }
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .value(.boolean(value)) }
    /// `null`.
    public init(nilLiteral: ()) { self = .value(.null) }
}
