import ODataModel

/// Parsing of paths within expressions: properties, casts, keys, calls, lambdas and `$count` (OData URL Conventions
/// 4.01, 5.1.1.15 *Path Expressions* and 5.1.1.13 *Lambda Operators*).
extension QueryParser {
    /// Parses a path after its first name.
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

    /// Parses a path that starts with `$it`, `$this`, `$root` or `$these`.
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
            // 4.01 services accept the number of the current rows if the context is a collection.
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

    /// Parses an alias or an annotation of the current instance, and the rest of its path.
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
            // A key as a segment must begin with a digit, since other keys look like properties. It counts as many
            // levels as in the parentheses in which the printer writes it.
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

    /// Parses a key after a filtered collection or after a call that returns a collection.
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

    /// The content of the parentheses after a name.
    private enum Arguments {
        case steps([PathStep])
        case positional([CommonExpression])

        var steps: [PathStep] {
            if case .steps(let steps) = self { steps } else { [] }
        }
    }

    /// Parses the parentheses after a name: named parameters, a compound key, or one key value.
    ///
    /// At the start of a path, they may also contain the arguments of an unknown function.
    private mutating func arguments(
        of name: Identifier, isFirst: Bool, tallest: inout Int
    ) throws(QueryError) -> Arguments {
        let start = position
        position += 1
        skipSpace()
        // Nested calls need more stack space than other constructs.
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
        // After a slash, a qualified name with one value is a cast and a key, since functions take named
        // parameters.
        if values.count == 1, !isFirst || !name.text.contains(".") {
            return .steps([.name(name), .key(.single(values[0]))])
        }
        return .positional(values)
    }

    /// Parses the parentheses after an unknown name: a key, or the arguments of a misspelt function, which the
    /// binder refuses.
    ///
    /// Neither contains operators, so that an error is reported at the right place. Sets the height to that of the
    /// tallest value.
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
            error.hint = ForeignSyntax.function(name.text)
            if error.suggestions.isEmpty, error.hint == nil {
                error.suggestions = nearest(to: name.text, among: functions)
            }
            throw error
        }
        height = tallest
        return values
    }

    /// Parses `name=value,…)` after the opening parenthesis; returns `nil` and reads nothing for other texts.
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
