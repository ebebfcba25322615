import ODataModel

/// An expression of `$filter`, `$orderby`, `$compute` and parameters as it was written, names not yet
/// resolved (OData URL Conventions 4.01, 5.1.1). The binder resolves it against a model.
public indirect enum CommonExpression: Hashable, Sendable {
    /// A literal with its value.
    case literal(Literal)
    /// A path from the current instance: properties, casts, `$count`, lambdas at its end.
    case path([PathStep])
    /// A parameter alias, name without `@`.
    case alias(Identifier)
    /// A unary operator with its operand.
    case unary(UnaryOperator, CommonExpression)
    /// A binary operator with both operands.
    case binary(BinaryOperator, CommonExpression, CommonExpression)
    /// `operand in (…)` or `operand in collection`.
    case membership(CommonExpression, in: CommonExpression)
    /// A function call: a canonical function's name, or a qualified name.
    case call(Identifier, [CommonExpression])
    /// A call of a bound or unbound function with named parameters.
    case namedCall(Identifier, [NamedArgument])
    /// `cast(operand, type)` or `isof(operand, type)`; no operand means the current instance.
    case typeTest(TypeTest, CommonExpression?, Identifier)
    /// A list in parentheses or brackets.
    case list([CommonExpression])
    /// A JSON object as the value of a parameter, as raw text.
    case json(String)

    /// Which of the two functions that take a type.
    public enum TypeTest: String, Hashable, Sendable {
        /// `cast`.
        case cast
        /// `isof`.
        case isOf = "isof"
    }

    /// A parameter with its name.
    public struct NamedArgument: Hashable, Sendable {
        /// The name.
        public var name: Identifier
        /// The value.
        public var value: CommonExpression

        /// Makes an argument.
        public init(name: Identifier, value: CommonExpression) {
            self.name = name
            self.value = value
        }
    }
}

/// One step of a path within an expression.
public indirect enum PathStep: Hashable, Sendable {
    /// A property, a range variable at the start, a qualified type name (which has a dot), or an annotation
    /// with its `@`.
    case name(Identifier)
    /// `$it`, `$this`, `$root`, `$these` or an alias with its `@` at the start.
    case variable(Identifier)
    /// `$count`, optionally with `$filter` and `$search` in parentheses.
    case count(filter: CommonExpression?, search: SearchExpression?)
    /// `any(x:predicate)`; no predicate asks for any member at all.
    case any(variable: Identifier?, predicate: CommonExpression?)
    /// `all(x:predicate)`.
    case all(variable: Identifier, predicate: CommonExpression)
    /// A key in parentheses after a collection, as `$root/Orders(1)/Freight`.
    case key(KeyPredicate)
    /// A bound function call.
    case call(Identifier, [CommonExpression.NamedArgument])
    /// `$filter(…)` on a collection.
    case filter(CommonExpression)
    /// `aggregate(…)` of a collection, or of `$these` (OData Data Aggregation 4.0, 6.2.5).
    case aggregate(AggregateItem)
}

/// A literal with the value it stands for.
public struct Literal: Hashable, Sendable {
    /// The value; enumerations keep their text in ``enumeration`` until bound.
    public var value: ODataValue
    /// The type that the syntax itself tells; `nil` for null and numbers that fit several types.
    public var type: PrimitiveType?
    /// An enumeration literal's qualified type (empty when left out in 4.01) and members text.
    public var enumeration: EnumerationText?
    /// The offset of the first character; `nil` when made in code.
    public var offset: Int?

    /// An enumeration literal before it is bound.
    public struct EnumerationText: Hashable, Sendable {
        /// The type's qualified name.
        public var type: String
        /// The members, comma-separated.
        public var members: String

        /// Makes an enumeration literal.
        public init(type: String, members: String) {
            self.type = type
            self.members = members
        }

        /// Equal when the bytes of both texts are.
        public static func == (left: EnumerationText, right: EnumerationText) -> Bool {
            left.type.isIdentical(inUTF8To: right.type) && left.members.isIdentical(inUTF8To: right.members)
        }
    }

    /// Makes a literal.
    public init(
        _ value: ODataValue, type: PrimitiveType? = nil, enumeration: EnumerationText? = nil, at offset: Int? = nil
    ) {
        self.value = value
        self.type = type
        self.enumeration = enumeration
        self.offset = offset
    }

    /// Equal when the value is, wherever it stands; texts byte for byte, and numbers with their sign of zero and their zeros
    /// behind the point, since a query with another one has another result.
    public static func == (left: Literal, right: Literal) -> Bool {
        left.value.isWritten(like: right.value) && left.type == right.type && left.enumeration == right.enumeration
    }

    /// Hashes the value.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(value)
        hasher.combine(enumeration)
    }
}

/// The unary operators.
public enum UnaryOperator: String, Hashable, Sendable {
    /// Logical negation.
    case not
    /// Arithmetic negation.
    case negate = "-"
}

/// The binary operators (OData URL Conventions 4.01, 5.1.1.1 and 5.1.1.2).
public enum BinaryOperator: String, Hashable, Sendable, CaseIterable {
    /// Logical or.
    case or
    /// Logical and.
    case and
    /// Equal.
    case equal = "eq"
    /// Not equal.
    case notEqual = "ne"
    /// Less than.
    case less = "lt"
    /// Less than or equal.
    case lessOrEqual = "le"
    /// Greater than.
    case greater = "gt"
    /// Greater than or equal.
    case greaterOrEqual = "ge"
    /// Has the flags.
    case has
    /// Addition.
    case add
    /// Subtraction.
    case subtract = "sub"
    /// Multiplication.
    case multiply = "mul"
    /// Division; of whole numbers, whole.
    case divide = "div"
    /// Division; of whole numbers, decimal.
    case divideBy = "divby"
    /// Remainder.
    case modulo = "mod"

    /// How tightly the operator binds; more is tighter (5.1.1.9 *Operator Precedence*).
    public var precedence: Int {
        switch self {
        case .or: 1
        case .and: 2
        case .equal, .notEqual: 3
        case .less, .lessOrEqual, .greater, .greaterOrEqual: 4
        case .add, .subtract: 5
        case .multiply, .divide, .divideBy, .modulo: 6
        case .has: 8
        }
    }
}
