import ODataModel

extension ODataURL {
    /// Parses a URL relative to the service root, such as `Orders?$filter=Freight gt 50&$top=10` (OData URL
    /// Conventions 4.01; OData ABNF 4.01, `odataRelativeUri`).
    ///
    /// The path is split at `/` and the query at `&` and `=` before percent-decoding, so that encoded delimiters
    /// are data. Offsets in errors count characters of `text`.
    ///
    /// - Parameters:
    ///   - text: the path, `?` and the query, percent-encoded. Characters that a URL must encode are accepted
    ///     unencoded.
    ///   - options: the dialect and other options of the parser.
    /// - Throws: ``QueryError`` with kind `syntax` if the text breaks the grammar, `limit` beyond ``QueryLimits``.
    public init(parsing text: String, options: ParsingOptions = ParsingOptions()) throws(QueryError) {
        self = try withText(text) { () throws(QueryError) in
            var parser = try URLParser(text, options: options)
            return try parser.url()
        }
    }
}

extension QueryOptions {
    /// Parses the query part of a URL, without its `?`, such as `$filter=Freight gt 50&$top=10` (OData URL
    /// Conventions 4.01, 5). `$levels` is refused, since it is only allowed in `$expand`.
    ///
    /// - Parameters:
    ///   - text: options separated by `&`, percent-encoded.
    ///   - options: the dialect and other options of the parser.
    /// - Throws: ``QueryError`` with kind `syntax` if the text breaks the grammar or repeats an option, `limit`
    ///   beyond ``QueryLimits``.
    public init(parsing text: String, options: ParsingOptions = ParsingOptions()) throws(QueryError) {
        self = try withText(text) { () throws(QueryError) in
            var parser = try URLParser(text, options: options)
            return try parser.options(in: parser.bytes[...], offset: 0)
        }
    }
}

extension CommonExpression {
    /// Parses an expression such as `Freight gt 50 and startswith(ShipCity,'A')` (OData URL Conventions 4.01,
    /// 5.1.1).
    ///
    /// - Parameters:
    ///   - text: the expression.
    ///   - isPercentEncoded: whether `text` is percent-encoded, as in a URL.
    ///   - options: the dialect and other options of the parser.
    /// - Throws: ``QueryError`` with kind `syntax` if the text breaks the grammar, `limit` beyond ``QueryLimits``.
    public init(
        parsing text: String, isPercentEncoded: Bool = false, options: ParsingOptions = ParsingOptions()
    ) throws(QueryError) {
        self = try withText(text) { () throws(QueryError) in
            let source = try SourceText(
                ArraySlice(text.utf8), isPercentEncoded: isPercentEncoded,
                plusIsSpace: isPercentEncoded && options.plusIsSpace)
            var parser = QueryParser(source, dialect: options.dialect)
            let expression = try parser.value()
            try parser.requireEnd(expected: "an operator or the end")
            return expression
        }
    }
}

/// Runs a parser and adds the parsed text to its errors.
private func withText<Value>(
    _ text: String, _ body: () throws(QueryError) -> Value
) throws(QueryError) -> Value {
    do throws(QueryError) {
        return try body()
    } catch {
        var error = error
        error.text = text
        throw error
    }
}

/// A parser that splits a URL into components and parses each.
struct URLParser {
    let bytes: [UInt8]
    let settings: ParsingOptions
    /// The number of nodes of all expressions so far.
    var nodes = 0

    init(_ text: String, options: ParsingOptions) throws(QueryError) {
        bytes = Array(text.utf8)
        settings = options
        guard bytes.count <= QueryLimits.maxLength else {
            throw QueryError(
                .limit(name: "maxLength"), "The URL is longer than \(QueryLimits.maxLength) bytes.", offset: 0)
        }
    }

    mutating func url() throws(QueryError) -> ODataURL {
        var fragment: String?
        var end = bytes.count
        if let hash = bytes.firstIndex(of: UInt8(ascii: "#")) {
            guard bytes.starts(with: "$metadata".utf8) else {
                // An earlier error in the path is reported first.
                var path = PathParser(bytes: bytes[..<hash].prefix { $0 != UInt8(ascii: "?") }, settings: settings)
                _ = try part("path") { () throws(QueryError) in try path.path() }
                throw QueryError(
                    .syntax, "A fragment is allowed after $metadata only; a # within data is written %23.",
                    offset: characters(hash), part: "path")
            }
            let source = try SourceText(bytes[(hash + 1)...], base: characters(hash + 1), isPercentEncoded: true)
            fragment = String(decoding: source.bytes, as: UTF8.self)
            end = hash
        }
        let query = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
        var parser = PathParser(bytes: bytes[..<query], settings: settings)
        let path = try part("path") { () throws(QueryError) in try parser.path() }
        nodes += parser.nodes
        let start = min(query + 1, end)
        let options = try self.options(in: bytes[start..<end], offset: characters(start))
        return ODataURL(path: path, options: options, fragment: fragment)
    }

    /// Returns the number of characters before a byte.
    private func characters(_ index: Int) -> Int { bytes[..<index].characterCount }

    /// Parses options separated by `&`.
    mutating func options(in query: ArraySlice<UInt8>, offset: Int) throws(QueryError) -> QueryOptions {
        var options = QueryOptions()
        var seen = SeenOptions()
        var offset = offset
        guard !query.isEmpty else { return options }
        var start = query.startIndex
        while true {
            let end = query[start...].firstIndex(of: UInt8(ascii: "&")) ?? query.endIndex
            let pair = query[start..<end]
            let isDoubled = query[end...].starts(with: "&&".utf8)
            do throws(QueryError) {
                try option(pair, offset: offset, seen: &seen, into: &options)
            } catch {
                let operand = pair.characterCount - pair.reversed().prefix { $0 == 32 }.count
                guard isDoubled, error.offset.map({ $0 >= offset + operand }) ?? false else { throw error }
            }
            guard !isDoubled else {
                throw QueryError(
                    .syntax, "Expected a query option after \u{201C}&\u{201D}, found \u{201C}&\u{201D}.",
                    offset: offset + pair.characterCount, hint: "Write and for && in a condition.")
            }
            guard end < query.endIndex else { return options }
            offset += pair.characterCount + 1
            start = end + 1
        }
    }

    private mutating func option(
        _ pair: ArraySlice<UInt8>, offset: Int, seen: inout SeenOptions, into options: inout QueryOptions
    ) throws(QueryError) {
        guard !pair.isEmpty else {
            throw QueryError(.syntax, "Expected a query option, found nothing.", offset: offset)
        }
        let equals = pair.firstIndex(of: UInt8(ascii: "="))
        let nameBytes = pair[..<(equals ?? pair.endIndex)]
        let plusIsSpace = settings.plusIsSpace
        let decoded = try decodedName(nameBytes, at: offset)
        var name: String { String(decoding: decoded, as: UTF8.self) }
        let valueOffset = offset + nameBytes.characterCount + 1
        let value = equals.map { pair[($0 + 1)...] }
        guard !decoded.isEmpty else {
            throw QueryError(
                .syntax, "Expected the name of a query option before =.", offset: offset,
                hint: "A name that begins with $ may have been replaced by a shell: use single quotes there.")
        }
        guard let (option, alias) = try recognize(decoded, at: offset) else {
            let source = try part(name) { () throws(QueryError) in
                try SourceText(value ?? [], base: valueOffset, isPercentEncoded: true, plusIsSpace: plusIsSpace)
            }
            options.custom.append(.init(name: name, value: String(decoding: source.bytes, as: UTF8.self)))
            return
        }
        var title: String { option == .alias ? name : option.written }
        guard seen.insert(option, alias) else {
            throw QueryError(.syntax, "\(title) is given twice.", offset: offset, part: title)
        }
        guard let value else {
            throw QueryError(
                .syntax, "Expected = and a value after \(name), found the end.", offset: valueOffset - 1, part: title)
        }
        let nodesBefore = nodes
        let dialect = settings.dialect
        nodes = try part(title) { () throws(QueryError) in
            let source: SourceText
            do throws(QueryError) {
                source = try SourceText(value, base: valueOffset, isPercentEncoded: true, plusIsSpace: plusIsSpace)
            } catch {
                throw Self.earlierError(in: value, of: option, alias, at: valueOffset, dialect) ?? error
            }
            var parser = QueryParser(source, dialect: dialect, nodes: nodesBefore)
            try parser.value(of: option, named: alias, into: &options)
            try parser.requireEnd(expected: option.expectedEnd)
            return parser.nodes
        }
    }

    /// Returns the error of a value in which a `%` is no percent-encoding, if the text before it is wrong already.
    private static func earlierError(
        in value: ArraySlice<UInt8>, of option: OptionName, _ alias: String, at offset: Int, _ dialect: QueryDialect
    ) -> QueryError? {
        guard let source = try? SourceText(value, base: offset, isPercentEncoded: false) else { return nil }
        var parser = QueryParser(source, dialect: dialect)
        var options = QueryOptions()
        do throws(QueryError) {
            try parser.value(of: option, named: alias, into: &options)
            try parser.requireEnd(expected: option.expectedEnd)
            return nil
        } catch {
            return error.hint == nil ? nil : error
        }
    }

    /// Returns the decoded bytes of an option's name, which rarely needs decoding.
    private func decodedName(_ name: ArraySlice<UInt8>, at offset: Int) throws(QueryError) -> ArraySlice<UInt8> {
        if name.allSatisfy({ $0.isLetter || $0 == UInt8(ascii: "$") }) { return name }
        let plusIsSpace = settings.plusIsSpace
        return try SourceText(name, base: offset, isPercentEncoded: true, plusIsSpace: plusIsSpace).bytes[...]
    }

    /// Returns the system option with a name, or an alias with its name without `@`; `nil` for custom options.
    private func recognize(
        _ decoded: ArraySlice<UInt8>, at offset: Int
    ) throws(QueryError) -> (OptionName, alias: String)? {
        var name: String { String(decoding: decoded, as: UTF8.self) }
        if decoded.first == UInt8(ascii: "@") {
            let alias = String(name.dropFirst())
            // A dotted name is an annotation, which cannot have a value here.
            guard let first = alias.first, first.isLetter || first == "_",
                alias.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
            else { throw QueryError(.syntax, "\(name) is not a parameter alias.", offset: offset) }
            return (.alias, alias)
        }
        let isFull = decoded.first == UInt8(ascii: "$")
        // V2 has no short names: there they are parameters of function imports.
        let isShort = settings.dialect == .v4 && !isFull
        if let option = OptionName(letters: isFull ? decoded.dropFirst() : decoded), option != .alias,
            isFull || (isShort && option.isShortNameReserved)
        {
            if option == .levels {
                throw QueryError(.syntax, "$levels is allowed within $expand only.", offset: offset, part: "$levels")
            }
            if option == .inlinecount, settings.dialect == .v4 {
                throw QueryError(
                    .syntax, "$inlinecount is an option of OData 2.0 and 3.0; expected $count.", offset: offset)
            }
            return (option, "")
        }
        guard isFull else { return nil }
        let names = OptionName.allCases.filter { $0 != .alias && $0 != .levels && $0 != .inlinecount }.map(\.written)
        throw QueryError(
            .syntax, "There is no system query option \(name).", offset: offset,
            suggestions: ForeignSyntax.option(name) == nil ? nearest(to: name, among: names) : [],
            hint: ForeignSyntax.option(name))
    }

    /// Adds the name of the URL's part to errors that do not have one.
    private func part<Value>(
        _ name: @autoclosure () -> String, _ body: () throws(QueryError) -> Value
    ) throws(QueryError) -> Value {
        do throws(QueryError) {
            return try body()
        } catch {
            var error = error
            error.part = error.part ?? name()
            throw error
        }
    }
}

/// The options and aliases that a query already has.
private struct SeenOptions {
    // The list is short, so a linear search is faster than hashing.
    private var options: [OptionName] = []
    private var aliases: Set<String> = []

    /// Adds an option or alias; returns `false` if it was there before.
    mutating func insert(_ option: OptionName, _ alias: String) -> Bool {
        if option == .alias { return aliases.insert(alias).inserted }
        let option = option == .inlinecount ? .count : option
        if options.contains(option) { return false }
        options.append(option)
        return true
    }
}

extension OptionName {
    /// The description of the text that may follow the value, for errors.
    fileprivate var expectedEnd: String {
        switch self {
        case .orderby: "an operator, \u{201C},\u{201D} or the end"
        case .filter, .alias: "an operator or the end"
        default: "the end"
        }
    }
}

extension ArraySlice<UInt8> {
    /// The number of characters in UTF-8.
    var characterCount: Int { reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) } }
}
