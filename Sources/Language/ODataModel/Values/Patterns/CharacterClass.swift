/// A set of characters, defined by ranges and Unicode categories, and optionally negated.
struct CharacterClass: Sendable {
    var ranges: [ClosedRange<UInt32>] = []
    var categories: [Set<UnicodeCategory>] = []
    /// Classes whose complements belong to the set, such as `\W` within brackets.
    var excluded: [CharacterClass] = []
    var isNegated = false

    /// The two letters of a general category; Swift's own type is not a `Sendable` set element.
    typealias UnicodeCategory = String

    static let digit = CharacterClass(ranges: [48...57])
    static let word = CharacterClass(ranges: [48...57, 65...90, 95...95, 97...122])
    static let space = CharacterClass(
        ranges: [
            9...13, 32...32, 0xA0...0xA0, 0x2028...0x2029, 0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000,
            0x1680...0x1680, 0x2000...0x200A, 0xFEFF...0xFEFF,
        ])
    /// The characters that `.` matches.
    static let any = CharacterClass(ranges: [10...10, 13...13, 0x2028...0x2029], isNegated: true)

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        let isMember =
            ranges.contains { $0.contains(value) } || excluded.contains { !$0.contains(scalar) }
            || (!categories.isEmpty && categories.contains { $0.contains(Self.category(of: scalar)) })
        return isMember != isNegated
    }

    private static func category(of scalar: Unicode.Scalar) -> UnicodeCategory {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter: "Lu"
        case .lowercaseLetter: "Ll"
        case .titlecaseLetter: "Lt"
        case .modifierLetter: "Lm"
        case .otherLetter: "Lo"
        case .nonspacingMark: "Mn"
        case .spacingMark: "Mc"
        case .enclosingMark: "Me"
        case .decimalNumber: "Nd"
        case .letterNumber: "Nl"
        case .otherNumber: "No"
        case .connectorPunctuation: "Pc"
        case .dashPunctuation: "Pd"
        case .openPunctuation: "Ps"
        case .closePunctuation: "Pe"
        case .initialPunctuation: "Pi"
        case .finalPunctuation: "Pf"
        case .otherPunctuation: "Po"
        case .mathSymbol: "Sm"
        case .currencySymbol: "Sc"
        case .modifierSymbol: "Sk"
        case .otherSymbol: "So"
        case .spaceSeparator: "Zs"
        case .lineSeparator: "Zl"
        case .paragraphSeparator: "Zp"
        case .control: "Cc"
        case .format: "Cf"
        case .surrogate: "Cs"
        case .privateUse: "Co"
        case .unassigned: "Cn"
        @unknown default: "Cn"
        }
    }

    /// Returns the categories of `\p{…}`: one category by its two letters, or all categories that share the first
    /// letter.
    static func categories(named name: String) -> Set<UnicodeCategory>? {
        let all = [
            "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po",
            "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn",
        ]
        let found = all.filter { name.count == 1 ? $0.hasPrefix(name) : $0 == name }
        return found.isEmpty ? nil : Set(found)
    }
}
