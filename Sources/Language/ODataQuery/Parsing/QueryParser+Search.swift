/// Parsing of `$search` (OData URL Conventions 4.01, 5.1.8; ABNF `searchExpr`).
///
/// `AND` binds tighter than `OR`, and adjacent words mean `AND`. The operator words are ordinary words if an
/// operator is not possible. The grammar reserves text in single quotes for an incomplete search. It is treated as
/// one phrase, or as no search if it is empty.
extension QueryParser {
    /// Parses a whole search expression; returns `nil` for empty text in single quotes.
    mutating func searchExpression() throws(QueryError) -> SearchExpression? {
        skipSpace()
        if current == UInt8(ascii: "'") {
            let content = try quotedString()
            try node()
            return content.isEmpty ? nil : .phrase(content)
        }
        return try searchAlternatives()
    }

    private mutating func searchAlternatives() throws(QueryError) -> SearchExpression {
        try enter()
        defer { leave() }
        var left = try searchConjunction()
        while try takeSearchOperator("OR") {
            let leftHeight = height
            let right = try searchConjunction()
            try node(height: max(leftHeight, height) + 1)
            left = .or(left, right)
        }
        return left
    }

    private mutating func searchConjunction() throws(QueryError) -> SearchExpression {
        var left = try searchOperand()
        while true {
            let start = position
            if try takeSearchOperator("AND") {
            } else {
                skipSpace()
                guard position > start, startsSearchOperand, !isOperator("OR") else {
                    position = start
                    return left
                }
            }
            let leftHeight = height
            let right = try searchOperand()
            try node(height: max(leftHeight, height) + 1)
            left = .and(left, right)
        }
    }

    private mutating func searchOperand() throws(QueryError) -> SearchExpression {
        if isOperator("NOT") {
            position += 3
            skipSpace()
            try enter()
            let inner = try searchOperand()
            leave()
            try node(height: height + 1)
            return .not(inner)
        }
        if current == UInt8(ascii: "(") {
            position += 1
            skipSpace()
            let inner = try searchAlternatives()
            skipSpace()
            guard take(")") else { throw failure(expected: "a word or \u{201C})\u{201D}") }
            return inner
        }
        try node()
        return current == UInt8(ascii: "\"") ? try searchPhrase() : try searchWord()
    }

    /// Parses `"…"` with the escapes `\"` and `\\`.
    private mutating func searchPhrase() throws(QueryError) -> SearchExpression {
        let start = position
        position += 1
        var bytes: [UInt8] = []
        while true {
            guard !isAtEnd else { throw failure(expected: "a closing double quote") }
            let byte = current
            position += 1
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\"), current == UInt8(ascii: "\"") || current == UInt8(ascii: "\\") {
                bytes.append(current)
                position += 1
            } else {
                bytes.append(byte)
            }
        }
        guard !bytes.isEmpty else { throw failure("Expected something to search for.", at: start) }
        return .phrase(String(decoding: bytes, as: UTF8.self))
    }

    private mutating func searchWord() throws(QueryError) -> SearchExpression {
        let start = position
        // A word may contain a quote, but not begin with one (ABNF `searchWord`).
        if current != UInt8(ascii: "'") { while isSearchCharacter { position += 1 } }
        guard position > start else { throw failure(expected: "a word, a phrase, NOT or \u{201C}(\u{201D}") }
        return .word(text(start..<position))
    }

    /// Whether the current byte may be part of a word. A semicolon must be percent-encoded, since it separates the
    /// options of `$expand` otherwise.
    private var isSearchCharacter: Bool {
        switch current {
        case 0...32, UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "\""): false
        case UInt8(ascii: ";"): source.isEncoded(at: position)
        default: true
        }
    }

    private var startsSearchOperand: Bool {
        current == UInt8(ascii: "(") || current == UInt8(ascii: "\"")
            || (isSearchCharacter && current != UInt8(ascii: "'"))
    }

    /// Returns whether the next word is an operator with an operand after it.
    private func isOperator(_ word: StaticString) -> Bool {
        guard isNext(word) else { return false }
        var distance = word.utf8CodeUnitCount
        guard peek(distance) == 32 || peek(distance) == 9 else { return false }
        while peek(distance) == 32 || peek(distance) == 9 { distance += 1 }
        return position + distance < source.bytes.count && peek(distance) != UInt8(ascii: ")")
    }

    private mutating func takeSearchOperator(_ word: StaticString) throws(QueryError) -> Bool {
        let start = position
        skipSpace()
        guard position > start, isOperator(word) else {
            position = start
            return false
        }
        position += word.utf8CodeUnitCount
        skipSpace()
        return true
    }
}
