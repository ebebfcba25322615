/// The generation of the URL syntax.
public enum QueryDialect: Hashable, Sendable {
    /// OData 4.01, which includes 4.0.
    case v4
    /// OData 2.0 and 3.0: `datetime'…'`, `guid'…'`, `10L`, `1.5M`, `X'…'`, `substringof`, `$links`, `$inlinecount`.
    /// The syntax of 4.01 is accepted too.
    case v2
}

/// The options of the URL parser.
public struct ParsingOptions: Hashable, Sendable {
    /// The generation of the syntax.
    public var dialect: QueryDialect
    /// Whether `+` in the query part is a space, as in HTML forms. OData defines it as a plus, so the default is
    /// `false`. A server may set it for clients that encode spaces in this way.
    public var plusIsSpace: Bool

    /// Creates options.
    public init(dialect: QueryDialect = .v4, plusIsSpace: Bool = false) {
        self.dialect = dialect
        self.plusIsSpace = plusIsSpace
    }
}
