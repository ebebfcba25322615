/// The system query options by their names without `$` (OData URL Conventions 4.01, 5).
enum OptionName: String, Hashable, CaseIterable {
    case filter, orderby, select, expand, top, skip, count, search, compute, apply, levels
    case skiptoken, deltatoken, format, id, index, schemaversion
    /// V2 and V3: the count beside the rows.
    case inlinecount
    /// The options of *OData Extension for Temporal Data*.
    case at, from, to, toinclusive
    /// Not an option but `@name`.
    case alias

    /// What may be nested in `$expand` after a navigation property.
    static let nestedInExpand: Set<OptionName> = [
        .filter, .search, .orderby, .skip, .top, .count, .select, .expand, .compute, .levels, .apply, .alias,
        .at, .from, .to, .toinclusive,
    ]

    /// Whether the option is recognised without its `$` outside of parentheses. The temporal ones are not: their
    /// names are too common among custom options.
    var isShortNameReserved: Bool {
        switch self {
        case .at, .from, .to, .toinclusive, .alias, .inlinecount, .levels: false
        default: true
        }
    }

    /// The name as it is written in a URL.
    var written: String { self == .toinclusive ? "$toInclusive" : "$" + rawValue }
}
