import ODataModel

/// Makes OData identifiers of the names of tables and columns, which may be any text.
///
/// The rule, the same always for the same database:
///
/// 1. A name that is an identifier already stays: letters (of any script), digits and underscores, not
///    starting with a digit, at most 128 characters.
/// 2. Otherwise each run of other characters becomes one underscore, none at either end; a leading digit gets
///    an underscore before it; what is then empty is `Unnamed`; what is too long is cut.
/// 3. Of names that then differ in nothing but the case of letters, one that was an identifier already keeps
///    it; the others, in the order of declaration, get `_2`, `_3` and so on.
struct ForeignNames {
    /// The greatest length of an identifier (OData CSDL 4.01, 15.1).
    static let maxLength = 128

    private var taken: Set<String>

    /// Makes a set of names, some of them taken already.
    init(reserved: some Sequence<String> = []) { taken = Set(reserved.map { $0.lowercased() }) }

    /// The identifier of a name, by steps 1 and 2.
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

    /// Whether a name is an identifier as it is.
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

    /// Identifiers for several names at once, in their order.
    mutating func names(_ originals: [String]) -> [String] {
        var result = [String?](repeating: nil, count: originals.count)
        for (index, name) in originals.enumerated() where Self.isIdentifier(name) {
            if taken.insert(name.lowercased()).inserted { result[index] = name }
        }
        return originals.indices.map { result[$0] ?? distinct(Self.identifier(originals[$0])) }
    }

    /// Takes a name as it is; `nil` when it is taken already.
    mutating func exactly(_ name: String) -> String? {
        taken.insert(name.lowercased()).inserted ? name : nil
    }

    /// A name like `wish` that nothing else has.
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

    /// The singular of an English plural where that is trivial; `nil` where it is not.
    ///
    /// Judged by the last word: `-ies` after a consonant gives `-y`, `-sses`, `-xes`, `-shes` and `-tches` lose
    /// `es`, any other `-s` loses it, unless `ss`, `us`, `is`, `uses` or `ches` stand at the end, where English has
    /// no rule.
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

    /// The last word of a name in lower case: what follows the last underscore or, before a lower-case
    /// letter, the last capital. A name all in capitals is no plural that can be cut with small letters.
    private static func lastWord(of name: String) -> String {
        guard let last = name.last, last.isLowercase else { return "" }
        let part = name.split(separator: "_").last.map(String.init) ?? name
        guard let capital = part.lastIndex(where: \.isUppercase) else { return part }
        return part[capital...].lowercased()
    }
}
