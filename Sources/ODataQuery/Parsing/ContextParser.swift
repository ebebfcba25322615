import ODataModel

extension ContextURL {
    /// Parses the fragment of a context URL (OData ABNF 4.01, section 3 *Context URL Fragments*).
    ///
    /// - Parameter text: what follows `#`, percent-encoded or not.
    /// - Throws: ``QueryError`` with kind `syntax` where the text breaks the grammar, `limit` beyond ``QueryLimits``.
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

    /// A key, which is made of literals; a select list is made of names.
    private mutating func contextKey() throws(QueryError) -> KeyPredicate? {
        guard current == UInt8(ascii: "(") else { return nil }
        let start = position
        position += 1
        var tallest = 0
        if let named = try namedArguments(&tallest) { return .compound(named) }
        // A list in which names are what they are begins with a name that is no literal.
        if current != UInt8(ascii: ")"), current != UInt8(ascii: "*"), current != UInt8(ascii: "@") {
            let value = try primary()
            if case .literal = value, take(")") { return .single(value) }
        }
        position = start
        return nil
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
