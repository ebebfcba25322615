extension SwiftName {
    /// The keywords that must be quoted with backticks.
    static let keywords: Set<String> = [
        "Any", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit",
        "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if",
        "import", "in", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
        "protocol", "public", "repeat", "rethrows", "return", "static", "struct", "subscript", "super", "switch",
        "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// The words that cannot be used even with backticks: `x.init`, `x.self` and `X.Type` have other meanings.
    static let cannotBeQuoted: Set<String> = ["init", "self", "Self", "Type", "Protocol", "_"]
}
