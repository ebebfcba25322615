import ODataModel

/// A recursive-descent parser for one decoded component of a URL (OData ABNF Construction Rules 4.01).
///
/// The type manages the position, limits, errors and basic tokens. Extensions contain the grammar, one topic each.
struct QueryParser {
    let source: SourceText
    let dialect: QueryDialect
    /// The position of the next byte.
    var position = 0
    /// The number of open constructs.
    var nesting = 0
    /// The number of expression nodes so far.
    var nodes: Int
    /// The height of the last parsed expression.
    var height = 0
    /// The number of open `case` conditions.
    var openConditions = 0
    /// The start of the last parsed time of day without seconds.
    var hoursAndMinutes: Int?
    /// The starts of numbers that must not be read as times of day together with a colon after them.
    var numbersBeforeColon: Set<Int> = []

    init(_ source: SourceText, dialect: QueryDialect, nodes: Int = 0) {
        self.source = source
        self.dialect = dialect
        self.nodes = nodes
    }

    // MARK: Bytes

    /// The byte at the position; 0 at the end. No rule accepts a NUL, so the two cases need not be distinguished.
    var current: UInt8 { position < source.bytes.count ? source.bytes[position] : 0 }

    /// Returns the byte `distance` after the position; 0 beyond the end.
    func peek(_ distance: Int) -> UInt8 {
        let index = position + distance
        return index < source.bytes.count ? source.bytes[index] : 0
    }

    var isAtEnd: Bool { position >= source.bytes.count }

    /// The offset of the position in the given text.
    var offset: Int { source.offset(at: position) }

    /// Skips a byte if it comes next.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: character), !isAtEnd else { return false }
        position += 1
        return true
    }

    /// Skips a byte that must come next.
    mutating func require(_ character: Unicode.Scalar) throws(QueryError) {
        guard take(character) else { throw failure(expected: "\u{201C}\(character)\u{201D}") }
    }

    /// Skips optional white space (`BWS`).
    mutating func skipSpace() {
        while current == 32 || current == 9, !isAtEnd { position += 1 }
    }

    /// Skips required white space (`RWS`).
    mutating func requireSpace() throws(QueryError) {
        guard current == 32 || current == 9 else { throw failure(expected: "a space") }
        skipSpace()
    }

    /// Skips `BWS character BWS` if it comes next; otherwise keeps the position.
    mutating func takeSeparator(_ character: Unicode.Scalar) -> Bool {
        let start = position
        skipSpace()
        guard take(character) else {
            position = start
            return false
        }
        skipSpace()
        return true
    }

    /// Skips `BWS )`.
    mutating func close(_ character: Unicode.Scalar = ")") throws(QueryError) {
        skipSpace()
        guard take(character) else { throw failure(expected: "\u{201C},\u{201D} or \u{201C}\(character)\u{201D}") }
    }

    /// Returns whether a word comes next, in any case, and no further name character follows.
    func isWord(_ word: StaticString) -> Bool {
        let length = word.utf8CodeUnitCount
        guard position + length <= source.bytes.count else { return false }
        return word.withUTF8Buffer { letters in
            for index in 0..<length where source.bytes[position + index] | 0x20 != letters[index] { return false }
            let next = peek(length)
            return !(next.isLetter || next.isDigit || next == UInt8(ascii: "_") || next >= 0x80)
        }
    }

    /// Skips a word in any case if it comes next.
    mutating func takeWord(_ word: StaticString) -> Bool {
        guard isWord(word) else { return false }
        position += word.utf8CodeUnitCount
        return true
    }

    /// Skips `RWS word RWS` if it comes next; otherwise keeps the position.
    mutating func takeSpacedWord(_ word: StaticString) throws(QueryError) -> Bool {
        let start = position
        skipSpace()
        guard position > start, takeWord(word) else {
            position = start
            return false
        }
        try requireSpace()
        return true
    }

    /// Returns whether exactly these bytes come next.
    func isNext(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard position + length <= source.bytes.count else { return false }
        return text.withUTF8Buffer { bytes in
            for index in 0..<length where source.bytes[position + index] != bytes[index] { return false }
            return true
        }
    }

    func text(_ range: Range<Int>) -> String {
        String(decoding: source.bytes[range], as: UTF8.self)
    }

    /// Checks that all text was read.
    func requireEnd(expected: String = "the end") throws(QueryError) {
        guard isAtEnd else { throw failure(expected: expected) }
    }

    // MARK: Names

    /// Returns whether a name can start at a position.
    func isNameStart(at index: Int) -> Bool {
        guard index < source.bytes.count else { return false }
        let byte = source.bytes[index]
        return byte.isLetter || byte == UInt8(ascii: "_") || (byte >= 0x80 && scalar(at: index).isNameStart)
    }

    private func scalar(at index: Int) -> (isNameStart: Bool, isNamePart: Bool, length: Int) {
        let first = source.bytes[index]
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        let end = min(index + length, source.bytes.count)
        guard let scalar = String(decoding: source.bytes[index..<end], as: UTF8.self).unicodeScalars.first else {
            return (false, false, length)
        }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber:
            return (true, true, length)
        case .decimalNumber, .nonspacingMark, .spacingMark, .connectorPunctuation, .format:
            return (false, true, length)
        default: return (false, false, length)
        }
    }

    /// Returns the end of the simple identifier that starts at a position (`odataIdentifier`).
    func endOfName(from start: Int) throws(QueryError) -> Int {
        var index = start
        var length = 0
        while index < source.bytes.count {
            let byte = source.bytes[index]
            if byte.isLetter || byte.isDigit || byte == UInt8(ascii: "_") {
                index += 1
            } else if byte >= 0x80 {
                let next = scalar(at: index)
                guard next.isNamePart else { break }
                index += next.length
            } else {
                break
            }
            length += 1
        }
        guard length <= QueryLimits.maxIdentifierLength else {
            throw QueryError(
                .limit(name: "maxIdentifierLength"),
                "A name has more than \(QueryLimits.maxIdentifierLength) characters.", offset: source.offset(at: start))
        }
        return index
    }

    /// Parses a simple identifier.
    mutating func name(expected: String = "a name") throws(QueryError) -> Identifier {
        guard isNameStart(at: position) else { throw failure(expected: expected) }
        let start = position
        position = try endOfName(from: start)
        return Identifier(text(start..<position), at: source.offset(at: start))
    }

    /// Parses a simple or dotted name.
    mutating func qualifiedName(expected: String = "a name") throws(QueryError) -> Identifier {
        guard isNameStart(at: position) else { throw failure(expected: expected) }
        let start = position
        position = try endOfName(from: start)
        while current == UInt8(ascii: "."), isNameStart(at: position + 1) {
            position = try endOfName(from: position + 1)
        }
        return Identifier(text(start..<position), at: source.offset(at: start))
    }

    /// Parses `@Namespace.Term#Qualifier`, or an alias, which has no dot (`annotationInQuery`).
    mutating func atName() throws(QueryError) -> Identifier {
        let start = position
        try require("@")
        _ = try qualifiedName(expected: "a name after \u{201C}@\u{201D}")
        if current == UInt8(ascii: "#") {
            position += 1
            _ = try name(expected: "an annotation qualifier")
        }
        return Identifier(text(start..<position), at: source.offset(at: start))
    }

    // MARK: Limits and errors

    /// Opens a construct and checks the depth.
    mutating func enter(_ levels: Int = 1) throws(QueryError) {
        nesting += levels
        guard nesting <= QueryLimits.maxDepth else { throw tooDeep() }
    }

    mutating func leave(_ levels: Int = 1) { nesting -= levels }

    /// Counts a node and records the height of its tree.
    mutating func node(height: Int = 1) throws(QueryError) {
        nodes += 1
        self.height = height
        guard nodes <= QueryLimits.maxNodes else {
            throw QueryError(
                .limit(name: "maxNodes"),
                "The expressions have more than \(QueryLimits.maxNodes) operands and operators.",
                offset: offset)
        }
        guard height <= QueryLimits.maxDepth else { throw tooDeep() }
    }

    private func tooDeep() -> QueryError {
        QueryError(
            .limit(name: "maxDepth"), "The query is nested deeper than \(QueryLimits.maxDepth) levels.", offset: offset)
    }

    /// Returns an error with the expected and the found text. The error is at the next word, which may be a misspelt
    /// operator or keyword, or one of another language.
    func failure(expected: String) -> QueryError {
        var place = self
        place.skipSpace()
        if place.isAtEnd, !isAtEnd {
            return QueryError(
                .syntax, "Expected \(expected), found a space.", offset: offset, hint: "Remove the space at the end.")
        }
        let followsOperand = expected.contains("operator") || expected.contains("\u{201C})\u{201D}")
        let rest = place.text(place.position..<min(place.position + 200, source.bytes.count))
        let left = text(max(0, position - 200)..<position)
        var finding: ForeignSyntax.Finding?
        if followsOperand {
            finding = ForeignSyntax.afterOperand(rest, after: left)
        } else if expected.contains("expression") {
            finding = ForeignSyntax.operandPlace(rest)
        }
        if let finding {
            return QueryError(
                .syntax, "Expected \(expected), found \u{201C}\(finding.found)\u{201D}.", offset: place.offset,
                hint: finding.hint)
        }
        // The caller may have skipped the white space already.
        let isAfterSpace = place.position > 0 && place.source.bytes[place.position - 1] == 32
        if isAfterSpace, place.isNameStart(at: place.position),
            let end = try? place.endOfName(from: place.position)
        {
            let suggestions = Self.keywords(near: text(place.position..<end))
            if !suggestions.isEmpty || followsOperand {
                // A word that is like none of the language cannot follow the white space: the error begins there.
                return QueryError(
                    .syntax, "Expected \(expected), found \(place.found).",
                    offset: suggestions.isEmpty ? offset : place.offset, suggestions: suggestions)
            }
        }
        return QueryError(.syntax, "Expected \(expected), found \(found).", offset: offset)
    }

    /// Returns an error for a position at which one of several names is expected, with similar names.
    func failure(expected: String, among names: [String]) -> QueryError {
        let start = current == UInt8(ascii: "$") ? position + 1 : position
        let end = isNameStart(at: start) ? (try? endOfName(from: start)) ?? start : start
        return QueryError(
            .syntax, "Expected \(expected), found \(found).", offset: offset,
            suggestions: nearest(to: text(position..<end), among: names))
    }

    /// Returns the operators and keywords that differ from a word by one letter, or by two for longer words.
    private static func keywords(near word: String) -> [String] {
        let all =
            BinaryOperator.allCases.map(\.rawValue) + [
                "in", "not", "asc", "desc", "with", "as", "from",
            ]
        let bound = word.count > 4 ? 2 : 1
        return nearest(to: word, among: all, within: bound).filter { $0.lowercased() != word.lowercased() }
    }

    /// Returns an error at an earlier position.
    func failure(_ message: String, at start: Int) -> QueryError {
        QueryError(.syntax, message, offset: source.offset(at: start))
    }

    private var found: String {
        guard !isAtEnd else { return "the end" }
        let rest = String(decoding: source.bytes[position..<min(position + 24, source.bytes.count)], as: UTF8.self)
        guard let first = rest.first else { return "the end" }
        if first.isLetter || first.isNumber {
            return "\u{201C}\(rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" })\u{201D}"
        }
        return first.isWhitespace ? "a space" : "\u{201C}\(first)\u{201D}"
    }
}
