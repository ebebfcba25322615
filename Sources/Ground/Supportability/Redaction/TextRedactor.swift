/// A single pass over a text that copies harmless parts and removes secrets.
///
/// It works on bytes: all searched characters are ASCII, and no byte of another UTF-8 character is.
struct TextRedactor {
    private let bytes: [UInt8]
    private let rules: SecretRedaction
    private var position = 0
    private var output: [UInt8] = []
    /// Whether the position is behind a query option without a value, after which further options may follow.
    private var isInQuery = false
    /// The brackets of the last tag, and the index at which its name begins.
    private var tag: (brackets: TagBrackets, nameStart: Int)?
    /// The element of XML with secret content within whose first tag this is.
    private var element: SecretElement?

    private static let mark = Array(SecretRedaction.mark.utf8)
    /// The maximum length of a name, in bytes.
    private static let maximumNameByteCount = 128

    init(_ text: String, rules: SecretRedaction) {
        bytes = Array(text.utf8)
        self.rules = rules
    }

    mutating func run() -> String {
        output.reserveCapacity(bytes.count)
        while position < bytes.count {
            let byte = bytes[position]
            if let element, bytes.holds(element.brackets.close, at: position) {
                content(of: element)
            } else if let brackets = TagBrackets.opening(in: bytes, at: position) {
                copy(brackets.open.count)
                tag = (brackets, position)
                isInQuery = false
            } else if byte == UInt8(ascii: ":"), follows("://") {
                userPart()
            } else if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "&") && isInQuery {
                query()
            } else if byte == UInt8(ascii: "-"), follows("-----BEGIN ") {
                privateKey()
            } else if Self.isName(byte) {
                word()
            } else if byte == UInt8(ascii: "\\"), isEscape(position) {
                copy(Self.escapeByteCount)
            } else {
                if Self.isSpace(byte) || "\">#".utf8.contains(byte) { isInQuery = false }
                copy(1)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    // MARK: URLs

    /// Copies the authority of a URL without its user part.
    private mutating func userPart() {
        copy(3)
        let end = end(from: position) { Self.isSpace($0) || Self.isQuote($0) || "/?#<>".utf8.contains($0) }
        guard let sign = bytes[position..<end].lastIndex(of: UInt8(ascii: "@")) else { return }
        output += Self.mark
        position = sign
        copy(1)
    }

    /// Copies the query of a URL with its names, without its values.
    private mutating func query() {
        copy(1)
        isInQuery = false
        while let equals = nameEnd() {
            copy(equals + 1 - position)
            let end = valueEnd()
            if end > position { output += Self.mark }
            position = end
            guard position < bytes.count, bytes[position] == UInt8(ascii: "&"),
                TagBrackets.opening(in: bytes, at: position) == nil
            else { return }
            copy(1)
        }
        // An option without a value is processed like any other word.
        isInQuery = true
    }

    /// Returns the index of the equals sign of the query option at the current position.
    private func nameEnd() -> Int? {
        var index = position
        while index < bytes.count, index - position <= Self.maximumNameByteCount {
            let byte = bytes[index]
            if byte == UInt8(ascii: "=") { return index > position ? index : nil }
            guard Self.isName(byte) || "$@%!:[]".utf8.contains(byte) else { return nil }
            index += 1
        }
        return nil
    }

    /// Returns the end of the value of a query option. Quoted text belongs to the value. Because people write
    /// queries without encoding, text after a blank belongs to it too if it continues an expression.
    private func valueEnd() -> Int {
        var index = position
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "'") {
                index = end(from: index + 1) { $0 == UInt8(ascii: "'") || Self.isLineEnd($0) }
                if index < bytes.count, bytes[index] == UInt8(ascii: "'") { index += 1 }
            } else if byte == UInt8(ascii: " ") {
                guard let next = operandAfterOperator(at: index) else { return index }
                index = next
            } else if byte == UInt8(ascii: "&") || byte == UInt8(ascii: "#") || byte == UInt8(ascii: "\"")
                || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") || Self.isSpace(byte)
            {
                return index
            } else {
                index += 1
            }
        }
        return index
    }

    private static let operators: Set<String> = [
        "eq", "ne", "gt", "ge", "lt", "le", "and", "or", "not", "in", "has", "add", "sub", "mul", "div", "divby", "mod",
        "asc", "desc", "with", "as", "from", "NOT", "AND", "OR",
    ]

    /// Returns the start of the operand behind an operator, or `nil` if no operator follows.
    private func operandAfterOperator(at space: Int) -> Int? {
        let start = end(from: space) { $0 != UInt8(ascii: " ") }
        let wordEnd = end(from: start) { !Self.isLetter($0) }
        guard wordEnd > start else { return nil }
        let operand = end(from: wordEnd) { $0 != UInt8(ascii: " ") }
        // A misspelt operator is also followed by a literal.
        let isBeforeLiteral = operand > wordEnd && operand < bytes.count && bytes[operand] == UInt8(ascii: "'")
        guard isBeforeLiteral || Self.operators.contains(String(decoding: bytes[start..<wordEnd], as: UTF8.self)) else {
            return nil
        }
        return operand
    }

    // MARK: XML

    /// The element in whose first tag a secret word stands, if it belongs to the name: `<name` or `<prefix:name`.
    private func secretElement(at start: Int) -> SecretElement? {
        guard let tag, start - tag.nameStart <= Self.maximumNameByteCount,
            bytes[tag.nameStart..<start].allSatisfy({ Self.isElementName($0) || $0 == UInt8(ascii: ":") })
        else { return nil }
        let end = end(from: start) { !Self.isElementName($0) }
        let name = bytes[tag.nameStart..<end].map { Self.isUpper($0) ? $0 + 32 : $0 }
        return SecretElement(brackets: tag.brackets, name: name)
    }

    /// Whether the word that begins at an index and ends here is the prefix of an end tag's name: `</prefix:name`.
    private func isPrefixOfEndTag(_ start: Int) -> Bool {
        guard let tag, position + 1 < bytes.count, bytes[position] == UInt8(ascii: ":"),
            Self.isElementName(bytes[position + 1])
        else { return false }
        var index = tag.nameStart
        while index < start, bytes[index] == UInt8(ascii: "\\") { index += 1 }
        return index == start - 1 && bytes[index] == UInt8(ascii: "/")
    }

    /// Whether an element begins at an index whose content is secret.
    private func beginsSecretElement(_ index: Int) -> Bool {
        guard let brackets = TagBrackets.opening(in: bytes, at: index) else { return false }
        let start = index + brackets.open.count
        let end = end(from: start) { !Self.isElementName($0) && $0 != UInt8(ascii: ":") }
        guard end - start <= Self.maximumNameByteCount else { return false }
        return bytes[start..<end].split(separator: UInt8(ascii: ":")).contains {
            rules.isSecret(SecretRedaction.normalised($0))
        }
    }

    /// Whether the word that ends here is an attribute of an element with secret content, and may hold some of
    /// it. Names of namespaces and of types do not, nor does the mark of a value that is null.
    private func isSecretAttribute(_ word: ArraySlice<UInt8>) -> Bool {
        guard element != nil else { return false }
        let next = end(from: position) { !Self.isSpace($0) }
        guard next < bytes.count, bytes[next] == UInt8(ascii: "=") else { return false }
        let name = String(decoding: word, as: UTF8.self)
        guard word.startIndex > 0, bytes[word.startIndex - 1] == UInt8(ascii: ":") else { return name != "xmlns" }
        var start = word.startIndex - 1
        while start > 0, Self.isElementName(bytes[start - 1]) { start -= 1 }
        let prefix = String(decoding: bytes[start..<(word.startIndex - 1)], as: UTF8.self)
        return !["xmlns", "xml"].contains(prefix) && !["type", "null"].contains(name)
    }

    /// The content of an element, from the end of its first tag.
    private mutating func content(of element: SecretElement) {
        self.element = nil
        let isEmpty = bytes[position - 1] == UInt8(ascii: "/")
        copy(element.brackets.close.count)
        guard !isEmpty else { return }
        let end = element.contentEnd(in: bytes, from: position)
        if end > position { output += Self.mark }
        position = end
    }

    // MARK: Words

    private static let schemes: Set<[UInt8]> = Set(
        ["bearer", "basic", "digest", "negotiate", "ntlm", "dpop"].map { Array($0.utf8) })

    /// Processes a word, which is harmless, a secret, or the name of a secret.
    private mutating func word() {
        let end = end(from: position) { !Self.isName($0) }
        let word = bytes[position..<end]
        if isToken(word) || isKey(word) {
            output += Self.mark
            position = end
            return
        }
        let name = SecretRedaction.normalised(word)
        let isOption = word.starts(with: [UInt8(ascii: "-"), UInt8(ascii: "-")])
        copy(word.count)
        if Self.schemes.contains(name) {
            credentials(of: name)
        } else if name.count <= Self.maximumNameByteCount, rules.isSecret(name) {
            guard !isPrefixOfEndTag(word.startIndex) else { return }
            if element == nil { element = secretElement(at: word.startIndex) }
            value(of: name, isOption: isOption)
        } else if isSecretAttribute(word) {
            value(of: name, isOption: false)
        }
    }

    /// Removes the credentials behind the name of an authentication scheme.
    private mutating func credentials(of scheme: [UInt8]) {
        let start = end(from: position) { !Self.isBlank($0) }
        guard start > position, start < bytes.count, !Self.isSpace(bytes[start]) else { return }
        let end =
            scheme == Array("digest".utf8)
            ? unquotedEnd(from: start, where: Self.isLineEnd)
            : end(from: start) { Self.isSpace($0) || Self.isQuote($0) || ",;)]}<>".utf8.contains($0) }
        guard end > start else { return }
        copy(start - position)
        output += Self.mark
        position = end
    }

    /// Removes the value behind the name of a secret: `: value`, `=value`, `" : "value"`, or the next word
    /// after `--name`.
    private mutating func value(of name: [UInt8], isOption: Bool) {
        var index = position
        let isGap = element == nil ? Self.isBlank : Self.isSpace
        if let quote = quote(at: index) { index += quote.count }
        index = end(from: index) { !isGap($0) }
        guard index < bytes.count else { return }
        if bytes[index] == UInt8(ascii: ":") || bytes[index] == UInt8(ascii: "=") {
            index += 1
            if element == nil, index < bytes.count, bytes[index] == UInt8(ascii: ">") { index += 1 }
            index = end(from: index) { !isGap($0) }
        } else {
            guard isOption, index > position else { return }
        }
        let start = index
        let end: Int
        if let quote = quote(at: start) {
            let from = start + quote.count
            copy(from - position)
            end = closing(quote, from: from)
        } else {
            copy(start - position)
            end =
                isOption && bytes[start - 1] == UInt8(ascii: " ")
                ? self.end(from: start, where: Self.isSpace)
                : unquotedEnd(of: name, from: start)
        }
        guard end > position else { return }
        output += Self.mark
        position = end
    }

    /// Returns the end of an unquoted value. Values of header fields may contain commas and semicolons.
    private func unquotedEnd(of name: [UInt8], from start: Int) -> Int {
        if let element { return unquotedEnd(in: element, from: start) }
        let text = String(decoding: name, as: UTF8.self)
        if text.contains("authorization") || text.contains("authenticate") || text.contains("cookie") {
            return unquotedEnd(from: start, where: Self.isLineEnd)
        }
        return unquotedEnd(from: start) { Self.isLineEnd($0) || ",;&}]".utf8.contains($0) }
    }

    /// Where a value without quotes ends: at the latest where an element with secret content begins, which has an
    /// end of its own.
    private func unquotedEnd(from start: Int, where isEnd: (UInt8) -> Bool) -> Int {
        var index = start
        while index < bytes.count, !isEnd(bytes[index]), !beginsSecretElement(index) { index += 1 }
        return index
    }

    /// Where an attribute without quotes ends: with the tag, as its value may hold blanks.
    private func unquotedEnd(in element: SecretElement, from start: Int) -> Int {
        var index = start
        while index < bytes.count {
            if bytes.holds(element.brackets.close, at: index) {
                return index > start && bytes[index - 1] == UInt8(ascii: "/") ? index - 1 : index
            }
            index += 1
        }
        return index
    }

    /// Quotation marks as they stand in XML or JSON that is itself text of XML or JSON.
    private static let escapedQuotes = [
        "&quot;", "&apos;", "&#34;", "&#39;", "&#x22;", "&#x27;", "&amp;quot;", "&amp;apos;", "\\u0022", "\\u0027",
    ].map { Array($0.utf8) }

    /// A quotation mark here, with the backslashes before it that JSON within JSON has.
    private func quote(at index: Int) -> [UInt8]? {
        if let quote = Self.escapedQuotes.first(where: { bytes.holds($0, at: index) }) { return quote }
        let end = end(from: index) { $0 != UInt8(ascii: "\\") }
        guard end < bytes.count, Self.isQuote(bytes[end]), end - index < 8 else { return nil }
        return Array(bytes[index...end])
    }

    /// Returns the index of the closing quotation mark, which is not escaped further.
    private func closing(_ quote: [UInt8], from start: Int) -> Int {
        var index = start
        if !Self.isQuote(quote[quote.count - 1]) {
            while index < bytes.count, !bytes.holds(quote, at: index) { index += 1 }
            return index
        }
        var backslashes = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == quote[quote.count - 1], backslashes <= quote.count - 1 { return index - backslashes }
            backslashes = byte == UInt8(ascii: "\\") ? backslashes + 1 : 0
            index += 1
        }
        return index
    }

    // MARK: Secrets by their form

    /// Returns whether a word is a JSON Web Token, whose header begins with `{"`.
    private func isToken(_ word: ArraySlice<UInt8>) -> Bool {
        word.count >= 16 && word.starts(with: Array("eyJ".utf8)) && word.contains(UInt8(ascii: "."))
    }

    /// Returns whether a word is a key of hexadecimal digits.
    private func isKey(_ word: ArraySlice<UInt8>) -> Bool {
        word.count == 64
            && word.allSatisfy(Self.isHexadecimal)
    }

    /// Removes a private key in PEM form, up to its end or the end of the text.
    private mutating func privateKey() {
        let lineEnd = end(from: position, where: Self.isLineEnd)
        let line = String(decoding: bytes[position..<min(lineEnd, position + 64)], as: UTF8.self)
        guard line.contains("PRIVATE KEY") else {
            copy(11)
            return
        }
        output += Self.mark
        let ending = Array("-----END ".utf8)
        var index = position + 11
        while index < bytes.count, !bytes[index...].starts(with: ending) { index += 1 }
        index = end(from: index, where: Self.isLineEnd)
        position = index
    }

    // MARK: Bytes

    private mutating func copy(_ count: Int) {
        output += bytes[position..<(position + count)]
        position += count
    }

    private func follows(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[position...].starts(with: $0) }
    }

    /// The bytes of `\u0022`.
    private static let escapeByteCount = 6

    /// Whether a character stands at an index that JSON has escaped, and that is none of a name.
    private func isEscape(_ index: Int) -> Bool {
        bytes.holds(Array("\\u00".utf8), at: index) && index + Self.escapeByteCount <= bytes.count
            && bytes[(index + 4)..<(index + Self.escapeByteCount)].allSatisfy(Self.isHexadecimal)
    }

    private func end(from index: Int, where isEnd: (UInt8) -> Bool) -> Int {
        var index = index
        while index < bytes.count, !isEnd(bytes[index]) { index += 1 }
        return index
    }

    private static func isUpper(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || isUpper(byte)
    }

    private static func isName(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: ".")
    }

    /// Whether a byte may be one of the name of an element, which has letters of all scripts.
    static func isElementName(_ byte: UInt8) -> Bool { isName(byte) || byte >= 0x80 }

    private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }
    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
    private static func isSpace(_ byte: UInt8) -> Bool { isBlank(byte) || isLineEnd(byte) }
}
