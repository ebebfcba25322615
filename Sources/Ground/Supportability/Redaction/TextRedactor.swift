/// One pass over a text that copies what is harmless and leaves out what is secret.
///
/// It works on bytes: all that it looks for is ASCII, and no byte of another character of UTF-8 is.
struct TextRedactor {
    private let bytes: [UInt8]
    private let rules: SecretRedaction
    private var position = 0
    private var output: [UInt8] = []
    /// Whether this is behind a query option without a value, which others may follow.
    private var isInQuery = false
    /// Whether this is within the first tag of an element of XML whose content is secret.
    private var isInSecretTag = false

    private static let mark = Array(SecretRedaction.mark.utf8)
    /// Names longer than this are none.
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

    /// The authority of a URL, without the user that may stand in it.
    private mutating func userPart() {
        copy(3)
        let end = end(from: position) { Self.isSpace($0) || Self.isQuote($0) || "/?#<>".utf8.contains($0) }
        guard let sign = bytes[position..<end].lastIndex(of: UInt8(ascii: "@")) else { return }
        output += Self.mark
        position = sign
        copy(1)
    }

    /// The query of a URL: names stay, values go.
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
        // An option that has no value is a word like others.
        isInQuery = true
    }

    /// Where the equals sign of a query option stands that begins here.
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

    /// Where the value of a query option ends. Text in quotes belongs to it, and so does what follows a blank
    /// when it goes on as an expression does: people write queries without encoding them.
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

    /// Where the operand begins that follows an operator here; `nil` when no operator follows.
    private func operandAfterOperator(at space: Int) -> Int? {
        let start = end(from: space) { $0 != UInt8(ascii: " ") }
        let wordEnd = end(from: start) { !Self.isLetter($0) }
        guard wordEnd > start else { return nil }
        let operand = end(from: wordEnd) { $0 != UInt8(ascii: " ") }
        // An operator that is misspelt has a literal behind it all the same.
        let isBeforeLiteral = operand > wordEnd && operand < bytes.count && bytes[operand] == UInt8(ascii: "'")
        guard isBeforeLiteral || Self.operators.contains(String(decoding: bytes[start..<wordEnd], as: UTF8.self)) else {
            return nil
        }
        return operand
    }

    // MARK: XML

    /// Whether the name that begins at an index is that of an element: `<name` or `<prefix:name`.
    private func isElement(_ start: Int) -> Bool {
        var index = start - 1
        if index >= 0, bytes[index] == UInt8(ascii: ":") {
            repeat {
                index -= 1
            } while index >= 0 && start - index <= Self.maximumNameByteCount && Self.isName(bytes[index])
        }
        return index >= 0 && bytes[index] == UInt8(ascii: "<")
    }

    /// What is in an element whose content is secret, from the end of its first tag.
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

    /// A word: harmless, a secret itself, or the name of one.
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

    /// What follows the name of an authentication scheme.
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

    /// What follows the name of a secret: `: value`, `=value`, `" : "value"`; after `--name` the next word.
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

    /// Where a value without quotes ends. Those of header fields have commas and semicolons of their own.
    private func unquotedEnd(of name: [UInt8], from start: Int) -> Int {
        let text = String(decoding: name, as: UTF8.self)
        if text.contains("authorization") || text.contains("authenticate") || text.contains("cookie") {
            return end(from: start, where: Self.isLineEnd)
        }
        return end(from: start) { Self.isLineEnd($0) || ",;&}]".utf8.contains($0) }
    }

    /// A quotation mark here, with the backslashes before it that JSON within JSON has.
    private func quote(at index: Int) -> [UInt8]? {
        let end = end(from: index) { $0 != UInt8(ascii: "\\") }
        guard end < bytes.count, Self.isQuote(bytes[end]), end - index < 8 else { return nil }
        return Array(bytes[index...end])
    }

    /// Where the same quotation mark stands again, not escaped further.
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

    /// Whether a word is a JSON Web Token: its header begins with `{"`.
    private func isToken(_ word: ArraySlice<UInt8>) -> Bool {
        word.count >= 16 && word.starts(with: Array("eyJ".utf8)) && word.contains(UInt8(ascii: "."))
    }

    /// Whether a word is a key in hexadecimal digits.
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

    /// A private key in PEM form, up to its end or the end of the text.
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
