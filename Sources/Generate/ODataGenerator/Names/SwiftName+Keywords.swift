extension SwiftName {
    /// Words of the language, which are names only between backticks.
    static let keywords: Set<String> = [
        "Any", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit",
        "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if",
        "import", "in", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
        "protocol", "public", "repeat", "rethrows", "return", "static", "struct", "subscript", "super", "switch",
        "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// Words that are no good name even between backticks: `x.init`, `x.self` and `X.Type` mean something else.
    static let cannotBeQuoted: Set<String> = ["init", "self", "Self", "Type", "Protocol", "_"]
}
