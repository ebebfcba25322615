/// Which generation of the URL syntax a text is written in.
public enum QueryDialect: Hashable, Sendable {
    /// OData 4.01, which includes 4.0.
    case v4
    /// OData 2.0 and 3.0: `datetime'…'`, `guid'…'`, `10L`, `1.5M`, `X'…'`, `substringof`, `$links`,
    /// `$inlinecount`. What 4.01 adds is read as well.
    case v2
}

/// How a URL is read.
public struct ParsingOptions: Hashable, Sendable {
    /// The generation of the syntax.
    public var dialect: QueryDialect
    /// Whether `+` in the query part is a space, as HTML forms encode it. OData says that it is a plus, so
    /// the default is `false`; a server may set it for clients known to encode that way.
    public var plusIsSpace: Bool

    /// Makes options.
    public init(dialect: QueryDialect = .v4, plusIsSpace: Bool = false) {
        self.dialect = dialect
        self.plusIsSpace = plusIsSpace
    }
}
