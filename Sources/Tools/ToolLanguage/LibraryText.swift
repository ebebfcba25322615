import ErrorCodes

/// The sentences of libraries, which those have in English only.
///
/// Most of them are messages of `ODataError` and details of other errors. A few codes stand for many messages, so the
/// German text is found by the form of the English one.
package struct LibraryText: Sendable {
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
    private let forms: [Form]

    /// Creates a collection of sentences.
    ///
    /// - Parameter sentences: the German sentences by the English ones, with `%1` in the place of the first value.
    init(_ sentences: [String: String]) {
        forms = sentences.map { Form($0, $1) }.sorted { ($0.weight, $0.german) > ($1.weight, $1.german) }
    }

    /// Returns a sentence of a library in a language. A sentence without a German counterpart stays English.
    package static func text(_ text: String, in language: Language = .current) -> String {
        language == .german ? Language.sentences.german(text) : text
    }

    /// Returns the description of an error of a library in a language. The English one stands at the error.
    package static func words(of error: any Error, in language: Language = .current) -> String {
        guard language == .german else { return "\(error)" }
        guard let coded = error as? any CodedError else { return text("\(error)", in: language) }
        // The details within the message are sentences of the library or reasons of the system.
        let details = coded.errorArguments.mapValues { detail($0, in: language) }
        let code = ErrorCode(error).rawValue
        return ErrorMessages.standard.text(code, locale: language.rawValue, arguments: details)
            ?? text("\(error)", in: language)
    }

    private static func detail(_ detail: String, in language: Language) -> String {
        let sentence = text(detail, in: language)
        guard sentence == detail else { return sentence }
        for (english, german) in ParserText.systemReasons {
            guard detail.hasSuffix(english) else { continue }
            let rest = detail.dropLast(english.count)
            // The reason of the system is the whole detail, or stands at its end.
            if rest.isEmpty || rest.hasSuffix(": ") { return rest + german }
        }
        return detail
    }

    private func german(_ text: String) -> String {
        for form in forms {
            guard let values = form.values(in: text) else { continue }
            // A value may be a phrase of the library itself.
            return Language.german.filled(form.german, values.map { $0.count < text.count ? german($0) : $0 })
        }
        return text
    }
}
