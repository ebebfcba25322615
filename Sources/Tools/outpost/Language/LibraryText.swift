/// The sentences of the store and its query engine, which the libraries have in English only.
///
/// Most of them are messages of `ODataError`. A few codes stand for many messages, so the German text is found by the
/// form of the English one.
enum LibraryText {
    /// A sentence with values, as the literals around the values.
    private struct Form: Sendable {
        let literals: [String]
        /// The number of the value behind each literal but the last.
        let places: [Int]
        let german: String

        init(_ english: String, _ german: String) {
            let marks = english.matches(of: /%\d/)
            var literals: [String] = []
            var rest = english.startIndex
            for mark in marks {
                literals.append(String(english[rest..<mark.range.lowerBound]))
                rest = mark.range.upperBound
            }
            self.literals = literals + [String(english[rest...])]
            places = marks.compactMap { Int($0.output.dropFirst()) }
            self.german = german
        }

        /// The number of characters that a sentence of this form has in any case.
        var weight: Int { literals.reduce(0) { $0 + $1.count } }

        /// Returns the values in their order; `nil` if the sentence has another form.
        func values(in text: String) -> [String]? {
            guard let first = literals.first, let last = literals.last, text.hasPrefix(first) else { return nil }
            var rest = text.dropFirst(first.count)
            var values = [String](repeating: "", count: places.count)
            for (index, place) in places.enumerated() {
                let isLast = index == places.count - 1
                let literal = literals[index + 1]
                let end =
                    isLast
                    ? (rest.hasSuffix(last) ? rest.index(rest.endIndex, offsetBy: -last.count) : nil)
                    : rest.firstRange(of: literal)?.lowerBound
                guard let end, end > rest.startIndex, values.indices.contains(place - 1) else { return nil }
                values[place - 1] = String(rest[..<end])
                rest = rest[end...].dropFirst(literal.count)
            }
            return rest.isEmpty ? values : nil
        }
    }

    /// The forms, the most specific ones first.
    private static let forms = GermanTexts.library.map { Form($0, $1) }.sorted {
        ($0.weight, $0.german) > ($1.weight, $1.german)
    }

    /// Returns a sentence of a library in a language. A sentence without a German counterpart stays English.
    static func text(_ text: String, in language: Language = .current) -> String {
        guard language == .german else { return text }
        for form in forms {
            guard let values = form.values(in: text) else { continue }
            // A value may be a phrase of the library itself.
            return language.filled(form.german, values.map { $0.count < text.count ? Self.text($0, in: language) : $0 })
        }
        return text
    }
}
