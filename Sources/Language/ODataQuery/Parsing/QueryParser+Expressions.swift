import ODataModel

/// Parsing of operators, parentheses, lists and primary expressions (OData URL Conventions 4.01, 5.1.1).
extension QueryParser {
    /// Parses a whole expression (`commonExpr`).
    mutating func expression() throws(QueryError) -> CommonExpression {
        try enter()
        let result = try operation(minimum: 0)
        leave()
        return result
    }

    /// Parses operators that bind at least as tightly as `minimum`, by precedence climbing.
    ///
    /// The function is recursive together with ``primary()``. Each construct therefore has a small function of its
    /// own, so that a deep query needs little stack space.
    private mutating func operation(minimum: Int) throws(QueryError) -> CommonExpression {
        var left = try operand()
        while let (symbol, end) = nextOperator(minimum: minimum) {
            position = end
            left = try apply(symbol, to: left)
        }
        return left
    }

    /// Parses the rest of an operation after its left operand and operator.
    private mutating func apply(_ symbol: Operator, to left: CommonExpression) throws(QueryError) -> CommonExpression {
        let leftHeight = height
        try requireSpace()
        switch symbol {
        case .membership:
            let right = try membershipOperand()
            try node(height: max(leftHeight, height) + 1)
            return .membership(left, in: right)
        case .binary(let binary) where binary == .and || binary == .or:
            return try chain(of: binary, first: left, firstHeight: leftHeight)
        case .binary(let binary):
            let right = try operation(minimum: binary.precedence + 1)
            try node(height: max(leftHeight, height) + 1)
            return .binary(binary, left, right)
        }
    }

    /// Parses the rest of `a and b and c …` after the first operator.
    ///
    /// Long chains become balanced trees: `and` and `or` are associative, and a deep tree could overflow the stack
    /// of recursive code.
    private mutating func chain(
        of symbol: BinaryOperator, first: CommonExpression, firstHeight: Int
    ) throws(QueryError) -> CommonExpression {
        var operands: [(tree: CommonExpression, height: Int)] = []
        operands.reserveCapacity(4)
        operands.append((first, firstHeight))
        while true {
            operands.append((try operation(minimum: symbol.precedence + 1), height))
            guard case (.binary(symbol), let end)? = nextOperator(minimum: symbol.precedence) else { break }
            position = end
            try requireSpace()
            try node(height: 1)
        }
        let whole = CommonExpression.joined(operands[...], empty: operands[0]) {
            (.binary(symbol, $0.tree, $1.tree), max($0.height, $1.height) + 1)
        }
        try node(height: whole.height)
        return whole.tree
    }

    private enum Operator {
        case binary(BinaryOperator)
        case membership
    }

    /// Returns the operator after white space and its end, if it binds tightly enough.
    private func nextOperator(minimum: Int) -> (Operator, end: Int)? {
        var start = position
        while start < source.bytes.count, source.bytes[start] == 32 || source.bytes[start] == 9 { start += 1 }
        guard start > position else { return nil }
        var end = start
        var letters: UInt64 = 0
        while end < source.bytes.count, source.bytes[end].isLetter, end - start < 6 {
            letters = letters << 8 | UInt64(source.bytes[end] | 0x20)
            end += 1
        }
        guard end < source.bytes.count, source.bytes[end] == 32 || source.bytes[end] == 9 else { return nil }
        let symbol: Operator
        switch letters {
        case 0x6F72: symbol = .binary(.or)
        case 0x616E64: symbol = .binary(.and)
        case 0x6571: symbol = .binary(.equal)
        case 0x6E65: symbol = .binary(.notEqual)
        case 0x6C74: symbol = .binary(.less)
        case 0x6C65: symbol = .binary(.lessOrEqual)
        case 0x6774: symbol = .binary(.greater)
        case 0x6765: symbol = .binary(.greaterOrEqual)
        case 0x686173: symbol = .binary(.has)
        case 0x616464: symbol = .binary(.add)
        case 0x737562: symbol = .binary(.subtract)
        case 0x6D756C: symbol = .binary(.multiply)
        case 0x646976: symbol = .binary(.divide)
        case 0x646976_6279: symbol = .binary(.divideBy)
        case 0x6D6F64: symbol = .binary(.modulo)
        case 0x696E: symbol = .membership
        default: return nil
        }
        let precedence: Int
        if case .binary(let binary) = symbol {
            precedence = binary.precedence
        } else {
            precedence = CommonExpression.membershipPrecedence
        }
        return precedence >= minimum ? (symbol, end) : nil
    }

    /// Parses an operand with its unary operators.
    private mutating func operand() throws(QueryError) -> CommonExpression {
        if current == UInt8(ascii: "-"), !startsSignedLiteral {
            position += 1
            skipSpace()
            return try unary(.negate)
        }
        if isWord("not"), peek(3) == 32 || peek(3) == 9 || peek(3) == UInt8(ascii: "(") {
            let start = position
            position += 3
            skipSpace()
            // `not` can also be the name of a property; as an operator it must be followed by an operand.
            if nextIsOperator { position = start } else { return try unary(.not) }
        }
        return try primary()
    }

    private var nextIsOperator: Bool {
        for word: StaticString in ["eq", "ne", "lt", "le", "gt", "ge", "and", "or", "in", "has"] where isWord(word) {
            return peek(word.utf8CodeUnitCount) == 32
        }
        return false
    }

    private mutating func unary(_ symbol: UnaryOperator) throws(QueryError) -> CommonExpression {
        try enter()
        let inner = try operation(minimum: CommonExpression.unaryPrecedence)
        leave()
        try node(height: height + 1)
        return .unary(symbol, inner)
    }

    /// Parses the right operand of `in`: a list in parentheses, or an expression for a collection.
    private mutating func membershipOperand() throws(QueryError) -> CommonExpression {
        guard take("(") else { return try operation(minimum: CommonExpression.membershipPrecedence + 1) }
        skipSpace()
        return .list(try list(until: ")"))
    }

    /// Parses a `commonExpr` without operators.
    mutating func primary() throws(QueryError) -> CommonExpression {
        switch current {
        case UInt8(ascii: "("): return try parenthesized()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "{"): return try jsonObject()
        case UInt8(ascii: "@"): return try aliasOrAnnotation()
        case UInt8(ascii: "$"): return try variablePath()
        case _ where isNameStart(at: position): return try nameExpression()
        case 32 where isBeforeJSON, 9 where isBeforeJSON: return try primary()
        default: return try literalExpression()
        }
    }

    /// Whether an array or an object follows; skips the white space before it.
    private var isBeforeJSON: Bool {
        mutating get {
            let start = position
            skipSpace()
            if current == UInt8(ascii: "[") || current == UInt8(ascii: "{") { return true }
            position = start
            return false
        }
    }

    private mutating func parenthesized() throws(QueryError) -> CommonExpression {
        position += 1
        skipSpace()
        let inner = try expression()
        skipSpace()
        guard take(")") else { throw failure(expected: "an operator or \u{201C})\u{201D}") }
        return inner
    }

    private mutating func array() throws(QueryError) -> CommonExpression {
        position += 1
        skipSpace()
        return .list(try list(until: "]"))
    }

    /// Parses a value: an expression, or a string in double quotes (`valueInUrl`).
    mutating func value() throws(QueryError) -> CommonExpression {
        guard current == UInt8(ascii: "\"") else { return try expression() }
        let start = offset
        let string = try jsonString()
        // The string is printed as an expression.
        try enter()
        try node()
        leave()
        return .literal(Literal(.string(string), type: .string, at: start))
    }

    /// Parses a list, or the arguments of a function, after the opening bracket.
    private mutating func list(until bracket: Unicode.Scalar) throws(QueryError) -> [CommonExpression] {
        try enter()
        defer { leave() }
        let items = try elements(until: bracket)
        try node(height: height + 1)
        return items
    }

    /// Parses values separated by commas up to a closing bracket; an empty list is allowed. Sets the height to that
    /// of the tallest value.
    mutating func elements(until bracket: Unicode.Scalar) throws(QueryError) -> [CommonExpression] {
        var items: [CommonExpression] = []
        var tallest = 0
        if !take(bracket) {
            items.reserveCapacity(2)
            repeat {
                items.append(try value())
                tallest = max(tallest, height)
            } while takeSeparator(",")
            try close(bracket)
        }
        height = tallest
        return items
    }

    private mutating func literalExpression() throws(QueryError) -> CommonExpression {
        guard let literal = try literal() else { throw failure(expected: "an expression") }
        return try literalExpression(literal)
    }

    private mutating func literalExpression(_ literal: Literal) throws(QueryError) -> CommonExpression {
        try node()
        return .literal(literal)
    }

    /// Parses an expression that starts with a name: literals with words or prefixes, calls and paths.
    private mutating func nameExpression() throws(QueryError) -> CommonExpression {
        if let literal = wordLiteral() { return try literalExpression(literal) }
        let start = position
        let name = try qualifiedName()
        if current == UInt8(ascii: "'") { return try literalExpression(prefixed(name)) }
        guard current == UInt8(ascii: "(") else { return try memberPath(startingWith: name) }
        return try callExpression(name, at: start)
    }

    /// Parses a call of a function at its parenthesis.
    private mutating func callExpression(_ name: Identifier, at start: Int) throws(QueryError) -> CommonExpression {
        let word = name.text.lowercased()
        if word == "cast" || word == "isof" { return try typeTest(word == "cast" ? .cast : .isOf) }
        if word == "case" { return try caseExpression(name) }
        if word == "any" || word == "all" {
            throw failure(expected: "a collection before \(word), as in Items/\(word)(…)")
        }
        let function = CanonicalFunction.byName[word]
        if function != nil || word == "isdefined" {
            if dialect == .v4, word == "substringof" {
                throw failure("substringof is a function of OData 2.0 and 3.0; expected contains.", at: start)
            }
            position += 1
            skipSpace()
            return .call(Identifier(function?.rawValue ?? word, at: name.offset), try list(until: ")"))
        }
        return try memberPath(startingWith: name)
    }

    /// Parses `cast(…)` and `isof(…)` at the parenthesis (5.1.1.10).
    private mutating func typeTest(_ test: CommonExpression.TypeTest) throws(QueryError) -> CommonExpression {
        try require("(")
        try enter()
        defer { leave() }
        skipSpace()
        let start = position
        if let type = try? typeName() {
            skipSpace()
            if take(")") {
                try node()
                return .typeTest(test, nil, type)
            }
        }
        position = start
        let operand = try expression()
        let operandHeight = height
        guard takeSeparator(",") else { throw failure(expected: "\u{201C},\u{201D} and a type") }
        let type = try typeName()
        skipSpace()
        try require(")")
        try node(height: operandHeight + 1)
        return .typeTest(test, operand, type)
    }

    /// Parses the name of a type, including `Collection(…)`.
    ///
    /// V2 and V3 put the name in quotes. Many V4 clients do so too, although the grammar does not allow it, and the
    /// meaning is unambiguous.
    mutating func typeName() throws(QueryError) -> Identifier {
        let start = position
        if take("'") {
            let inner = try typeName()
            try require("'")
            return inner
        }
        let name = try qualifiedName(expected: "a type")
        guard name.text == "Collection", take("(") else { return name }
        _ = try qualifiedName(expected: "a type")
        try require(")")
        return Identifier(text(start..<position), at: name.offset)
    }

    /// Parses `case(condition:value,…)` into flattened pairs (5.1.1.13).
    private mutating func caseExpression(_ name: Identifier) throws(QueryError) -> CommonExpression {
        try require("(")
        try enter()
        defer { leave() }
        skipSpace()
        var pairs: [CommonExpression] = []
        var tallest = 0
        repeat {
            let (condition, isTakenApart) = try condition()
            pairs.append(condition)
            tallest = max(tallest, height)
            // The printer puts such a value in parentheses.
            if isTakenApart { try enter() }
            pairs.append(try value())
            if isTakenApart { leave() }
            tallest = max(tallest, height)
        } while takeSeparator(",")
        try close()
        try node(height: tallest + 1)
        return .call(Identifier("case", at: name.offset), pairs)
    }

    /// Parses a condition of `case` and the colon after it.
    ///
    /// Digits before a colon may be a number instead of a time of day: `case(Floor eq 10:15,true:0)`. This reading
    /// is used if the text is not a time of day, or no colon would be left. The result includes whether a time of
    /// day was split.
    private mutating func condition() throws(QueryError) -> (CommonExpression, isTakenApart: Bool) {
        openConditions += 1
        defer { openConditions -= 1 }
        let start = position
        let condition = try expression()
        if takeSeparator(":") { return (condition, false) }
        let error = failure(expected: "\u{201C}:\u{201D} and a value")
        guard let number = hoursAndMinutes, number >= start else { throw error }
        numbersBeforeColon.insert(number)
        position = start
        guard let shorter = try? expression(), takeSeparator(":") else { throw error }
        return (shorter, true)
    }
}

extension CommonExpression {
    /// The precedence of `in`, equal to that of `has`.
    static let membershipPrecedence = 8
    /// The precedence of `not` and negation: looser than `has`, tighter than arithmetic.
    static let unaryPrecedence = 7

    /// Combines operands of an associative operator into one tree: left-associative if they are few, balanced if
    /// many.
    static func joined(_ operands: ArraySlice<CommonExpression>, by symbol: BinaryOperator) -> CommonExpression {
        joined(operands, empty: .list([])) { .binary(symbol, $0, $1) }
    }

    /// Combines operands with additional data in the same way.
    fileprivate static func joined<Operand>(
        _ operands: ArraySlice<Operand>, empty: Operand, by join: (Operand, Operand) -> Operand
    ) -> Operand {
        guard let first = operands.first else { return empty }
        if operands.count <= QueryLimits.maxUnbalancedChain { return operands.dropFirst().reduce(first, join) }
        return balanced(operands, by: join)
    }

    private static func balanced<Operand>(
        _ operands: ArraySlice<Operand>, by join: (Operand, Operand) -> Operand
    ) -> Operand {
        if operands.count == 1 { return operands[operands.startIndex] }
        let middle = operands.startIndex + (operands.count + 1) / 2
        return join(balanced(operands[..<middle], by: join), balanced(operands[middle...], by: join))
    }

    /// Returns the operands of a balanced tree that `joined` built, as many as possible; `nil` for other trees.
    func balancedOperands(of symbol: BinaryOperator) -> [CommonExpression]? {
        var (count, tooMany) = (QueryLimits.maxUnbalancedChain + 1, 2 * QueryLimits.maxUnbalancedChain)
        guard symbol == .and || symbol == .or, isBalanced(count, symbol) else { return nil }
        // A tree of more operands is also one of fewer.
        while isBalanced(tooMany, symbol) { (count, tooMany) = (tooMany, 2 * tooMany) }
        while tooMany - count > 1 {
            let middle = (count + tooMany) / 2
            if isBalanced(middle, symbol) { count = middle } else { tooMany = middle }
        }
        var operands: [CommonExpression] = []
        operands.reserveCapacity(count)
        collect(count, into: &operands)
        return operands
    }

    private func isBalanced(_ count: Int, _ symbol: BinaryOperator) -> Bool {
        if count == 1 { return true }
        guard case .binary(symbol, let left, let right) = self else { return false }
        return left.isBalanced((count + 1) / 2, symbol) && right.isBalanced(count / 2, symbol)
    }

    private func collect(_ count: Int, into operands: inout [CommonExpression]) {
        guard count > 1, case .binary(_, let left, let right) = self else { return operands.append(self) }
        left.collect((count + 1) / 2, into: &operands)
        right.collect(count / 2, into: &operands)
    }
}

extension CanonicalFunction {
    /// The functions by their names in lower case.
    fileprivate static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue.lowercased(), $0) })

    /// Creates the function with a name in any case, as 4.01 allows.
    init?(name: String) {
        guard let function = Self.byName[name] ?? Self.byName[name.lowercased()] else { return nil }
        self = function
    }
}
