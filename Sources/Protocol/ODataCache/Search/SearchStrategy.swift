public import Foundation

/// The methods of searching by words and parts of words. Upper and lower case are compared by the rules of the
/// locale: in Turkish, `I` is the upper case of `ı`.
///
/// Words are separated by spaces and punctuation. ``RegularExpressionSearch`` searches by regular expression.
///
/// The table shows the results for "Anna Schmidt":
///
/// | strategy | `anna` | `ann schm` | `nna mid` |
/// |---|---|---|---|
/// | ``wordPrefix`` | yes | yes | no |
/// | ``fullPrefix`` | yes | no | no |
/// | ``wordContains`` | yes | yes | yes |
/// | ``fullContains`` | yes | no | no |
/// | ``allWordsContained`` | yes | yes | yes |
///
/// ```swift
/// let hits = try await cache.search("water", in: "Customers", by: SearchStrategy.wordPrefix)
/// ```
public enum SearchStrategy: String, Hashable, Sendable, CaseIterable, EntitySearch {
    /// A word of a property begins with one of the words of the text. This is the default.
    case wordPrefix
    /// A property begins with the whole text.
    case fullPrefix
    /// A property contains one of the words of the text.
    case wordContains
    /// A property contains the whole text.
    case fullContains
    /// Each word of the text is contained in some property.
    case allWordsContained

    /// Returns the test for a text; a blank text matches everything.
    public func matcher(for text: String, locale: Locale) -> SearchMatcher {
        let whole = Self.folded(text.trimmingCharacters(in: .whitespacesAndNewlines), locale)
        let words = Self.words(of: whole)
        guard !whole.isEmpty else { return SearchMatcher { _ in true } }
        let strategy = self
        return SearchMatcher { fields in
            let fields = fields.map { Self.folded($0, locale) }
            switch strategy {
            case .fullPrefix: return fields.contains { $0.hasPrefix(whole) }
            case .fullContains: return fields.contains { $0.contains(whole) }
            case .wordPrefix:
                return fields.contains { field in
                    Self.words(of: field).contains { word in words.contains { word.hasPrefix($0) } }
                }
            case .wordContains: return fields.contains { field in words.contains { field.contains($0) } }
            case .allWordsContained:
                return !words.isEmpty && words.allSatisfy { word in fields.contains { $0.contains(word) } }
            }
        }
    }

    private static func folded(_ text: String, _ locale: Locale) -> String {
        // The text is composed first, so that an accented letter has one form, and converted to upper case
        // next, so that ß equals SS.
        text.precomposedStringWithCanonicalMapping.uppercased(with: locale).lowercased(with: locale)
    }

    private static func words(of text: String) -> [Substring] {
        text.split { !$0.isLetter && !$0.isNumber }
    }
}
