/// What `$search` means for a text: a word matches where the text has it as a whole word, a phrase where its words
/// follow each other in one text, in any case (OData URL Conventions 4.01, 5.1.7, leaves it to the service).
///
/// Words are runs of letters, marks and digits. A full-text index holds the words that are cut here, so that both find the
/// same.
public enum TextSearch {
    /// Whether texts match: words of a conjunction may stand in different ones.
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

    /// The words of a text in lower case.
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
