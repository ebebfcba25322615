import ODataModel

/// Parsing of the values of system query options (OData URL Conventions 4.01, 5.1 and 5.2).
extension QueryParser {
    /// Parses the value of an option at the current position. The caller checks that no text is left.
    ///
    /// - Parameters:
    ///   - option: the option.
    ///   - name: the name of an alias.
    ///   - options: the options that receive the value.
    mutating func value(of option: OptionName, named name: String, into options: inout QueryOptions) throws(QueryError)
    {
        switch option {
        case .filter: options.filter = try expression()
        case .orderby: options.orderBy = try orderItems()
        case .select: options.select = try selectItems()
        case .expand: options.expand = try expandItems()
        case .top: options.top = try wholeNumber()
        case .skip: options.skip = try wholeNumber()
        case .index: options.index = try wholeNumber(isSigned: true)
        case .count: options.count = try booleanWord()
        case .inlinecount: options.count = try inlineCount()
        case .search: options.search = try searchExpression()
        case .compute: options.compute = try computeItems()
        case .apply: options.apply = try transformations()
        case .levels: options.levels = try levels()
        case .alias: options.aliases[name] = try aliasValue()
        case .at, .from, .to, .toinclusive: options.temporal[option.written] = try value()
        case .skiptoken: options.skipToken = try opaque()
        case .deltatoken: options.deltaToken = try opaque()
        case .format: options.format = try format()
        case .id: options.id = try opaque()
        case .schemaversion: options.schemaVersion = try schemaVersion()
        }
    }

    /// Parses the items of `$orderby` or `orderby(…)`.
    mutating func orderItems() throws(QueryError) -> [OrderItem] {
        var items: [OrderItem] = []
        repeat { items.append(try orderItem()) } while takeSeparator(",")
        return items
    }

    mutating func orderItem() throws(QueryError) -> OrderItem {
        let expression = try expression()
        let start = position
        skipSpace()
        if position > start {
            if takeWord("asc") { return OrderItem(expression) }
            if takeWord("desc") { return OrderItem(expression, isDescending: true) }
            position = start
        }
        return OrderItem(expression)
    }

    /// Parses the items of `$compute` or `compute(…)`.
    mutating func computeItems() throws(QueryError) -> [ComputeItem] {
        var items: [ComputeItem] = []
        repeat {
            let expression = try expression()
            guard try takeSpacedWord("as") else {
                throw failure(expected: "an operator, or \u{201C}as\u{201D} and a name")
            }
            items.append(ComputeItem(expression, as: try name()))
        } while takeSeparator(",")
        return items
    }

    /// Parses an integer, with a sign if it is allowed.
    mutating func wholeNumber(isSigned: Bool = false) throws(QueryError) -> Int {
        let start = position
        if isSigned { _ = take("-") }
        guard current.isDigit else { throw failure(expected: isSigned ? "a whole number" : "a number without a sign") }
        while current.isDigit { position += 1 }
        guard let number = Int(text(start..<position)) else {
            throw failure("The number is beyond \(Int.max).", at: start)
        }
        return number
    }

    private mutating func booleanWord() throws(QueryError) -> Bool {
        if takeWord("true") { return true }
        if takeWord("false") { return false }
        throw failure(expected: "true or false")
    }

    private mutating func inlineCount() throws(QueryError) -> Bool {
        if takeWord("allpages") { return true }
        if takeWord("none") { return false }
        throw failure(expected: "allpages or none")
    }

    private mutating func levels() throws(QueryError) -> QueryOptions.Levels {
        if takeWord("max") { return .max }
        let start = position
        guard current != UInt8(ascii: "0") else { throw failure(expected: "a number from 1, or max") }
        guard current.isDigit else { throw failure(expected: "a number from 1, or max") }
        let number = try wholeNumber()
        guard number >= 1 else { throw failure("Expected a number from 1, or max.", at: start) }
        return .exactly(number)
    }

    private mutating func aliasValue() throws(QueryError) -> CommonExpression { try value() }

    private mutating func opaque() throws(QueryError) -> String {
        guard !isAtEnd else { throw failure(expected: "a value") }
        let start = position
        position = source.bytes.count
        return text(start..<position)
    }

    private mutating func format() throws(QueryError) -> String {
        let start = position
        let format = try opaque()
        switch format.lowercased() {
        case "json", "xml", "atom": return format
        default:
            // The format is a media type, possibly with parameters, or an abbreviation that the service defines.
            guard format.utf8.allSatisfy({ $0 > 32 && $0 != 127 }) else {
                throw failure("Expected json, xml, atom or a media type without spaces.", at: start)
            }
            return format
        }
    }

    private mutating func schemaVersion() throws(QueryError) -> String {
        let start = position
        let version = try opaque()
        let isUnreserved = version.utf8.allSatisfy {
            $0.isLetter || $0.isDigit
                || [UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~")].contains($0)
        }
        guard version == "*" || isUnreserved else {
            throw failure("Expected * or a version of letters, digits and -._~.", at: start)
        }
        return version
    }
}
