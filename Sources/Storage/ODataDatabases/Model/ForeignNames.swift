import ODataModel

/// The OData identifiers of tables and columns, whose names may be any text.
///
/// The identifiers of a database are always the same:
///
/// 1. A name that is an identifier is kept: letters (of any script), digits and underscores, not starting with
///    a digit, at most 128 characters.
/// 2. Otherwise, each run of other characters becomes one underscore, except at either end. A leading digit is
///    preceded by an underscore. An empty name becomes `Unnamed`, and long names are truncated.
/// 3. If names differ only in case, a name that was an identifier before is kept. The remaining ones get `_2`,
///    `_3` and so on, in the order of declaration.
struct ForeignNames {
    /// The maximum length of an identifier (OData CSDL 4.01, 15.1).
    static let maxLength = 128

    private var taken: Set<String>

    /// Creates a set of names with reserved ones.
    init(reserved: some Sequence<String> = []) { taken = Set(reserved.map { $0.lowercased() }) }

    /// Returns the identifier of a name by steps 1 and 2.
    static func identifier(_ name: String) -> String {
        if isIdentifier(name) { return name }
        var result = ""
        var isPending = false
        for scalar in name.unicodeScalars {
            guard isPart(scalar) else {
                isPending = true
                continue
            }
            if isPending, !result.isEmpty { result += "_" }
            isPending = false
            if result.isEmpty, !isStart(scalar) { result += "_" }
            result.unicodeScalars.append(scalar)
        }
        if result.isEmpty { return "Unnamed" }
        return String(result.unicodeScalars.prefix(maxLength))
    }

    /// Returns whether a name is an identifier.
    static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, isStart(first) else { return false }
        return name.unicodeScalars.count <= maxLength && name.unicodeScalars.allSatisfy(isPart)
    }

    private static func isStart(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "_" { return true }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber:
            return true
        default: return false
        }
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        if isStart(scalar) { return true }
        switch scalar.properties.generalCategory {
        case .decimalNumber, .nonspacingMark, .spacingMark, .connectorPunctuation: return true
        default: return false
        }
    }

    /// Returns distinct identifiers for several names, in their order.
    mutating func names(_ originals: [String]) -> [String] {
        var result = [String?](repeating: nil, count: originals.count)
        for (index, name) in originals.enumerated() where Self.isIdentifier(name) {
            if taken.insert(name.lowercased()).inserted { result[index] = name }
        }
        return originals.indices.map { result[$0] ?? distinct(Self.identifier(originals[$0])) }
    }

    /// Reserves a name and returns it; `nil` if it is taken.
    mutating func exactly(_ name: String) -> String? {
        taken.insert(name.lowercased()).inserted ? name : nil
    }

    /// Reserves and returns a distinct name, with a number appended if necessary.
    mutating func distinct(_ wish: String) -> String {
        var candidate = wish
        var number = 2
        while !taken.insert(candidate.lowercased()).inserted {
            candidate = "\(wish)_\(number)"
            number += 1
        }
        return candidate
    }

    // MARK: Singular

    private static let unchanged: Set<String> = ["series", "species", "news", "means", "lens", "always"]
    private static let withFinalE: Set<String> = ["movies", "cookies", "ties", "pies", "lies", "zombies", "calories"]

    /// Returns the singular of an English plural if it is trivial; otherwise `nil`.
    ///
    /// The last word is used: `-ies` after a consonant becomes `-y`; `-sses`, `-xes`, `-shes` and `-tches` lose
    /// `es`; any other word loses its `-s`. There is no rule for words that end with `ss`, `us`, `is`, `uses`,
    /// `ches` or `zzes`.
    static func singular(_ name: String) -> String? {
        let word = lastWord(of: name)
        guard word.count > 3, word.hasSuffix("s"), !unchanged.contains(word) else { return nil }
        if withFinalE.contains(word) { return String(name.dropLast()) }
        if word.hasSuffix("ies") {
            let before = word.dropLast(3).last ?? "a"
            return "aeiou".contains(before) ? String(name.dropLast()) : name.dropLast(3) + "y"
        }
        for ending in ["sses", "xes", "shes", "tches"] where word.hasSuffix(ending) {
            return String(name.dropLast(2))
        }
        for ending in ["ss", "us", "is", "uses", "ches", "zzes"] where word.hasSuffix(ending) { return nil }
        return String(name.dropLast())
    }

    /// Returns the last word of a name in lower case: the part after the last underscore, or from the last
    /// capital letter. A name in capitals only has no singular.
    private static func lastWord(of name: String) -> String {
        guard let last = name.last, last.isLowercase else { return "" }
        let part = name.split(separator: "_").last.map(String.init) ?? name
        guard let capital = part.lastIndex(where: \.isUppercase) else { return part }
        return part[capital...].lowercased()
    }
}
