import ODataModel

/// Writing of expressions and literals, in a notation that the parser reads back to the same tree.
extension QueryWriter {
    /// Writes an expression, in parentheses if it binds looser than `minimum`.
    mutating func write(_ expression: CommonExpression, minimum: Int = 0) {
        switch expression {
        case .literal(let literal): write(literal)
        case .path(let steps):
            // In parentheses, a property of this name cannot be read as the operator.
            parenthesized(expression.isNamed(["not"])) { $0.write(path: steps) }
        case .alias(let name): write("@\(name)")
        case .unary(.not, let inner):
            parenthesized(CommonExpression.unaryPrecedence < minimum) {
                $0.write("not ")
                // Before one of these words, not would be the name of a property.
                let isGuarded = inner.leftmost.isNamed(["eq", "ne", "lt", "le", "gt", "ge", "and", "or", "in", "has"])
                $0.parenthesized(isGuarded) {
                    $0.write(inner, minimum: isGuarded ? 0 : CommonExpression.unaryPrecedence)
                }
            }
        case .unary(.negate, let inner):
            parenthesized(CommonExpression.unaryPrecedence < minimum) {
                // Parentheses around a number would add a level of nesting.
                $0.write(inner.startsLikeANumber ? "- " : "-")
                $0.write(inner, minimum: CommonExpression.unaryPrecedence)
            }
        case .binary(let symbol, let left, let right):
            if let operands = expression.balancedOperands(of: symbol) { return write(chain: operands, symbol, minimum) }
            // Without parentheses, a nested chain would be joined with the outer one.
            let isChain = left.balancedOperands(of: symbol) != nil
            parenthesized(symbol.precedence < minimum) {
                $0.write(left, minimum: isChain ? symbol.precedence + 1 : symbol.precedence)
                $0.write(" \(symbol.rawValue) ")
                $0.write(right, minimum: symbol.precedence + 1)
            }
        case .membership(let operand, let collection):
            // Parentheses around an expression other than a list would make it a list.
            let isNot = collection.isNamed(["not"])
            parenthesized(isNot || CommonExpression.membershipPrecedence < minimum) {
                $0.write(operand, minimum: CommonExpression.membershipPrecedence)
                $0.write(" in ")
                if case .list(let items) = collection {
                    $0.write("(")
                    $0.list(items) { $0.write($1) }
                    $0.write(")")
                } else if isNot, case .path(let steps) = collection {
                    $0.write(path: steps)
                } else {
                    $0.write(collection, minimum: CommonExpression.unaryPrecedence)
                }
            }
        case .call(let name, let arguments): write(call: name, arguments)
        case .namedCall(let name, let arguments):
            write(name.text)
            write(arguments: arguments)
        case .typeTest(let test, let operand, let type):
            write("\(test.rawValue)(")
            if let operand {
                write(operand)
                write(",")
            }
            write(dialect == .v2 ? "'\(type)'" : type.text)
            write(")")
        case .list(let items):
            write("[")
            list(items) { $0.write($1) }
            write("]")
        case .json(let text): write(data: text)
        }
    }

    /// Writes a balanced tree as a chain.
    private mutating func write(chain operands: [CommonExpression], _ symbol: BinaryOperator, _ minimum: Int) {
        parenthesized(symbol.precedence < minimum) {
            $0.list(operands, separator: " \(symbol.rawValue) ") { $0.write($1, minimum: symbol.precedence + 1) }
        }
    }

    private mutating func parenthesized(_ isNeeded: Bool, _ body: (inout QueryWriter) -> Void) {
        if isNeeded { write("(") }
        body(&self)
        if isNeeded { write(")") }
    }

    private mutating func write(call name: Identifier, _ arguments: [CommonExpression]) {
        write("\(name)(")
        if name.text == "case" {
            for (index, argument) in arguments.enumerated() {
                if index % 2 == 0 {
                    if index > 0 { write(",") }
                    write(argument)
                } else {
                    write(value: argument)
                }
            }
        } else {
            // The argument after a name that is not a function may be a key, which is not an operation either.
            let isFunction =
                name.text == "isdefined" || name.text.utf8.contains(UInt8(ascii: "."))
                || CanonicalFunction(name: name.text) != nil
            list(arguments) { $0.write($1, minimum: isFunction ? 0 : .max) }
        }
        write(")")
    }

    /// Writes the colon and the value after a condition. The value gets parentheses if the text would be read as a
    /// time of day.
    private mutating func write(value: CommonExpression) {
        let end = count
        write(":")
        let start = count
        write(value)
        guard isTimeOfDay(endingHoursAt: end, minutesAt: start) else { return }
        insert("(", at: start)
        write(")")
    }

    /// Writes `(name=value,…)`.
    mutating func write(arguments: [CommonExpression.NamedArgument]) {
        write("(")
        list(arguments) {
            $0.write("\($1.name)=")
            $0.write($1.value)
        }
        write(")")
    }

    mutating func write(_ key: KeyPredicate) {
        switch key {
        case .single(let value):
            write("(")
            // A key is not an operation unless it has parentheses of its own.
            write(value, minimum: .max)
            write(")")
        case .compound(let parts): write(arguments: parts)
        }
    }

    private mutating func write(path steps: [PathStep]) {
        for (index, step) in steps.enumerated() {
            if case .key(let key) = step {
                if case .single(.literal(let value)) = key, mustBeSegment(value, behind: steps[..<index]) {
                    write("/")
                    write(value)
                } else {
                    write(key)
                }
                continue
            }
            if index > 0 { write("/") }
            switch step {
            case .name(let name), .variable(let name): write(name.text)
            case .count(let filter, let search):
                write("$count")
                var options = QueryOptions()
                options.filter = filter
                options.search = search
                writeNested(options)
            case .any(let variable, let predicate): writeLambda("any", variable, predicate: predicate)
            case .all(let variable, let predicate): writeLambda("all", variable, predicate: predicate)
            case .key: break
            case .call(let name, let arguments):
                write(name.text)
                write(arguments: arguments)
            case .filter(let condition):
                write("$filter(")
                write(condition)
                write(")")
            case .aggregate(let item):
                write("aggregate(")
                write(item)
                write(")")
            }
        }
    }

    /// Returns whether a key must be written as a segment, because its parentheses would be read as arguments.
    ///
    /// Only a key that begins with a digit can be a segment.
    private func mustBeSegment(_ value: Literal, behind steps: ArraySlice<PathStep>) -> Bool {
        switch steps.last {
        case .call?, .filter?, nil: return false
        case .name(let name)? where steps.count > 1 && ["any", "all", "aggregate"].contains(name.text.lowercased()):
            break
        case .name(let name)? where steps.count > 1 && name.text.utf8.first != UInt8(ascii: "@"): return false
        default: break
        }
        var text = QueryWriter(.text, dialect: dialect)
        text.write(value)
        return text.text.utf8.first?.isDigit ?? false
    }

    private mutating func writeLambda(_ name: String, _ variable: Identifier?, predicate: CommonExpression?) {
        write("\(name)(")
        if let variable, let predicate {
            write("\(variable):")
            write(predicate)
        }
        write(")")
    }

    // MARK: Literals

    /// Writes a literal in the notation of the dialect.
    mutating func write(_ literal: Literal) {
        if let enumeration = literal.enumeration {
            write("\(enumeration.type)'\(enumeration.members)'")
            return
        }
        if lift(literal.value, literal.type) { return }
        switch literal.value {
        case .null: write("null")
        case .boolean(let value): write(value ? "true" : "false")
        case .integer(let value): write("\(value)\(dialect == .v2 && literal.type == .int64 ? "L" : "")")
        case .single(let value): write(float: "\(value)", suffix: "f")
        case .double(let value): write(float: "\(value)", suffix: "d")
        case .decimal(let value): write(dialect == .v2 ? Self.plain(value) + "M" : Self.plain(value))
        case .string(let value): write(data: "'\(value.doubling(UInt8(ascii: "'")))'")
        case .binary(let value):
            write(dialect == .v2 ? "X'\(Self.hexadecimal(value))'" : "binary'\(Self.base64URL(value))'")
        case .guid(let value): write(dialect == .v2 ? "guid'\(value)'" : "\(value)")
        case .date(let value): write("\(value)")
        case .timeOfDay(let value): write("\(value)")
        case .dateTimeOffset(let value): write(dialect == .v2 ? "datetimeoffset'\(value)'" : "\(value)")
        case .dateTime(let value): write("datetime'\(value)'")
        case .duration(let value): write(literal.type == .time ? "time'\(value)'" : "duration'\(value)'")
        case .enumeration(let value): write("\(value)")
        case .geo(let value):
            write("\(value.family == .geography ? "geography" : "geometry")'\(value.wellKnownText)'")
        case .complex: write("null")
        case .collection(let members):
            write("[")
            list(members) { $0.write(Literal($1)) }
            write("]")
        }
    }

    /// Writes a float. Swift's notation is `1e-05`, `5.0` or `inf`; an exponent shows the parser that the number is
    /// not a decimal.
    private mutating func write(float text: String, suffix: String) {
        switch text {
        case "inf": write("INF")
        case "-inf": write("-INF")
        case "nan": write("NaN")
        default:
            if dialect == .v2 { write(text + suffix) } else { write(text.contains("e") ? text : text + "e0") }
        }
    }

    /// Returns a decimal without exponent. A whole number within 64 bits gets a point, which distinguishes it from
    /// an integer.
    private static func plain(_ value: ODataDecimal) -> String {
        var digits = String(value.magnitude)
        var scale = value.scale
        if scale < 0 {
            digits += String(repeating: "0", count: -scale)
            scale = 0
        }
        if scale == 0 {
            let whole = "\(value.isNegative ? "-" : "")\(digits)"
            return Int64(whole) == nil ? whole : whole + ".0"
        }
        if digits.utf8.count <= scale { digits = String(repeating: "0", count: scale - digits.utf8.count + 1) + digits }
        let point = digits.index(digits.endIndex, offsetBy: -scale)
        return "\(value.isNegative ? "-" : "")\(digits[..<point]).\(digits[point...])"
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func base64URL(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for index in 0...group.count { text.append(alphabet[Int(bits >> UInt32(18 - 6 * index) & 63)]) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension CommonExpression {
    /// Returns whether the expression is a path of exactly one of the given names.
    fileprivate func isNamed(_ names: [String]) -> Bool {
        guard case .path(let steps) = self, steps.count == 1, case .name(let name) = steps[0] else { return false }
        // Comparing lengths first is faster, since few names are as short.
        return names.contains { $0.utf8.count == name.text.utf8.count && $0 == name.text.lowercased() }
    }

    /// The expression at the start of the text after a unary operator. Expressions that bind looser are in
    /// parentheses there.
    fileprivate var leftmost: CommonExpression {
        switch self {
        case .binary(let symbol, let left, _) where symbol.precedence >= Self.unaryPrecedence: left.leftmost
        case .membership(let operand, _): operand.leftmost
        default: self
        }
    }

    /// Whether a minus sign before the text would become part of a literal or apply only to its beginning.
    fileprivate var startsLikeANumber: Bool {
        switch self {
        case .literal: true
        // Expressions that bind looser are in parentheses.
        case .binary(let symbol, let left, _): symbol.precedence >= Self.unaryPrecedence && left.startsLikeANumber
        case .membership(let operand, _): operand.startsLikeANumber
        default: false
        }
    }
}
