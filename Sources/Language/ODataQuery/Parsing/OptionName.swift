/// The system query options by their names without `$` (OData URL Conventions 4.01, 5).
enum OptionName: String, Hashable, CaseIterable {
    case filter, orderby, select, expand, top, skip, count, search, compute, apply, levels
    case skiptoken, deltatoken, format, id, index, schemaversion
    /// The option of V2 and V3 for the total count.
    case inlinecount
    /// The options of *OData Extension for Temporal Data*.
    case at, from, to, toinclusive
    /// A parameter alias `@name`, which is not a system option.
    case alias

    /// The options that can be nested in `$expand` after a navigation property.
    static let nestedInExpand: Set<OptionName> = [
        .filter, .search, .orderby, .skip, .top, .count, .select, .expand, .compute, .levels, .apply, .alias,
        .at, .from, .to, .toinclusive,
    ]

    /// Whether the option is also recognised without its `$`, except within parentheses.
    ///
    /// The temporal options are not, because their names are common among custom options.
    var isShortNameReserved: Bool {
        switch self {
        case .at, .from, .to, .toinclusive, .alias, .inlinecount, .levels: false
        default: true
        }
    }

    /// The options by their letters as a number, which is faster to compare than hashing a text.
    private static let byLetters = allCases.compactMap { option in
        number(of: option.rawValue.utf8).map { (letters: $0, option: option) }
    }

    /// Returns the letters of a name as a number, ignoring case, with five bits each. The result is `nil` if the
    /// name has other characters or more than 12 letters.
    private static func number(of name: some Collection<UInt8>) -> UInt64? {
        guard name.count <= 12 else { return nil }
        var number: UInt64 = 0
        for byte in name {
            guard byte.isLetter else { return nil }
            number = number << 5 | UInt64(byte & 31)
        }
        return number
    }

    /// Creates an option from its name in any case, without `$`.
    init?(letters name: ArraySlice<UInt8>) {
        guard let number = Self.number(of: name) else {
            self.init(rawValue: String(decoding: name, as: UTF8.self).lowercased())
            return
        }
        guard let known = Self.byLetters.first(where: { $0.letters == number }) else { return nil }
        self = known.option
    }

    /// The name in a URL.
    var written: String { self == .toinclusive ? "$toInclusive" : "$" + rawValue }
}
