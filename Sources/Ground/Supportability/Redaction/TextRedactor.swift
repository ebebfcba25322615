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
    /// Whether the position is in the start tag of an XML element with secret content.
    private var isInSecretTag = false

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
            if byte == UInt8(ascii: ":"), follows("://") {
                userPart()
            } else if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "&") && isInQuery {
                query()
            } else if byte == UInt8(ascii: "-"), follows("-----BEGIN ") {
                privateKey()
            } else if Self.isName(byte) {
                word()
            } else if byte == UInt8(ascii: ">"), isInSecretTag {
                content()
            } else {
                if byte == UInt8(ascii: "<") { isInSecretTag = false }
                if Self.isSpace(byte) || "\"<>#".utf8.contains(byte) { isInQuery = false }
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
            guard position < bytes.count, bytes[position] == UInt8(ascii: "&") else { return }
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

    /// Returns whether the name that begins at an index is that of an element: `<name` or `<prefix:name`.
    private func isElement(_ start: Int) -> Bool {
        var index = start - 1
        if index >= 0, bytes[index] == UInt8(ascii: ":") {
            repeat {
                index -= 1
            } while index >= 0 && start - index <= Self.maximumNameByteCount && Self.isName(bytes[index])
        }
        return index >= 0 && bytes[index] == UInt8(ascii: "<")
    }

    /// Removes the content of a secret element, starting at the end of its start tag.
    private mutating func content() {
        isInSecretTag = false
        let isEmpty = bytes[position - 1] == UInt8(ascii: "/")
        copy(1)
        guard !isEmpty else { return }
        let end = end(from: position) { $0 == UInt8(ascii: "<") }
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
        let isElement = isElement(position)
        copy(word.count)
        if Self.schemes.contains(name) {
            credentials(of: name)
        } else if name.count <= Self.maximumNameByteCount, rules.isSecret(name) {
            if isElement { isInSecretTag = true }
            value(of: name, isOption: isOption)
        }
    }

    /// Removes the credentials behind the name of an authentication scheme.
    private mutating func credentials(of scheme: [UInt8]) {
        let start = end(from: position) { !Self.isBlank($0) }
        guard start > position, start < bytes.count, !Self.isSpace(bytes[start]) else { return }
        let end =
            scheme == Array("digest".utf8)
            ? end(from: start, where: Self.isLineEnd)
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
        if let quote = quote(at: index) { index += quote.count }
        index = end(from: index) { !Self.isBlank($0) }
        guard index < bytes.count else { return }
        if bytes[index] == UInt8(ascii: ":") || bytes[index] == UInt8(ascii: "=") {
            index += 1
            if index < bytes.count, bytes[index] == UInt8(ascii: ">") { index += 1 }
            index = end(from: index) { !Self.isBlank($0) }
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
        let text = String(decoding: name, as: UTF8.self)
        if text.contains("authorization") || text.contains("authenticate") || text.contains("cookie") {
            return end(from: start, where: Self.isLineEnd)
        }
        return end(from: start) { Self.isLineEnd($0) || ",;&}]".utf8.contains($0) }
    }

    /// Returns the quotation mark at an index, including preceding backslashes as in JSON within JSON.
    private func quote(at index: Int) -> [UInt8]? {
        let end = end(from: index) { $0 != UInt8(ascii: "\\") }
        guard end < bytes.count, Self.isQuote(bytes[end]), end - index < 8 else { return nil }
        return Array(bytes[index...end])
    }

    /// Returns the index of the closing quotation mark, which is not escaped further.
    private func closing(_ quote: [UInt8], from start: Int) -> Int {
        var index = start
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
            && word.allSatisfy {
                switch $0 {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"):
                    true
                default: false
                }
            }
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

    private func end(from index: Int, where isEnd: (UInt8) -> Bool) -> Int {
        var index = index
        while index < bytes.count, !isEnd(bytes[index]) { index += 1 }
        return index
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    private static func isName(_ byte: UInt8) -> Bool {
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }

    private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }
    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
    private static func isSpace(_ byte: UInt8) -> Bool { isBlank(byte) || isLineEnd(byte) }
}
