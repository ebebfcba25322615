import ODataModel

/// Paths within expressions: properties, casts, keys, calls, lambdas, `$count` (OData URL Conventions 4.01,
/// 5.1.1.15 *Path Expressions* and 5.1.1.13 *Lambda Operators*).
extension QueryParser {
    /// A path whose first name has been read.
    mutating func memberPath(startingWith name: Identifier) throws(QueryError) -> CommonExpression {
        guard current == UInt8(ascii: "(") else { return try continuePath([.name(name)], tallest: 0) }
        var tallest = 0
        let start = try arguments(of: name, isFirst: true, tallest: &tallest)
        if case .positional(let arguments) = start {
            try node(height: tallest + 1)
            return .call(name, arguments)
        }
        return try continuePath(start.steps, tallest: tallest)
    }

    /// `$it`, `$this`, `$root`, `$these` and what follows.
    mutating func variablePath() throws(QueryError) -> CommonExpression {
        let start = position
        position += 1
        position = try endOfName(from: position)
        let variable = text(start..<position)
        switch variable {
        case "$it", "$this": break
        case "$root", "$these":
            guard current == UInt8(ascii: "/") else {
                throw failure("Expected \u{201C}/\u{201D} after \(variable).", at: start)
            }
        case "$count":
            // 4.01 services accept the number of the rows at hand where a collection is the context.
            position = start
            var tallest = 0
            return try continuePath([try countStep(&tallest)], tallest: tallest)
        default:
            position = start
            throw failure(
                expected: "$it, $this, $root or $these", among: ["$it", "$this", "$root", "$these", "$count"])
        }
        return try continuePath([.variable(Identifier(variable, at: source.offset(at: start)))], tallest: 0)
    }

    /// `@alias`, or an annotation of the current instance, and what follows.
    mutating func aliasOrAnnotation() throws(QueryError) -> CommonExpression {
        let name = try atName()
        if name.text.contains(".") || name.text.contains("#") { return try continuePath([.name(name)], tallest: 0) }
        guard current == UInt8(ascii: "/") else {
            try node()
            return .alias(Identifier(String(name.text.dropFirst()), at: name.offset))
        }
        return try continuePath([.variable(name)], tallest: 0)
    }

    private mutating func continuePath(_ start: [PathStep], tallest: Int) throws(QueryError) -> CommonExpression {
        var steps = start
        var tallest = tallest
        try keyAfterCollection(in: &steps, &tallest)
        while current == UInt8(ascii: "/"), !isAtEnd {
            position += 1
            guard steps.count < QueryLimits.maxDepth else {
                throw QueryError(
                    .limit(name: "maxDepth"), "A path has more than \(QueryLimits.maxDepth) steps.", offset: offset)
            }
            try step(into: &steps, tallest: &tallest)
        }
        try node(height: tallest + 1)
        if steps.count == 1, case .call(let name, let arguments) = steps[0] { return .namedCall(name, arguments) }
        return .path(steps)
    }

    private mutating func step(into steps: inout [PathStep], tallest: inout Int) throws(QueryError) {
        if isNext("$count") {
            steps.append(try countStep(&tallest))
        } else if isNext("$filter(") {
            position += 8
            steps.append(.filter(try nested(&tallest)))
            try close()
        } else if current == UInt8(ascii: "@") {
            steps.append(.name(try atName()))
        } else if current.isDigit, let key = try literal() {
            // A key as a segment; one that begins with a letter looks like a property and needs its parentheses. It
            // counts as much as it would in these, in which it is written: an expression behind a qualified name.
            let isQualified = if case .name(let name)? = steps.last { name.text.contains(".") } else { false }
            try enter(isQualified ? 3 : 2)
            try node()
            leave(isQualified ? 3 : 2)
            tallest = max(tallest, height)
            steps.append(.key(.single(.literal(key))))
        } else if isWord("any"), peek(3) == UInt8(ascii: "(") {
            position += 3
            steps.append(try lambda(isAny: true, &tallest))
        } else if isWord("all"), peek(3) == UInt8(ascii: "(") {
            position += 3
            steps.append(try lambda(isAny: false, &tallest))
        } else if isNext("aggregate(") {
            position += 10
            skipSpace()
            try enter()
            let item = try aggregateItem(isNamed: false)
            leave()
            tallest = max(tallest, height)
            try close()
            steps.append(.aggregate(item))
        } else {
            let name = try qualifiedName(expected: "a property, a type, a function or $count after \u{201C}/\u{201D}")
            guard current == UInt8(ascii: "(") else {
                steps.append(.name(name))
                return
            }
            let start = position
            let arguments = try arguments(of: name, isFirst: false, tallest: &tallest)
            if case .positional = arguments {
                throw failure("Expected one key value or parameters with their names.", at: start)
            }
            steps += arguments.steps
        }
        try keyAfterCollection(in: &steps, &tallest)
    }

    /// A key may follow a call that returns a collection, and a filtered collection.
    private mutating func keyAfterCollection(in steps: inout [PathStep], _ tallest: inout Int) throws(QueryError) {
        guard current == UInt8(ascii: "("), !isAtEnd else { return }
        switch steps.last {
        case .call?, .filter?: break
        default: return
        }
        position += 1
        skipSpace()
        try enter()
        defer { leave() }
        if let parts = try namedArguments(&tallest) {
            steps.append(.key(.compound(parts)))
            return
        }
        let value = try primary()
        tallest = max(tallest, height)
        try close()
        steps.append(.key(.single(value)))
    }

    private mutating func nested(_ tallest: inout Int) throws(QueryError) -> CommonExpression {
        skipSpace()
        let inner = try expression()
        tallest = max(tallest, height)
        return inner
    }

    private mutating func countStep(_ tallest: inout Int) throws(QueryError) -> PathStep {
        position += 6
        guard take("(") else { return .count(filter: nil, search: nil) }
        let options = try nestedOptions(allowed: [.filter, .search], of: "$count")
        tallest = max(tallest, height)
        return .count(filter: options.filter, search: options.search)
    }

    private mutating func lambda(isAny: Bool, _ tallest: inout Int) throws(QueryError) -> PathStep {
        try require("(")
        skipSpace()
        if isAny, take(")") { return .any(variable: nil, predicate: nil) }
        let variable = try name(expected: "a range variable")
        guard takeSeparator(":") else { throw failure(expected: "\u{201C}:\u{201D} and a condition") }
        let predicate = try nested(&tallest)
        skipSpace()
        guard take(")") else { throw failure(expected: "an operator or \u{201C})\u{201D}") }
        return isAny ? .any(variable: variable, predicate: predicate) : .all(variable: variable, predicate: predicate)
    }

    /// What the parentheses after a name turn out to hold.
    private enum Arguments {
        case steps([PathStep])
        case positional([CommonExpression])

        var steps: [PathStep] {
            if case .steps(let steps) = self { steps } else { [] }
        }
    }

    /// The parentheses after a name: named parameters (or a compound key), one key value, or, at the start of a
    /// path only, the arguments of a function that is not known here.
    private mutating func arguments(
        of name: Identifier, isFirst: Bool, tallest: inout Int
    ) throws(QueryError) -> Arguments {
        let start = position
        position += 1
        skipSpace()
        // Calls within calls need more of the stack than other constructs.
        try enter(2)
        defer { leave(2) }
        if take(")") { return .steps([.call(name, [])]) }
        if let named = try namedArguments(&tallest) { return .steps([.call(name, named)]) }
        let values: [CommonExpression]
        if name.text.contains(".") {
            values = try elements(until: ")")
        } else {
            position = start
            values = try plainArguments(of: name)
        }
        tallest = max(tallest, height)
        // Behind a slash a qualified name with one value is a cast and a key: functions take their parameters by name.
        if values.count == 1, !isFirst || !name.text.contains(".") {
            return .steps([.name(name), .key(.single(values[0]))])
        }
        return .positional(values)
    }

    /// The parentheses after a name that no function has: a key, or the arguments of a misspelt function, which the
    /// binder refuses by its name. Neither is made of operators, so that a mistake is told where it is. The height is
    /// that of the tallest.
    private mutating func plainArguments(of name: Identifier) throws(QueryError) -> [CommonExpression] {
        guard name.text != "aggregate" else {
            throw failure(expected: "a collection before aggregate, as in Items/aggregate(…)")
        }
        try require("(")
        skipSpace()
        var values: [CommonExpression] = []
        var tallest = 0
        repeat {
            let start = offset
            if current == UInt8(ascii: "\"") {
                values.append(.literal(Literal(.string(try jsonString()), type: .string, at: start)))
                try node()
            } else {
                values.append(try primary())
            }
            tallest = max(tallest, height)
        } while takeSeparator(",")
        let end = position
        skipSpace()
        guard take(")") else {
            position = end
            var error = failure(expected: "\u{201C},\u{201D} or \u{201C})\u{201D}")
            let functions = CanonicalFunction.allCases.map(\.rawValue)
            if error.suggestions.isEmpty { error.suggestions = nearest(to: name.text, among: functions) }
            throw error
        }
        height = tallest
        return values
    }

    /// `name=value,…)` after the opening parenthesis; `nil`, and nothing read, when it does not start so.
    mutating func namedArguments(_ tallest: inout Int) throws(QueryError) -> [CommonExpression.NamedArgument]? {
        let start = position
        guard isNameStart(at: position) else { return nil }
        position = try endOfName(from: position)
        skipSpace()
        let isNamed = current == UInt8(ascii: "=")
        position = start
        guard isNamed else { return nil }
        var arguments: [CommonExpression.NamedArgument] = []
        repeat {
            let name = try name(expected: "a parameter's name")
            skipSpace()
            try require("=")
            skipSpace()
            if arguments.contains(where: { $0.name == name }) {
                throw QueryError(.syntax, "\(name) is given twice.", offset: name.offset)
            }
            arguments.append(CommonExpression.NamedArgument(name: name, value: try value()))
            tallest = max(tallest, height)
        } while takeSeparator(",")
        try close()
        return arguments
    }
}
