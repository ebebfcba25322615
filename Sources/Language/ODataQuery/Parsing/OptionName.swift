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

    /// The options by the letters of their names: looking among these takes less than hashing a text.
    private static let byLetters = allCases.compactMap { option in
        number(of: option.rawValue.utf8).map { (letters: $0, option: option) }
    }

    /// The letters of a name in any case, five bits each; `nil` where there are others, or more than a number has
    /// room for.
    private static func number(of name: some Collection<UInt8>) -> UInt64? {
        guard name.count <= 12 else { return nil }
        var number: UInt64 = 0
        for byte in name {
            guard byte.isLetter else { return nil }
            number = number << 5 | UInt64(byte & 31)
        }
        return number
    }

    /// The option with a name in any case, without `$`.
    init?(letters name: ArraySlice<UInt8>) {
        guard let number = Self.number(of: name) else {
            self.init(rawValue: String(decoding: name, as: UTF8.self).lowercased())
            return
        }
        guard let known = Self.byLetters.first(where: { $0.letters == number }) else { return nil }
        self = known.option
    }

    /// The name as it is written in a URL.
    var written: String { self == .toinclusive ? "$toInclusive" : "$" + rawValue }
}
