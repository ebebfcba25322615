import ODataModel

extension ODataURL: CustomStringConvertible {
    /// The URL in readable form: only delimiters within data are percent-encoded. It parses back to an equal URL.
    public var description: String { text(.readable, dialect: .v4) }

    /// Returns the URL for requests: ASCII only, percent-encoded as RFC 3986 requires.
    ///
    /// - Parameter dialect: the dialect; `v2` for the literal forms, `$inlinecount` and quoted type names of OData
    ///   2.0.
    public func urlEncoded(dialect: QueryDialect = .v4) -> String { text(.wire, dialect: dialect) }

    private func text(_ form: QueryWriter.Form, dialect: QueryDialect) -> String {
        var writer = QueryWriter(form, dialect: dialect)
        writer.write(self)
        return writer.text
    }
}

extension QueryWriter {
    mutating func write(_ url: ODataURL) {
        isPath = true
        write(url.path)
        isPath = false
        if !url.options.isEmpty {
            delimiter("?")
            write(url.options)
        }
        if let fragment = url.fragment {
            delimiter("#")
            write(data: fragment)
        }
    }
}

extension ResourcePath: CustomStringConvertible {
    /// The path in readable form; see ``ODataURL/description``.
    public var description: String { ODataURL(path: self).description }
}

extension QueryOptions: CustomStringConvertible {
    /// The query part in readable form, without its `?`; see ``ODataURL/description``.
    public var description: String {
        var writer = QueryWriter(.readable)
        writer.write(self)
        return writer.text
    }

    /// Returns the query part for requests, without its `?`; see ``ODataURL/urlEncoded(dialect:)``.
    public func urlEncoded(dialect: QueryDialect = .v4) -> String {
        var writer = QueryWriter(.wire, dialect: dialect)
        writer.write(self)
        return writer.text
    }
}

extension CommonExpression: CustomStringConvertible {
    /// The text of the expression, which ``init(parsing:isPercentEncoded:options:)`` reads back to an equal tree.
    ///
    /// Trees that only code can build may read back differently: a `Float` reads back as a `Double`.
    public var description: String {
        var writer = QueryWriter(.text)
        writer.write(self)
        return writer.text
    }
}

extension SearchExpression: CustomStringConvertible {
    /// The expression in the notation of `$search`.
    public var description: String {
        var writer = QueryWriter(.text)
        writer.write(self)
        return writer.text
    }
}

extension QueryWriter {
    mutating func write(_ path: ResourcePath) {
        for (index, segment) in path.segments.enumerated() {
            if case .key(let key) = segment {
                write(key)
                continue
            }
            if index > 0 { delimiter("/") }
            switch segment {
            case .name(let name, let arguments): write(name, arguments)
            case .metadata: write("$metadata")
            case .batch: write("$batch")
            case .entity: write("$entity")
            case .all: write("$all")
            case .crossJoin(let names): write("$crossjoin(\(names.map(\.text).joined(separator: ",")))")
            case .count: write("$count")
            case .value: write("$value")
            case .reference: write("$ref")
            case .links: write("$links")
            case .each: write("$each")
            case .query: write("$query")
            case .filter(let condition):
                write("$filter(")
                write(condition)
                write(")")
            case .key: break
            case .literal(let text): write(data: text.text)
            }
        }
    }

    private mutating func write(_ name: Identifier, _ arguments: PathArguments) {
        // The content id of another request may contain a slash.
        if name.text.hasPrefix("$") { write(data: name.text) } else { write(name.text) }
        switch arguments {
        case .none: break
        case .empty: write("()")
        case .key(let key): write(key)
        case .named(let values): write(arguments: values)
        }
    }
}
