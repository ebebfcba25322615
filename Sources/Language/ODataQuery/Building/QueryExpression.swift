import ODataModel

/// A part of a query that Swift operators can combine: a wrapper around ``CommonExpression``.
///
/// ```swift
/// let condition: QueryExpression = .property("Freight") > 50 && .property("ShipCity").startsWith("B")
/// ```
///
/// Comparisons return expressions instead of Booleans. The wrapper is therefore not `Equatable`: compare
/// ``expression``.
public struct QueryExpression: Sendable {
    /// The syntax tree.
    public var expression: CommonExpression

    /// Wraps a syntax tree.
    public init(_ expression: CommonExpression) { self.expression = expression }

    /// Returns a value as a literal.
    ///
    /// Every kind of ``/ODataModel/ODataValue`` except complex values has a literal form in URLs. For enumeration
    /// values use ``enumeration(_:_:)``.
    public static func value(_ value: ODataValue) -> QueryExpression {
        if case .collection(let members) = value {
            return QueryExpression(.list(members.map { QueryExpression.value($0).expression }))
        }
        return QueryExpression(.literal(Literal(value, type: value.primitiveType)))
    }

    /// Returns an enumeration value with the names of its members.
    ///
    /// - Parameters:
    ///   - type: the qualified name of the type.
    ///   - members: the members, separated by commas.
    public static func enumeration(_ type: String, _ members: String) -> QueryExpression {
        QueryExpression(.literal(Literal(.string(members), enumeration: .init(type: type, members: members))))
    }

    /// Returns a property by its path from the current instance, such as `Customer/Country`.
    ///
    /// The first step may be a range variable, `$it` or `$this`. A step with a dot is a type cast.
    public static func property(_ path: String) -> QueryExpression {
        QueryExpression(.path(steps(path)))
    }

    /// The current instance (`$it`).
    public static var it: QueryExpression { property("$it") }

    /// Returns a parameter alias, whose name has no `@` here. ``ResourceQuery/alias(_:_:)`` sets its value.
    public static func alias(_ name: String) -> QueryExpression { QueryExpression(.alias(Identifier(name))) }

    /// Calls a canonical function (OData URL Conventions 4.01, 5.1.1.4 to 5.1.1.13).
    public static func function(_ function: CanonicalFunction, _ arguments: QueryExpression...) -> QueryExpression {
        QueryExpression(.call(Identifier(function.rawValue), arguments.map(\.expression)))
    }

    /// Splits a path of names into steps.
    static func steps(_ path: String) -> [PathStep] {
        path.split(separator: "/", omittingEmptySubsequences: false).enumerated().map { index, step in
            let name = Identifier(String(step))
            if step == "$count" { return .count(filter: nil, search: nil) }
            return index == 0 && (step.hasPrefix("$") || step.hasPrefix("@")) ? .variable(name) : .name(name)
        }
    }

    /// Appends steps to a path; other expressions are returned unchanged.
    func appending(_ steps: PathStep...) -> QueryExpression {
        guard case .path(let path) = expression else { return self }
        return QueryExpression(.path(path + steps))
    }
}

extension QueryExpression: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    /// Creates a string literal.
    public init(stringLiteral value: String) { self = .value(.string(value)) }
    /// Creates an integer literal.
    public init(integerLiteral value: Int64) { self = .value(.integer(value)) }
    /// Creates a literal of a number with a fraction: a decimal if the shortest notation of the number is one, else
    /// a double.
    public init(floatLiteral value: Double) {
        self = .value(ODataDecimal(value.description).map(ODataValue.decimal) ?? .double(value))
    }
    /// Creates the literal `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .value(.boolean(value)) }
    /// Creates the literal `null`.
    public init(nilLiteral: ()) { self = .value(.null) }
}
