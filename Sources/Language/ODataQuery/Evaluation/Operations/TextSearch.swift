/// The meaning of `$search` for texts, which the standard leaves to the service (OData URL Conventions 4.01,
/// 5.1.7).
///
/// A word matches a whole word of a text, and a phrase consecutive words of one text, in any case. Words are runs
/// of letters, marks and digits. Full-text indexes contain the same words, so that their results are the same.
public enum TextSearch {
    /// Returns whether texts match. The words of a conjunction may be in different texts.
    public static func matches(_ search: SearchExpression, in texts: [String]) -> Bool {
        matches(search, in: texts.map(words))
    }

    private static func matches(_ search: SearchExpression, in texts: [[String]]) -> Bool {
        switch search {
        case .word(let text), .phrase(let text):
            let wanted = words(of: text)
            return !wanted.isEmpty && texts.contains { contains(wanted, in: $0) }
        case .not(let inner): return !matches(inner, in: texts)
        case .and(let left, let right): return matches(left, in: texts) && matches(right, in: texts)
        case .or(let left, let right): return matches(left, in: texts) || matches(right, in: texts)
        }
    }

    private static func contains(_ wanted: [String], in words: [String]) -> Bool {
        guard wanted.count <= words.count else { return false }
        return (0...(words.count - wanted.count)).contains { start in
            words[start..<(start + wanted.count)].elementsEqual(wanted) { $0.utf8.elementsEqual($1.utf8) }
        }
    }

    /// Returns the words of a text in lower case.
    public static func words(of text: String) -> [String] {
        text.lowercased().unicodeScalars.split { scalar in
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
                .letterNumber, .otherNumber, .nonspacingMark, .spacingMark, .enclosingMark, .privateUse:
                false
            default: true
            }
        }.map { String(String.UnicodeScalarView($0)) }
    }
}
