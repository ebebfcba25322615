import ODataModel

extension ContextURL {
    /// Parses the fragment of a context URL (OData ABNF 4.01, section 3 *Context URL Fragments*).
    ///
    /// - Parameter text: the text after `#`, percent-encoded or not.
    /// - Throws: ``QueryError`` with kind `syntax` if the text breaks the grammar, `limit` beyond ``QueryLimits``.
    public init(parsing text: String) throws(QueryError) {
        do throws(QueryError) {
            let source = try SourceText(ArraySlice(text.utf8), isPercentEncoded: true)
            var parser = QueryParser(source, dialect: .v4)
            self = try parser.context()
            try parser.requireEnd(expected: "\u{201C}/\u{201D}, \u{201C}(\u{201D} or the end")
        } catch {
            var error = error
            error.text = text
            error.part = error.part ?? "context"
            throw error
        }
    }
}

extension QueryParser {
    fileprivate mutating func context() throws(QueryError) -> ContextURL {
        if takeExactly("$ref") { return ContextURL(.reference) }
        if takeExactly("Collection($ref)") { return ContextURL(.references) }
        if takeExactly("Collection(") {
            let type = try qualifiedName(expected: "a type")
            try require(")")
            return ContextURL(.collection(of: type), items: try contextItems())
        }
        var segments: [ContextURL.Segment] = []
        var result = ContextURL(.path([]))
        repeat {
            if current == UInt8(ascii: "$") {
                guard !segments.isEmpty else { throw failure(expected: "an entity set, a singleton or a type") }
                result.suffix = try contextSuffix()
                break
            }
            guard result.items == nil else { throw failure(expected: "$entity, $delta or another suffix") }
            guard segments.count < QueryLimits.maxDepth else {
                throw QueryError(
                    .limit(name: "maxDepth"), "The path has more than \(QueryLimits.maxDepth) segments.",
                    offset: offset)
            }
            let name = try qualifiedName(expected: "a property or a type")
            segments.append(ContextURL.Segment(name, key: try contextKey()))
            result.items = try contextItems()
        } while take("/")
        result.target = .path(segments)
        return result
    }

    private mutating func takeExactly(_ text: StaticString) -> Bool {
        guard isNext(text) else { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    private mutating func contextSuffix() throws(QueryError) -> ContextURL.Suffix {
        let start = position
        position += 1
        position = try endOfName(from: position)
        if let suffix = ContextURL.Suffix(rawValue: text(start..<position)) { return suffix }
        position = start
        throw failure(expected: ContextURL.Suffix.allCases.map(\.rawValue).joined(separator: ", "))
    }

    /// Parses a key, which consists of literals, in contrast to a select list, which consists of names.
    private mutating func contextKey() throws(QueryError) -> KeyPredicate? {
        guard current == UInt8(ascii: "(") else { return nil }
        let start = position
        position += 1
        if let parts = try contextKeyParts() { return .compound(parts) }
        // A select list begins with a name that is not a literal.
        if current != UInt8(ascii: ")"), current != UInt8(ascii: "*"), current != UInt8(ascii: "@") {
            let value = try contextKeyValue()
            let isLiteral = value.isPlain && current == UInt8(ascii: ")")
            // After a select list only $entity or $delta can follow, after a key the next segment of the path.
            if isLiteral || (isNext(")/") && peek(2) != UInt8(ascii: "$")) {
                position += 1
                return .single(value.expression)
            }
        }
        position = start
        return nil
    }

    /// Parses `name=value, …`; returns `nil` if the text does not start with a name and an equals sign.
    private mutating func contextKeyParts() throws(QueryError) -> [CommonExpression.NamedArgument]? {
        guard startsContextKeyPart(at: position) else { return nil }
        var parts: [CommonExpression.NamedArgument] = []
        repeat {
            let name = try name(expected: "a key property")
            try require("=")
            guard !parts.contains(where: { $0.name == name }) else {
                throw QueryError(.syntax, "\(name) is given twice.", offset: name.offset)
            }
            parts.append(CommonExpression.NamedArgument(name: name, value: try contextKeyValue().expression))
        } while take(",")
        try require(")")
        return parts
    }

    private func startsContextKeyPart(at index: Int) -> Bool {
        guard isNameStart(at: index), let end = try? endOfName(from: index) else { return false }
        return end < source.bytes.count && source.bytes[end] == UInt8(ascii: "=")
    }

    /// Parses the value of a key. A context URL may write durations and enumeration members without prefix and
    /// quotes, as in a payload.
    private mutating func contextKeyValue() throws(QueryError) -> (expression: CommonExpression, isPlain: Bool) {
        let start = position
        var attempt = self
        if let value = try? attempt.primary(), case .literal = value,
            attempt.current == UInt8(ascii: ",") || attempt.current == UInt8(ascii: ")")
        {
            self = attempt
            return (value, true)
        }
        while !isAtEnd, current != UInt8(ascii: ")") {
            if current == UInt8(ascii: ","), startsContextKeyPart(at: position + 1) { break }
            position += 1
        }
        let lexical = text(start..<position)
        guard !lexical.isEmpty else { throw failure(expected: "a value") }
        try node()
        let at = source.offset(at: start)
        let literal =
            ODataDuration(lexical).map { Literal(.duration($0), type: .duration, at: at) }
            ?? Literal(.string(lexical), type: .string, at: at)
        return (.literal(literal), false)
    }

    private mutating func contextItems() throws(QueryError) -> [ContextURL.Item]? {
        guard take("(") else { return nil }
        try enter()
        defer { leave() }
        var items: [ContextURL.Item] = []
        if take(")") { return items }
        repeat {
            try node()
            items.append(try contextItem())
        } while take(",")
        guard take(")") else { throw failure(expected: "\u{201C},\u{201D} or \u{201C})\u{201D}") }
        return items
    }

    private mutating func contextItem() throws(QueryError) -> ContextURL.Item {
        if current == UInt8(ascii: "*") {
            position += 1
            return ContextURL.Item([Identifier("*", at: offset)])
        }
        var path: [Identifier] = []
        repeat {
            if current == UInt8(ascii: "@") {
                path.append(try atName())
                continue
            }
            let name = try qualifiedName(expected: "a property, a type, an operation or *")
            if isNext(".*") {
                position += 2
                return ContextURL.Item([Identifier(name.text + ".*", at: name.offset)])
            }
            path.append(name)
            guard path.count <= QueryLimits.maxDepth else {
                throw QueryError(
                    .limit(name: "maxDepth"), "A path has more than \(QueryLimits.maxDepth) steps.", offset: offset)
            }
        } while take("/")
        let isRecursive = take("+")
        return ContextURL.Item(path, isRecursive: isRecursive, items: try contextItems())
    }
}
