/// A scanner for the value of a header field, with the tokens that all fields share (RFC 9110, 5.6).
struct HeaderScanner {
    let text: String
    let scalars: [Unicode.Scalar]
    var position = 0

    init(_ text: String) {
        self.text = text
        scalars = Array(text.unicodeScalars)
    }

    var current: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }
    var isAtEnd: Bool { position == scalars.count }

    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard current == scalar else { return false }
        position += 1
        return true
    }

    mutating func require(_ scalar: Unicode.Scalar) throws(QueryError) {
        guard take(scalar) else { throw failure(expected: "\u{201C}\(scalar)\u{201D}") }
    }

    /// Skips optional white space (`OWS`).
    mutating func skipSpace() {
        while current == " " || current == "\t" { position += 1 }
    }

    /// Scans a token.
    mutating func token(expected: String = "a name") throws(QueryError) -> String {
        let start = position
        while let next = current, Self.isTokenCharacter(next) { position += 1 }
        guard position > start else { throw failure(expected: expected) }
        return text(from: start)
    }

    /// Scans a string in double quotes and returns its text without escapes.
    mutating func quotedString() throws(QueryError) -> String {
        try require("\"")
        var content = String.UnicodeScalarView()
        while let next = current, next != "\"" {
            position += 1
            guard next == "\\", let escaped = current else {
                content.append(next)
                continue
            }
            content.append(escaped)
            position += 1
        }
        try require("\"")
        return String(content)
    }

    /// Scans digits.
    mutating func digits(expected: String = "a number") throws(QueryError) -> String {
        let start = position
        while let next = current, ("0"..."9").contains(next) { position += 1 }
        guard position > start else { throw failure(expected: expected) }
        return text(from: start)
    }

    func text(from start: Int) -> String { String(String.UnicodeScalarView(scalars[start..<position])) }

    func requireEnd() throws(QueryError) {
        guard isAtEnd else { throw failure(expected: "the end") }
    }

    func failure(expected: String) -> QueryError {
        let found = current.map { "\u{201C}\($0)\u{201D}" } ?? "the end"
        return QueryError(.syntax, "Expected \(expected), found \(found).", offset: position, text: text)
    }

    static func isTokenCharacter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "!", "#", "$", "%", "&", "'", "*", "+", "-", ".", "^", "_", "`", "|", "~":
            true
        default: false
        }
    }

    /// Returns whether a character is allowed in the value of a field: visible ones and those beyond ASCII.
    static func isVisible(_ scalar: Unicode.Scalar) -> Bool { scalar.value > 0x20 && scalar.value != 0x7F }
}
