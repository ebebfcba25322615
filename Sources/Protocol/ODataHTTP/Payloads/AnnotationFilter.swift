import ODataModel
import ODataService

/// The annotations that a client requests by `include-annotations` (OData Protocol 4.01, 8.2.8.4).
///
/// ```swift
/// let filter = AnnotationFilter("display.*,-display.secret")
/// filter.includes(term: "display.subject", qualifier: nil)  // true
/// ```
struct AnnotationFilter: Hashable, Sendable {
    private struct Rule: Hashable, Sendable {
        var isExcluded: Bool
        /// The text before the asterisk, or the whole name.
        var name: Substring
        var isPattern: Bool
        var qualifier: Substring?

        /// The precedence of the rule. Longer patterns take precedence over shorter ones, and whole names over
        /// patterns.
        var rank: Int { (isPattern ? 0 : 1 << 20) + name.count * 2 + (qualifier == nil ? 0 : 1) }

        func matches(_ term: Substring, _ other: Substring?) -> Bool {
            guard qualifier == nil || qualifier == other else { return false }
            return isPattern ? term.hasPrefix(name) : term == name
        }
    }

    private let rules: [Rule]

    /// Parses the value of the preference. Invalid items are ignored, since a preference is only a hint.
    init(_ text: String) {
        rules = text.split(separator: ",").compactMap { item in
            var name = item.drop { $0 == " " }
            while name.last == " " { name = name.dropLast() }
            let isExcluded = name.hasPrefix("-")
            if isExcluded { name = name.dropFirst() }
            let parts = name.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            guard var term = parts.first, !term.isEmpty else { return nil }
            let isPattern = term.hasSuffix("*")
            if isPattern { term = term.dropLast() }
            return Rule(
                isExcluded: isExcluded, name: term, isPattern: isPattern, qualifier: parts.count > 1 ? parts[1] : nil)
        }
    }

    /// Returns whether an annotation is included. The most specific rule decides; without a rule it is excluded.
    func includes(term: Substring, qualifier: Substring?) -> Bool {
        let best = rules.filter { $0.matches(term, qualifier) }.max { $0.rank < $1.rank }
        return best.map { !$0.isExcluded } ?? false
    }

    /// Returns whether an annotation with a key such as `ns.Term`, `ns.Term#qualifier` or `Property@ns.Term` is
    /// included.
    ///
    /// Control information is always included.
    func includes(key: String) -> Bool {
        let term = key.halves(atFirst: "@")?.behind ?? key[...]
        if term.begins(with: "odata.") { return true }
        guard let (name, qualifier) = term.halves(atFirst: "#") else { return includes(term: term, qualifier: nil) }
        return includes(term: name, qualifier: qualifier)
    }
}
