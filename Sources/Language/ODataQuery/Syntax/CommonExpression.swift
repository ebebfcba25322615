import ODataModel

/// An expression of `$filter`, `$orderby`, `$compute` or a parameter, with unresolved names (OData URL Conventions
/// 4.01, 5.1.1). The binder resolves it against a model.
public indirect enum CommonExpression: Hashable, Sendable {
    /// A literal with its value.
    case literal(Literal)
    /// A path from the current instance: properties, casts, `$count`, lambdas at its end.
    case path([PathStep])
    /// A parameter alias; its name has no `@`.
    case alias(Identifier)
    /// A unary operator with its operand.
    case unary(UnaryOperator, CommonExpression)
    /// A binary operator with both operands.
    case binary(BinaryOperator, CommonExpression, CommonExpression)
    /// `operand in (…)` or `operand in collection`.
    case membership(CommonExpression, in: CommonExpression)
    /// A call of a canonical function, or of a function with a qualified name.
    case call(Identifier, [CommonExpression])
    /// A call of a bound or unbound function with named parameters.
    case namedCall(Identifier, [NamedArgument])
    /// `cast(operand, type)` or `isof(operand, type)`; an operand of `nil` means the current instance.
    case typeTest(TypeTest, CommonExpression?, Identifier)
    /// A list in parentheses or brackets.
    case list([CommonExpression])
    /// A JSON object as the value of a parameter, as raw text.
    case json(String)

    /// The functions with a type argument.
    public enum TypeTest: String, Hashable, Sendable {
        /// The function `cast`.
        case cast
        /// The function `isof`.
        case isOf = "isof"
    }

    /// A parameter with its name.
    public struct NamedArgument: Hashable, Sendable {
        /// The name.
        public var name: Identifier
        /// The value.
        public var value: CommonExpression

        /// Creates an argument.
        public init(name: Identifier, value: CommonExpression) {
            self.name = name
            self.value = value
        }
    }
}

/// A step of a path within an expression.
public indirect enum PathStep: Hashable, Sendable {
    /// A property, a range variable at the start, a qualified type name (which has a dot), or an annotation with
    /// its `@`.
    case name(Identifier)
    /// `$it`, `$this`, `$root`, `$these` or an alias with its `@` at the start.
    case variable(Identifier)
    /// `$count`, optionally with `$filter` and `$search` in parentheses.
    case count(filter: CommonExpression?, search: SearchExpression?)
    /// `any(x:predicate)`; a predicate of `nil` tests whether there are members.
    case any(variable: Identifier?, predicate: CommonExpression?)
    /// `all(x:predicate)`.
    case all(variable: Identifier, predicate: CommonExpression)
    /// A key in parentheses after a collection, as in `$root/Orders(1)/Freight`.
    case key(KeyPredicate)
    /// A bound function call.
    case call(Identifier, [CommonExpression.NamedArgument])
    /// `$filter(…)` on a collection.
    case filter(CommonExpression)
    /// `aggregate(…)` over a collection or over `$these` (OData Data Aggregation 4.0, 6.2.5).
    case aggregate(AggregateItem)
}

/// A literal with its value.
public struct Literal: Hashable, Sendable {
    /// The value; an enumeration literal has its text in ``enumeration`` until it is bound.
    public var value: ODataValue
    /// The type that the syntax determines; `nil` for null and for numbers that fit several types.
    public var type: PrimitiveType?
    /// The qualified type and members of an enumeration literal. The type is empty if it is omitted, as 4.01
    /// allows.
    public var enumeration: EnumerationText?
    /// The offset of the first character; `nil` for a literal built in code.
    public var offset: Int?

    /// An enumeration literal before it is bound.
    public struct EnumerationText: Hashable, Sendable {
        /// The qualified name of the type.
        public var type: String
        /// The members, separated by commas.
        public var members: String

        /// Creates the text of an enumeration literal.
        public init(type: String, members: String) {
            self.type = type
            self.members = members
        }

        /// Returns whether the bytes of both texts are equal.
        public static func == (left: EnumerationText, right: EnumerationText) -> Bool {
            left.type.isIdentical(inUTF8To: right.type) && left.members.isIdentical(inUTF8To: right.members)
        }
    }

    /// Creates a literal.
    public init(
        _ value: ODataValue, type: PrimitiveType? = nil, enumeration: EnumerationText? = nil, at offset: Int? = nil
    ) {
        self.value = value
        self.type = type
        self.enumeration = enumeration
        self.offset = offset
    }

    /// Returns whether the values are equal, independent of their offset.
    ///
    /// Texts are compared byte by byte. Numbers are compared with their sign of zero and trailing zeros, which
    /// affect the result of a query.
    public static func == (left: Literal, right: Literal) -> Bool {
        left.value.isWritten(like: right.value) && left.type == right.type && left.enumeration == right.enumeration
    }

    /// Hashes the value and the enumeration text, without the offset.
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
    /// The logical `or`.
    case or
    /// The logical `and`.
    case and
    /// The comparison `eq`.
    case equal = "eq"
    /// The comparison `ne`.
    case notEqual = "ne"
    /// The comparison `lt`.
    case less = "lt"
    /// The comparison `le`.
    case lessOrEqual = "le"
    /// The comparison `gt`.
    case greater = "gt"
    /// The comparison `ge`.
    case greaterOrEqual = "ge"
    /// The test of flags, `has`.
    case has
    /// The addition `add`.
    case add
    /// The subtraction `sub`.
    case subtract = "sub"
    /// The multiplication `mul`.
    case multiply = "mul"
    /// The division `div`, which truncates the quotient of integers.
    case divide = "div"
    /// The division `divby`, which gives a decimal quotient of integers.
    case divideBy = "divby"
    /// The remainder `mod`.
    case modulo = "mod"

    /// The precedence; operators with a greater value bind tighter (5.1.1.9 *Operator Precedence*).
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
